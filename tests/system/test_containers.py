# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Containers by name and label, what sends for rootless ones, and what an engine fetches."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import Done, netnice, netnicectl, status
from system.harness.kernel import inside
from testbed import Process, program

pytestmark = pytest.mark.usefixtures("up")
ID = "3fa0123456789abcdef03fa0123456789abcdef03fa0123456789abcdef0abcd"
#: A command of an engine that has one container.
FAKE = """#!/bin/sh
case "$*" in
'inspect --type container web') cat {answer} ;;
'ps --all --quiet --no-trunc --filter label=netnice.level=1') echo {id} ;;
ps*) ;;
*) echo "Error: no such container" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[Path, Process]]:
    """A folder with a command named docker, and the first process of its container."""
    folder, answer = tmp_path / "bin", tmp_path / "answer"
    folder.mkdir()
    with kernel.cgroup(f"docker-{ID}.scope") as cgroup, Process(inside(cgroup, "sleep", "60")) as process:
        kernel_has = cgroup / "cgroup.procs"
        while not kernel_has.read_text().strip():
            pass
        answer.write_text(json.dumps([{"Id": ID, "State": {"Pid": process.pid}}]))
        command = folder / "docker"
        command.write_text(FAKE.format(answer=answer, id=ID))
        command.chmod(0o755)
        yield folder, process


def ctl(folder: Path, *words: str, check: bool = True) -> Done:
    """With these commands before all others."""
    return netnicectl(*words, check=check, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})


def attached() -> list[tuple[str, int, bool]]:
    return [(Path(one["cgroup"]).name, one["level"], one["by_rule"]) for one in status()["attached"]]


class TestNames:
    def test_attach_explain_detach(self, engine: tuple[Path, Process]) -> None:
        folder, process = engine
        ctl(folder, "attach", "-n", "1", "docker:web")
        assert attached() == [(f"docker-{ID}.scope", 1, False)]
        assert netnice("-p", str(process.pid)).stdout == "1\n"
        assert f"docker-{ID}.scope" in ctl(folder, "explain", "docker:web").stdout
        assert "rootless" not in ctl(folder, "detach", "docker:web").stdout
        assert attached() == []

    def test_what_is_not_there(self, engine: tuple[Path, Process], tmp_path: Path) -> None:
        folder, _ = engine
        done = ctl(folder, "attach", "docker:nobody", check=False)
        assert (done.returncode, "docker does not tell: Error: no such container" in done.stderr) == (1, True)
        (tmp_path / "none").mkdir()
        done = netnicectl("attach", "docker:web", check=False, env={"PATH": str(tmp_path / "none")})
        assert (done.returncode, "there is no command 'docker'" in done.stderr) == (1, True)
        done = netnicectl("attach", "containerd:3fa0", check=False)
        assert (done.returncode, "no container of containerd" in done.stderr) == (1, True)

    def test_containerd(self) -> None:
        with kernel.cgroup(f"cri-containerd-{ID}.scope"):
            netnicectl("attach", f"containerd:{ID[:12]}")
            assert attached() == [(f"cri-containerd-{ID}.scope", 0, False)]


class TestRules:
    @pytest.mark.parametrize("key", ['container = "web"', 'container = "docker:web"', 'label = "netnice.level=1"'])
    def test_by_name_and_by_label(self, engine: tuple[Path, Process], tmp_path: Path, key: str) -> None:
        folder, process = engine
        file = tmp_path / "policy.toml"
        file.write_text(f"[[rule]]\n{key}\nlevel = 2\n")
        assert f"docker-{ID}.scope" in ctl(folder, "policy", "check", str(file)).stdout
        ctl(folder, "policy", "apply", str(file))
        assert attached() == [(f"docker-{ID}.scope", 2, True)]
        assert netnice("-p", str(process.pid)).stdout == "2\n"

    def test_none_is_a_warning(self, engine: tuple[Path, Process], tmp_path: Path) -> None:
        folder, _ = engine
        file = tmp_path / "policy.toml"
        file.write_text('[[rule]]\nlabel = "nobody"\n')
        assert "no container is meant now" in ctl(folder, "policy", "apply", str(file)).stderr

    @pytest.mark.verify("podman is installed by ./setup verify alone")
    def test_podman(self, tmp_path: Path) -> None:
        name, root = f"nnt-{os.getpid()}", tmp_path / "root"
        root.mkdir()
        words = [
            "podman",
            "create",
            "--name",
            name,
            "--label",
            f"nnt={name}",
            "--network",
            "none",
            "--rootfs",
            str(root),
        ]
        made = subprocess.run([*words, "true"], check=True, capture_output=True, text=True).stdout.split()[-1]
        try:
            file = tmp_path / "policy.toml"
            for key in (f'container = "podman:{name}"', f'label = "nnt={name}"'):
                file.write_text(f"[[rule]]\n{key}\n")
                assert f"libpod-{made}.scope" in netnicectl("policy", "check", str(file)).stdout
            done = netnicectl("attach", f"podman:{name}", check=False)
            assert (done.returncode, f"no container of podman that is named '{name}' runs" in done.stderr) == (1, True)
        finally:
            subprocess.run(["podman", "rm", "-f", name], check=True, capture_output=True)


class TestRootless:
    @pytest.mark.parametrize("helper", ["slirp4netns", "pasta"])
    def test_its_helper_goes_with_it(self, tmp_path: Path, engine: tuple[Path, Process], helper: str) -> None:
        folder, container = engine
        # The container gets a network of its own: another first process in the same cgroup.
        cgroup = kernel.cgroup_root() / cgroup_of(container.pid)
        with Process(inside(cgroup, program("unshare"), "--net", "sleep", "60")) as first:
            while Path(f"/proc/{first.pid}/comm").read_text() != "sleep\n":
                pass
            answer = folder.parent / "answer"
            answer.write_text(json.dumps([{"Id": ID, "State": {"Pid": first.pid}}]))
            named = tmp_path / helper
            shutil.copy("/usr/bin/python3", named)
            network = str(first.pid) if helper == "slirp4netns" else f"/proc/{first.pid}/ns/net"
            with Process([str(named), "-c", "import time; time.sleep(60)", network, "tap0"]) as process:
                said = ctl(folder, "attach", "docker:web").stdout
                assert f"the container is rootless: process {process.pid} ({helper}) sends for all containers" in said
                assert netnice("-p", str(process.pid)).stdout == "0\n"
                assert f"{helper} is in the foreground too" in ctl(folder, "detach", "docker:web").stdout
                assert netnice("-p", str(process.pid)).stdout == "foreground\n"


def cgroup_of(pid: int) -> str:
    """That of a process, below the root."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next(line[4:] for line in lines if line.startswith("0::"))


