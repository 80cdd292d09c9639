# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What yields stays marked on the wire, whatever its program sets afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from system.harness.commands import Pair, marks, netnice, priority
from system.harness.ssh import Sshd
from testbed import Capture, Process, ownership, program
from testbed.namespace import wait_until
from testbed.servers import random_file

pytestmark = pytest.mark.usefixtures("up")

LE, THROUGHPUT, BACKGROUND = 4, 8, 257
SIZE = 12 << 20


def chooser(pair: Pair, version: int | str, *words: str) -> tuple[Process, int]:
    """A program that sends, sets a TOS of its own and the priority with it, and sends on."""
    port = int(pair.end(pair.b, "take").line())
    process = pair.end(pair.a, "chooses_tos", pair.to(version), str(port), str(THROUGHPUT), first=words)
    assert process.line() == "chosen\n"
    return process, port


@pytest.mark.parametrize("version", [4, 6, "mapped"])
def test_a_program_that_sets_its_own(pair: Pair, version: int | str) -> None:
    process, port = chooser(pair, version, "netnice")
    family = 6 if version == 6 else 4
    wait_until(lambda: marks(pair.a, family, "dport", port) == ("netnice", LE), "the mark to come back")
    assert priority(process.pid) == BACKGROUND


def test_without_a_mark_it_is_its_own(pair: Pair) -> None:
    process, port = chooser(pair, 4, "netnice", "--no-mark")
    assert marks(pair.a, 4, "dport", port) == ("netnice", THROUGHPUT)
    assert priority(process.pid) == 2


def test_taken_away_it_stays_away(pair: Pair) -> None:
    process, port = chooser(pair, 4, "netnice")
    wait_until(lambda: marks(pair.a, 4, "dport", port)[1] == LE, "the mark to come back")
    netnice("-n", "off", "-p", str(process.pid))
    assert marks(pair.a, 4, "dport", port)[1] == THROUGHPUT, "what it had set since"
    assert priority(process.pid) == 2
    netnice("--no-mark", "-n", "0", "-p", str(process.pid))
    assert marks(pair.a, 4, "dport", port) == ("netnice", THROUGHPUT)


def test_what_only_receives(pair: Pair) -> None:
    """Its ACKs are all that it sends: the next has the mark."""
    port = int(pair.end(pair.b, "pour").line())
    process = pair.end(pair.a, "drains_with_tos", pair.b4, str(port), str(THROUGHPUT), first=["netnice"])
    assert process.line() == "chosen\n"
    wait_until(lambda: marks(pair.a, 4, "dport", port) == ("netnice", LE), "the mark to come back")


def test_status_top_and_explain_tell_what_is_on_the_wire(pair: Pair) -> None:
    process, port = chooser(pair, 4, "netnice", "--no-mark")
    assert told(pair, port) == (["netnice", "2"], "DSCP 2, of its program", 0)
    process.end()
    process, port = chooser(pair, 4, "netnice")
    wait_until(lambda: marks(pair.a, 4, "dport", port)[1] == LE, "the mark to come back")
    assert told(pair, port) == (["netnice", "LE"], "DSCP LE", 1)


def told(pair: Pair, port: int) -> tuple[list[str], str, int]:
    """By top: congestion control and code point; by explain: the mark; by status: how many are marked."""
    there = [program("nsenter"), f"--net={pair.a.file}", "--", program("netnicectl")]

    def tell(*words: str) -> str:
        return subprocess.run([*there, *words], capture_output=True, text=True, check=True).stdout

    (row,) = (line.split() for line in tell("top", "--once", "--interval", "0.2").splitlines() if f":{port}" in line)
    (mark,) = (line for line in tell("explain", f":{port}").splitlines() if line.startswith("  its mark"))
    connections = {c["algorithm"]: c for c in json.loads(tell("status", "--json"))["connections"]}
    return row[8:10], mark.split(maxsplit=2)[2], connections["netnice"]["marked"]


