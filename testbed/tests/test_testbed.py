# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The testbed itself: it works, and it leaves nothing, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path as File

import pytest

from testbed import (
    ByteCounter,
    Capture,
    Namespace,
    Nginx,
    Path,
    Process,
    RsyncDaemon,
    TestbedError,
    Veth,
    disconnect,
    program,
    sockets,
    sweep,
)
from testbed.namespace import _listening, free_port, listens, wait_until
from testbed.ownership import Owned, _is_orphan, owned_name
from testbed.sockets import parse

_OWNER = """
import signal, sys, time
from testbed import Namespace
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup's children ignore it,
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's jobs in the background this
a = Namespace("a")
child = a.spawn("sleep", "300")
print(a.name, child.pid, flush=True)
time.sleep(300)
"""

_HASTY_OWNER = """
import os, time
from testbed import Process
os.environ["OWNER"] = str(os.getpid())
print(Process(["touch", "{ran}"]).pid, flush=True)
time.sleep(300)
"""


def test_a_socket_line_is_read_whole() -> None:
    line = (
        "ESTAB 0 0 [::ffff:10.0.0.2]:8000 [::ffff:10.0.0.1]:51000 ts sack netnice wscale:7,7 rto:204 "
        "rtt:40.5/1.25 mss:1448 cwnd:4 bytes_acked:99 bytes_received:1234 send 5bps "
        "pacing_rate 4242bps minrtt:40.1"
    )
    socket = parse(line)
    assert (socket.local_port, socket.peer_port) == (8000, 51000)
    assert socket.congestion_control == "netnice"
    assert (socket.bytes_received, socket.bytes_acked) == (1234, 99)
    assert socket.number("rtt") == 40.5
    assert socket.number("pacing_rate") == 4242
    assert socket.number("retrans") == 0


def test_names_tell_the_living_from_the_dead() -> None:
    mine = owned_name("a")
    assert not _is_orphan(mine)
    pid, start = mine.split("-")[1:3]
    assert _is_orphan(f"nn-{pid}-{int(start) + 1}-a"), "another process had this pid"
    assert not _is_orphan("nn-cli-a"), "somebody else's name"
    with pytest.raises(ValueError, match="label"):
        owned_name("Not Good")


def test_documents_and_uploads_cross_a_cable(tmp_path: File) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "file").write_bytes(os.urandom(3 << 20))
    with (
        Namespace("a") as a,
        Namespace("b") as b,
        Veth(a, b),
        Nginx(a, {"part": 1 << 20}) as web,
        RsyncDaemon(b) as store,
        Capture(b) as capture,
        ByteCounter(b, local_port=store.port, interval=0.02) as counter,
    ):
        got = b.run("curl", "-sfr", "0-999", web.url("part"), "-w", "%{size_download}", "-o", "/dev/null")
        assert got.stdout == "1000"
        a.run("rsync", "-a", "--bwlimit=5m", f"{source}/", store.url("one"))
        assert (store.folder / "in/one/file").read_bytes() == (source / "file").read_bytes()
        assert a.run("cat", "/proc/sys/net/ipv4/tcp_congestion_control").stdout == "cubic\n"
    assert counter.totals[-1] > 2 << 20
    carried = sum(p.payload for p in capture.packets if p.port == store.port and not p.leaves)
    assert carried >= 3 << 20
    assert all(p.tos == 0 for p in capture.packets)
    assert any(p.leaves and p.source_port == store.port for p in capture.packets)


def test_nothing_is_left_after_the_context() -> None:
    with Namespace("a") as a:
        child = a.spawn("sleep", "300")
        name, file = a.name, a.file
    assert not file.exists()
    assert not child.running()
    assert name not in subprocess.run(["ip", "netns"], capture_output=True, text=True).stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signalled_owner_puts_everything_away(number: signal.Signals) -> None:
    owner, name, child = _owner()
    owner.send_signal(number)
    owner.wait(10)
    assert not File("/run/netns", name).exists()
    assert not _alive(child)


def test_what_a_killed_owner_left_is_swept() -> None:
    owner, name, child = _owner()
    owner.kill()
    owner.wait(10)
    _until(lambda: not _alive(child))
    assert File("/run/netns", name).exists()
    assert name in sweep()
    assert not File("/run/netns", name).exists()