class TestPulls:
    def test_the_daemon_and_not_its_containers(self, tmp_path: Path) -> None:
        daemon = tmp_path / "nnt-daemon"
        shutil.copy(program("sleep"), daemon)
        with (
            kernel.cgroup("nnt-daemon.service") as unit,
            Process(inside(unit, str(daemon), "60")) as process,
        ):
            container = unit.parent / f"cri-containerd-{ID}.scope"
            container.mkdir()
            while Path(f"/proc/{process.pid}/comm").read_text() != "nnt-daemon\n":
                pass
            with Process(inside(container, "sleep", "60")) as child:
                while str(child.pid) not in (container / "cgroup.procs").read_text().split():
                    pass
                netnicectl("attach", "--pulls", "nnt-daemon")
                assert netnice("-p", str(process.pid)).stdout == "0\n"
                assert netnice("-p", str(child.pid)).stdout == "foreground\n"
                netnicectl("detach", "--pulls", "nnt-daemon")
                assert netnice("-p", str(process.pid)).stdout == "foreground\n"

    def test_what_is_no_unit(self, tmp_path: Path) -> None:
        done = netnicectl("attach", "--pulls", "nnt-none", check=False)
        assert (done.returncode, "no process named 'nnt-none' runs" in done.stderr) == (1, True)
        daemon = tmp_path / "nnt-alone"
        shutil.copy(program("sleep"), daemon)
        with kernel.cgroup("session.scope") as scope, Process(inside(scope, str(daemon), "60")) as process:
            while Path(f"/proc/{process.pid}/comm").read_text() != "nnt-alone\n":
                pass
            done = netnicectl("attach", "--pulls", "nnt-alone", check=False)
            assert (done.returncode, "is in no unit of its own" in done.stderr) == (1, True)
