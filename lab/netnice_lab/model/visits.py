# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Visits to a site, by the programs that ship: netnice-replay's users, and netnice-prefetch before its site.

Everything happens in the guest: the days of the log, the proxy's learning and the visits are functions of the seed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SCRIPT = "/run/visits"
_FOLDER = "/run/lab"
SITE, PROXY = 8000, 8080
"""Ports of the server."""


@dataclass(frozen=True)
class Visits:
    """Users at `homes` visit the site of `server`; prefetches are sent by `congestion_control`.

    `settings`: the proxy's file, from the port SITE to the port PROXY. `users`: of each home; they think so long in the
    median between pages. `learned`, `played`: visits of the day that the proxy knows and of a home's. Times in seconds;
    what is demanded in the first `warm_up` is not reported.
    """

    server: str
    homes: tuple[str, ...]
    congestion_control: str
    settings: str
    users: int
    pages: int
    think: str
    learned: int
    played: int
    warm_up: float
    seconds: float
    prefetches: int = 1
    """Prefetch connections of each user."""

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
            f"--seed {first + number} --pages {self.pages} --think {self.think} > day{number}.log\n"
            for number in range(1 + len(self.homes))
        )
        more = f"--prefetches {self.prefetches} " if self.prefetches > 1 else ""
        plays = "".join(
            f"at {home} {_FOLDER}/netnice-replay play day{number}.log http://{addresses[self.server]}:{PROXY} --json "
            f"--clients {self.users} --seconds {self.warm_up + self.seconds:g} --warmup {self.warm_up:g} {more}"
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
{self.settings}SETTINGS
at {self.server} {_FOLDER}/netnice-replay serve {logs} --listen 127.0.0.1:{SITE} &
up {SITE}
at {self.server} {_FOLDER}/netnice-prefetch --config settings.toml --store learned.redb &
up {PROXY}
{plays}wait
"""
