# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Visits to a site, by the programs that ship: netnice-replay's users, and netnice-prefetch before its site.

Everything happens in the guest: the days of the log, the proxy's learning and the visits are functions of the seed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SCRIPT = "/run/visits"
_FOLDER = "/run/lab"
_ORIGIN, _PROXY = 8000, 8080


@dataclass(frozen=True)
class Visits:
    """Users at `homes` visit the site of `server`; prefetches by `congestion_control`, all else by `foreground`.

    `preset`: the proxy's, "" for no prefetching. `hints`: URLs that a page names. `users`: of each home. `think`: what
    they do so in the median between pages. `learned`, `played`: visits of the day that the proxy knows and of a home's.
    Times in seconds; what is demanded in the first `warm_up` is not reported.
    """

    server: str
    homes: tuple[str, ...]
    congestion_control: str
    preset: str
    foreground: str = "reno"
    hints: int = 100
    users: int = 8
    pages: int = 200
    think: float = 3.0
    learned: int = 4000
    played: int = 400
    warm_up: float = 20.0
    seconds: float = 60.0

    @property
    def reports(self) -> tuple[str, ...]:
        """Files that the visits leave behind, one a home."""
        return tuple(f"visits-{home}.json" for home in self.homes)

    def setup(self, seed: int, addresses: Mapping[str, str]) -> str:
        """Shell commands that write what the guest plays."""
        return f"cat > {SCRIPT} <<'END'\n{self._script(seed, addresses)}END\n"

    def _script(self, seed: int, addresses: Mapping[str, str]) -> str:
        first = seed * (1 + len(self.homes))
        days = "".join(
            f"{_FOLDER}/netnice-replay generate --visits {self.played if number else self.learned} "
            f"--seed {first + number} --pages {self.pages} --think {self.think:g}s > day{number}.log\n"
            for number in range(1 + len(self.homes))
        )
        plays = "".join(
            f"at {home} {_FOLDER}/netnice-replay play day{number}.log http://{addresses[self.server]}:{_PROXY} --json "
            f"--clients {self.users} --seconds {self.warm_up + self.seconds:g} --warmup {self.warm_up:g} "
            f"> {_FOLDER}/out/{report} &\n"
            for number, (home, report) in enumerate(zip(self.homes, self.reports, strict=True), 1)
        )
        logs = " ".join(f"day{number}.log" for number in range(1 + len(self.homes)))
        return f"""\
at() {{ nsenter --net=/run/netns/"$1" -- "${{@:2}}"; }}
up() {{ until at {self.server} bash -c ": < /dev/tcp/127.0.0.1/$1" 2> /dev/null; do sleep 0.01; done; }}
cd /tmp
{days}{_FOLDER}/netnice-prefetch train day0.log --store learned.redb
cat > settings.toml <<'SETTINGS'
{self._settings()}SETTINGS
at {self.server} {_FOLDER}/netnice-replay serve {logs} --listen 127.0.0.1:{_ORIGIN} &
up {_ORIGIN}
at {self.server} {_FOLDER}/netnice-prefetch --config settings.toml --store learned.redb &
up {_PROXY}
{plays}wait
"""

    def _settings(self) -> str:
        return f"""\
upstream = "http://127.0.0.1:{_ORIGIN}"
listen = ["0.0.0.0:{_PROXY}"]
[prefetch]
mode = "{"link" if self.preset else "off"}"
preset = "{self.preset or "conservative"}"
background = ["{self.congestion_control}"]
foreground = "{self.foreground}"
hints = {self.hints}
clients = 1
busy = 100000
deadline = "1h"
[limits]
stall = "10min"
"""
