# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Recipes for programs that start services, sessions or programs of others, and the warning where a rule lacks them."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from system.harness.commands import Pair, marks, netnicectl
from system.harness.timer import COMMAND, timer
from system.recipes.conftest import SIZE, Boot, Rules, Yields, recipes
from testbed import Namespace, Nginx, program, scratch
from testbed.namespace import listens, wait_until

_BOOTED = "a Debian system is booted, with packages that the quick tier does not have"
_PORT = 8000
_PODMAN = ("podman", "--storage-driver=vfs", "--events-backend=none")
#: What a rule would take along, as `policy check` says it.
LAUNCHERS = {
    "podman": "starts containers",
    "conmon": "starts containers",
    "containerd": "starts containers",
    "containerd-shim*": "starts containers",
    "steam": "starts games",
    "tmux": "starts shells",
    "apt": "apt-daily*.service",
    "unattended-upgrade": "apt-daily*.service",
}


def checked(text: str) -> str:
    """What `policy check` says of these rules."""
    file = scratch("launchers") / "policy.toml"
    file.write_text(text)
    done = netnicectl("policy", "check", str(file))
    return done.stdout + done.stderr


@pytest.mark.parametrize("work", sorted(recipes()))
def test_no_recipe_takes_more_along_than_it_says(work: str) -> None:
    said = checked("".join(recipes()[work]))
    assert "would be in the background too" not in said


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_launcher_is_warned_of(name: str) -> None:
    rule = f'[[rule]]\ncommand = "{name}"\n'
    assert LAUNCHERS[name] in checked(rule)
    assert "would be in the background too" not in checked(f"{rule}inherit = false\n")


def test_steam(cable: Pair, rules: Rules, yields: Yields) -> None:
    """Programs of its name: what it fetches yields, and what a game of it fetches does not."""
    rules("Steam's downloads")
    steam = scratch("launchers") / "steam"
    with Nginx(cable.b, {"data": SIZE}) as web:
        fetch = ["-sSfo", "/dev/null", web.url("data")]
        shutil.copy(Path(program("curl")).resolve(), steam)
        with yields(sends=False):
            cable.a.run(str(steam), *fetch)
        shutil.copy(Path(program("bash")).resolve(), steam)
        with yields(sends=False, fetches=False):
            cable.a.run(str(steam), "-c", '"$@"; true', "steam", "curl", *fetch)


def served(home: Namespace, pair: Pair) -> str:
    """The congestion control of a connection that a server there accepts."""
    with pair.end(pair.b, "connect", pair.a4, str(_PORT)):
        wait_until(lambda: bool(home.run("ss", "-tnHo", "state", "established").stdout), "a connection")
        return marks(home, 4, "sport", _PORT)[0]


@pytest.mark.verify(_BOOTED)
@pytest.mark.parametrize(("recipe", "expected"), [(True, "cubic"), (False, "netnice")])
def test_a_container_of_podman(cable: Pair, boot: Boot, rules: Rules, recipe: bool, expected: str) -> None:
    """By the recipe it serves in the foreground; without inherit = false it does not."""
    rules("podman's pulls")
    if not recipe:
        file = scratch("launchers") / "policy.toml"
        file.write_text('[[rule]]\ncommand = "podman"\n')
        netnicectl("policy", "apply", str(file))
    home = boot(cable.a)
    home.command("sh", "-c", f"tar -c -C / bin/busybox | {' '.join(_PODMAN)} import - small")
    serves = f"/bin/busybox sleep 60 | /bin/busybox nc -l -p {_PORT}"
    words = ["run", "--detach", "--network=host", "--pids-limit=-1", "small", "/bin/busybox", "sh", "-c", serves]
    home.command(*_PODMAN, *words)
    wait_until(lambda: listens(cable.a, _PORT), "the container to listen", seconds=20)
    assert served(cable.a, cable) == expected


@pytest.mark.verify(_BOOTED)
def test_systemd_takes_the_timer_of_rules_with_hours(cable: Pair, boot: Boot) -> None:
    """With a command of its own: that of netnice is run by tests/system/test_timers.py."""
    home = boot(cable.a)
    at = int(time.time()) + 4
    home.command(*timer(at)[: -len(COMMAND)], "touch", "/srv/fired")
    assert f"netnice-hours-{at}.timer" in home.command("systemctl", "list-timers", "--no-pager", "netnice-hours-*")
    wait_until((home.root / "srv/fired").exists, "the timer", seconds=10)
    assert 0 <= time.time() - at < 1
    home.command("systemctl", "stop", "netnice-hours-*.timer")
