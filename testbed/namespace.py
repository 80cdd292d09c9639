# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Network namespaces, the processes in them, their ports, and their default congestion control."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from testbed import ownership
from testbed.programs import TestbedError, program, require_root

#: Before what else runs on the machine, so that the path is measured and not the wait for a processor.
_PRIORITY = "-10"
#: A program that begins when its owner is already dead would never get the signal of that: it looks first.
_IF_OWNED = '[ "$PPID" = "$0" ] && exec "$@"'


class Process(ownership.Owned):
    """A program with its children in a session of their own, ended together and by pid.

    Should this process be killed, the kernel kills the program (``setpriv --pdeathsig``); start it from
    a thread that lives as long.
    """

    def __init__(
        self,
        argv: list[str],
        *,
        stdout: int | IO[Any] | None = subprocess.DEVNULL,
        stderr: int | IO[Any] | None = subprocess.PIPE,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        super().__init__()
        self.argv = argv
        self._popen = subprocess.Popen(
            [
                *(program("nice"), "-n", _PRIORITY, program("setpriv"), "--pdeathsig", "KILL", "--"),
                *(program("sh"), "-c", _IF_OWNED, str(os.getpid()), *argv),
            ],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            text=True,
            start_new_session=True,
        )
        self._parts.callback(self.end)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def running(self) -> bool:
        """Whether the program itself has not ended."""
        return self._popen.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the program and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def line(self) -> str:
        """The next line of its standard output, which must be a pipe."""
        assert self._popen.stdout is not None
        return str(self._popen.stdout.readline())

    def wait(self, timeout: float | None = None) -> tuple[str, str]:
        """Waits for the end and returns what it wrote to the pipes."""
        out, err = self._popen.communicate(timeout=timeout)
        return out or "", err or ""

    @property
    def returncode(self) -> int | None:
        return self._popen.poll()

    def end(self, grace: float = 3.0) -> tuple[str, str]:
        """Asks to end (SIGTERM), insists after ``grace`` seconds; returns what was written."""
        if self.running():
            self.signal(signal.SIGTERM)
            self.signal(signal.SIGCONT)
        try:
            result = self.wait(grace)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            result = self.wait()
        except ValueError:  # its pipes are closed: it was waited for before
            result = ("", "")
        self.signal(signal.SIGKILL)  # children that outlived it
        return result


class Namespace(ownership.Owned):
    """A network namespace, with its loopback up and CUBIC as its default congestion control.

    Programs enter by ``nsenter --net``: unlike ``ip netns exec`` that keeps the caller's /sys, and
    with it cgroup v2 and bpffs.
    """

    _count = 0

    def __init__(self, label: str, *, congestion_control: str = "cubic") -> None:
        require_root()
        super().__init__()
        ownership.prepare()
        Namespace._count += 1
        self.label = label
        self.name = ownership.owned_name(f"{label}{Namespace._count}")
        self.address = ""
        self._parts.callback(ownership.remove_namespace, self.name)
        # A connection without an owner would try for minutes to reach an end that is gone, and keep the namespace.
        self._parts.callback(self.run, "ss", "-tnHK", check=False)
        _checked(["ip", "netns", "add", self.name])
        _checked(["ip", "-n", self.name, "link", "set", "lo", "up"])
        _set_default(self.file, congestion_control)

    @property
    def file(self) -> Path:
        """The namespace's handle."""
        return Path("/run/netns") / self.name

    def command(self, *argv: str | os.PathLike[str]) -> list[str]:
        """The words that run ``argv`` inside; the process stays the same through both execs."""
        first, *rest = (os.fspath(word) for word in argv)
        return [program("nsenter"), f"--net={self.file}", "--", program(first), *rest]

    def run(
        self,
        *argv: str | os.PathLike[str],
        timeout: float | None = 60,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program inside to its end; an exit status other than 0 is an error if ``check``."""
        done = subprocess.run(
            self.command(*argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**os.environ, **(env or {})},
        )
        if check and done.returncode != 0:
            raise TestbedError(_failure([os.fspath(word) for word in argv], done.returncode, done.stderr))
        return done

    def spawn(self, *argv: str | os.PathLike[str], **options: Any) -> Process:
        """Starts a program inside; see :class:`Process` for the options."""
        process = Process(self.command(*argv), **options)
        self._parts.callback(process.end)  # it may not have entered yet when the namespace goes
        return process

    def sysctl(self, name: str, value: str) -> None:
        """Sets a ``net.*`` value of this namespace."""
        self.run("sysctl", "-qw", f"{name}={value}")


def wait_until(condition: Callable[[], bool], what: str, *, process: Process | None = None, seconds: float = 5) -> None:
    """Waits for a condition; ``what`` completes the sentence 'waited N s for …'."""
    deadline = time.monotonic() + seconds
    while not condition():
        if process is not None and not process.running():
            _, err = process.wait()
            raise TestbedError(_failure(process.argv, process.returncode or 0, err))
        if time.monotonic() > deadline:
            raise TestbedError(f"waited {seconds:g} s for {what}, in vain")
        time.sleep(0.02)


def _checked(argv: list[str]) -> str:
    done = subprocess.run([program(argv[0]), *argv[1:]], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise TestbedError(_failure(argv, done.returncode, done.stderr))
    return done.stdout


def _failure(argv: list[str], status: int, stderr: str) -> str:
    said = stderr.strip() or "and said nothing"
    return f"'{' '.join(argv)}' ended with {status}: {said}"


_FIRST, _LAST = 8000, 9000


def free_port(namespace: Namespace) -> int:
    """A port below the ephemeral range on which nothing in the namespace listens."""
    taken = _listening(namespace)
    return next(port for port in range(_FIRST, _LAST) if port not in taken)


def listens(namespace: Namespace, port: int) -> bool:
    """Whether a server is there, and not by ``::1`` alone: some take that first, and 127.0.0.1 a moment later."""
    return port in _listening(namespace, but="[::1]")


def _listening(namespace: Namespace, but: str = "") -> set[int]:
    places = (line.split()[3].rpartition(":") for line in namespace.run("ss", "-tlnH").stdout.splitlines())
    return {int(port) for address, _, port in places if address != but}


_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def _set_default(namespace: Path, name: str) -> None:
    """Makes ``name`` the default of connections in the namespace."""
    if name not in _AVAILABLE.read_text().split():
        subprocess.run(["modprobe", f"tcp_{name}"], check=False, capture_output=True)
    if not _set(namespace, name):
        # Other namespaces than the first may only use what the machine allows every user.
        with _allowed(name):
            if not _set(namespace, name):
                raise TestbedError(
                    f"this kernel does not offer the congestion control {name} "
                    f"(it has: {_AVAILABLE.read_text().strip()}); load the module tcp_{name}"
                )


def _set(namespace: Path, name: str) -> bool:
    # fmt: off
    argv = [
        program("nsenter"), f"--net={namespace}", "--",
        program("sysctl"), "-qw", f"net.ipv4.tcp_congestion_control={name}",
    ]
    # fmt: on
    return subprocess.run(argv, check=False, capture_output=True).returncode == 0


@contextlib.contextmanager
def _allowed(name: str) -> Iterator[None]:
    """Allows one more; writing replaces the whole list, so the others are written again."""
    before = _ALLOWED.read_text().split()
    if name in before or name not in _AVAILABLE.read_text().split():
        yield
        return
    _ALLOWED.write_text(" ".join([*before, name]))
    try:
        yield
    finally:
        now = _ALLOWED.read_text().split()
        _ALLOWED.write_text(" ".join(word for word in now if word != name))