def test_a_path_that_drops_le_is_told_of(pair: Pair) -> None:
    """As some do, RFC 8622 warns (section 8)."""
    pair.b.run("iptables", "-A", "INPUT", "-m", "dscp", "--dscp", "1", "-j", "DROP")
    port = int(pair.end(pair.b, "take").line())
    process = pair.end(pair.a, "later", pair.b4, str(port), first=["netnice"])
    process.line()
    process.signal(signal.SIGUSR1)
    there = [program("nsenter"), f"--net={pair.a.file}", "--", program("netnicectl"), "top", "--once"]

    def said() -> bool:
        top = subprocess.run([*there, "--interval", "0.2"], capture_output=True, text=True, check=True).stdout
        return "start it with 'netnice --no-mark'" in top

    wait_until(said, "top to tell", seconds=20)


@pytest.fixture
def sshd(pair: Pair) -> Iterator[Sshd]:
    with Sshd(pair.b) as server:
        yield server


#: What OpenSSH sets by itself, what Debian's did before, and another.
QOS = ["", "-o IPQoS=throughput", "-o IPQoS=cs1"]


def marked_share(pair: Pair, port: int, *words: str, **env: str) -> float:
    """Part of the bytes towards the server that are LE on the wire, while a command runs."""
    with Capture(pair.b) as capture:
        pair.a.run("netnice", *words, env={**os.environ, **env})
    data = [packet for packet in capture.packets if packet.port == port]
    sent = sum(packet.payload for packet in data)
    assert sent > 0.9 * SIZE, "what the capture did not miss"
    return sum(packet.payload for packet in data if packet.tos & ~3 == LE) / sent


@pytest.mark.parametrize("qos", QOS)
@pytest.mark.parametrize("version", [4, 6, "mapped"])
def test_rsync_over_ssh(pair: Pair, sshd: Sshd, version: int | str, qos: str) -> None:
    folder, to = ownership.scratch("rsync"), ownership.scratch("rsync-to")
    random_file(folder / "data", SIZE)
    where = f"root@[{pair.to(version)}]:{to}/"
    assert marked_share(pair, sshd.port, "rsync", "-e", f"{sshd.command} {qos}", str(folder / "data"), where) >= 0.99


@pytest.mark.parametrize("qos", QOS)
def test_git_over_ssh(pair: Pair, sshd: Sshd, qos: str) -> None:
    here, there = ownership.scratch("git"), ownership.scratch("git-to")
    random_file(here / "data", SIZE)
    for words in (("init", "-q"), ("add", "data"), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run([program("git"), "-C", here, *words], check=True)
    subprocess.run([program("git"), "init", "-q", "--bare", there], check=True)
    push = ["git", "-C", str(here), "push", "-q", f"ssh://root@{pair.b4}{there}", "HEAD"]
    assert marked_share(pair, sshd.port, *push, GIT_SSH_COMMAND=f"{sshd.command} {qos}") >= 0.99


def test_curl(pair: Pair) -> None:
    """It sets no TOS. The server never answers, so curl ends by its time limit, with 28."""
    folder = ownership.scratch("curl")
    random_file(folder / "data", SIZE)
    port = int(pair.end(pair.b, "take").line())
    upload = f"curl -sS -m 4 -H Expect: -T {folder / 'data'} http://{pair.b4}:{port}/; test $? = 28"
    assert marked_share(pair, port, "sh", "-c", upload) >= 0.99


@pytest.mark.verify("needs borg")
def test_borg_over_ssh(pair: Pair, sshd: Sshd) -> None:
    folder, to = ownership.scratch("borg"), ownership.scratch("borg-to")
    random_file(folder / "data", SIZE)
    env = {
        "BORG_RSH": sshd.command,
        "BORG_REPO": f"ssh://root@{pair.b4}{to}/repository",
        "BORG_BASE_DIR": str(folder),
        "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
    }
    pair.a.run("borg", "init", "--encryption=none", env={**os.environ, **env})
    assert marked_share(pair, sshd.port, "borg", "create", "::a", str(folder / "data"), **env) >= 0.99