def test_a_program_that_begins_after_its_owners_end_does_not_run(
    tmp_path: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = tmp_path / "nice"
    late.write_text('#!/bin/sh\nwhile kill -0 "$OWNER" 2>&-; do sleep 0.02; done\nshift 2\nexec "$@"\n')
    late.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    ran = tmp_path / "ran"
    code = _HASTY_OWNER.format(ran=ran)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        owner.kill()
    _until(lambda: not _alive(child))
    assert not ran.exists()


def test_a_process_takes_its_children_along() -> None:
    with Process(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=subprocess.PIPE) as shell:
        child = int(shell.line())
        assert _alive(child)
        shell.signal(signal.SIGSTOP)
    _until(lambda: not _alive(child))


def test_a_failing_program_says_what_it_said() -> None:
    with Namespace("a") as a, pytest.raises(TestbedError, match="No such file"):
        a.run("ls", "/nonexistent")
    with pytest.raises(TestbedError, match="apt-get install nosuchprogram"):
        program("nosuchprogram")


def _has(namespace: Namespace, port: int) -> bool:
    return port in _listening(namespace)


def test_a_server_on_the_ipv6_loopback_alone_is_none_yet() -> None:
    """chromedriver has [::1] first, and 127.0.0.1 a moment later: what connects between is refused."""
    with Namespace("a") as a:
        for address, there in (("::1", False), ("::", True), ("127.0.0.1", True)):
            port = free_port(a)
            a.spawn(sys.executable, "-m", "http.server", "--bind", address, str(port), stderr=None)
            wait_until(partial(_has, a, port), "it to listen")
            assert listens(a, port) == there, address


def test_what_cannot_be_made_leaves_none_of_its_parts() -> None:
    class Half(Owned):
        def __init__(self) -> None:
            super().__init__()
            with self._making():
                self._parts.callback(ended.append, "the first part")
                raise TestbedError("no second part")

    ended: list[str] = []
    with pytest.raises(TestbedError, match="no second part"):
        Half()
    assert ended == ["the first part"]


def test_sockets_of_a_live_connection(tmp_path: File) -> None:
    (tmp_path / "file").write_bytes(os.urandom(8 << 20))
    with (
        Namespace("a") as a,
        Namespace("b") as b,
        Veth(a, b),
        RsyncDaemon(b) as store,
        a.spawn("rsync", "--bwlimit=1m", tmp_path / "file", store.url("one")),
    ):
        _until(lambda: any(s.bytes_received > 99_999 for s in sockets(b, local_port=store.port)))
        (there,) = sockets(b, local_port=store.port)
        (here,) = sockets(a, peer_port=store.port)
        assert (here.congestion_control, there.congestion_control) == ("cubic", "cubic")
        assert here.local_port == there.peer_port
        disconnect(a, peer_port=store.port)
        _until(lambda: not sockets(a, peer_port=store.port) and not sockets(b, local_port=store.port))


def test_not_being_root_is_said() -> None:
    code = "import os; from testbed import Namespace; os.setuid(65534); Namespace('a')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode != 0
    assert "sudo" in done.stderr


def test_a_cache_between_two_paths_asks_the_origin_once() -> None:
    with (
        Namespace("origin") as origin,
        Namespace("cache") as middle,
        Namespace("one") as one,
        Namespace("two") as two,
        Nginx(origin, {"file": 100_000}) as source,
        _short_path(middle, origin),
        Nginx(middle, {}, origin=source.url("")) as cache,
    ):
        urls = []
        with _short_path(one, middle):
            urls.append(cache.url("file"))
            assert _get(one, urls[0]) == "200 100000"
            with _short_path(two, middle):
                urls.append(cache.url("file"))
                source.process.end()
                assert _get(two, urls[1]) == "200 100000", "it kept the file, and its newest address is on this path"
                assert _get(two, cache.url("nosuchfile")).startswith("502 ")
        assert urls[0] != urls[1]
        assert not sockets(origin, local_port=source.port)


def _short_path(near: Namespace, far: Namespace) -> Path:
    return Path(near, far, rate="100mbit", rtt="1ms")


def _get(client: Namespace, url: str) -> str:
    words = ["--silent", "--max-time", "5", "--output", "/dev/null", "--write-out", "%{http_code} %{size_download}"]
    return client.run("curl", *words, url, check=False).stdout


def _owner() -> tuple[subprocess.Popen[str], str, int]:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    with owner.stdout as out:
        name, child = out.readline().split()
    return owner, name, int(child)


def _alive(pid: int) -> bool:
    try:
        return File(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(condition: Callable[[], bool], seconds: float = 5) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
