# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Guests really run here: each test boots User-Mode Linux for a second or two."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments.frontier import today
from experiments.tcp_nice.section4 import paper
from netnice_lab import places
from netnice_lab.engine import machine, sweep
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.measures import results
from netnice_lab.model.experiment import Cell
from netnice_lab.model.output import Output
from netnice_lab.model.scenario import Run

MakeRun = Callable[..., Run]


def test_cubic_fills_a_link(built: Programs, no_kept_results: Path, bulk: MakeRun) -> None:
    run = bulk("cubic", 2, 20.0)
    assert results.metrics(run, machine.execute(run))["background"] == pytest.approx(9.56, rel=0.01)


@pytest.mark.parametrize("algorithm", ["netnice", "nice", "nnreno", "nnvegas", "reno", "vegas", "lp", "bbr"])
def test_every_algorithm_works(built: Programs, no_kept_results: Path, bulk: MakeRun, algorithm: str) -> None:
    run = bulk(algorithm, 1, 20.0)
    assert results.metrics(run, machine.execute(run))["background"] > 5


def test_a_run_is_bit_identical_alone_and_beside_another_under_load(built: Programs, no_kept_results: Path) -> None:
    run = paper("nice-0.1", duration=40.0).render()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as load:
        try:
            with ThreadPoolExecutor(2) as pool:
                both = list(pool.map(lambda _: machine.execute(run, fresh=True).digest, range(2)))
        finally:
            load.kill()
    assert {machine.execute(run, fresh=True).digest} == set(both)


def test_two_threads_keep_one_result_at_once(no_kept_results: Path) -> None:
    output = Output({"flows.csv": "0,cubic\n" * 1000}, 1.0, 1.0, "0123456789abcdef")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(machine.save, [output] * 400))
    assert machine.load(output.key) == output
    assert [file.name for file in no_kept_results.iterdir()] == [f"{output.key}.json.xz"]


def test_a_seed_makes_a_difference(built: Programs, no_kept_results: Path, bulk: MakeRun) -> None:
    first, second = (machine.execute(bulk("cubic", 2, 10.0, seed)).digest for seed in (1, 2))
    assert first != second


def test_a_path_of_the_host_makes_no_difference(
    built: Programs, no_kept_results: Path, bulk: MakeRun, tmp_path: Path
) -> None:
    run = bulk("netnice", 2, 10.0)
    usual = machine.execute(run, fresh=True)
    elsewhere = tmp_path / "a" / "much" / "longer" / "name"
    elsewhere.mkdir(parents=True)
    assert machine.boot(elsewhere, run, 60, "elsewhere", "").digest == usual.digest


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"threshold": 101}, "netnice: threshold takes 0 to 100"), ({"min_window": 0}, "min_window takes 1 to 65535")],
)
def test_the_module_refuses_what_is_out_of_range(
    built: Programs, no_kept_results: Path, bulk: MakeRun, changes: dict[str, int], words: str
) -> None:
    run = replace(bulk("netnice", 1, 5.0), parameters={"netnice": changes})
    with pytest.raises(LabError, match=words):
        machine.execute(run)


def test_the_module_takes_parameters_by_name(built: Programs, no_kept_results: Path, bulk: MakeRun) -> None:
    held = replace(bulk("netnice", 1, 5.0), parameters={"netnice": {"force_window": 3 * 4096, "threshold": 20}})
    assert results.metrics(held, machine.execute(held))["window"] == pytest.approx(3, abs=0.1)


LATER = """
test "$(cat /proc/sys/net/ipv6/conf/lo/disable_ipv6)" = 1
ip link set lo up
echo 0 > /proc/sys/net/ipv6/conf/lo/disable_ipv6
ip -6 address add fd00::2/128 dev lo nodad
test "$(cat /proc/sys/net/mptcp/enabled)" = 1
ip mptcp endpoint add 127.0.0.1 subflow
ip mptcp endpoint show | grep -q subflow
grep -q dctcp /proc/sys/net/ipv4/tcp_available_congestion_control
tc qdisc add dev lo clsact
tc filter add dev lo egress matchall action police rate 10mbit burst 32k conform-exceed drop
tc filter add dev lo egress protocol ip prio 1 flower ip_tos 0x04/0xfc action drop
tc filter add dev lo egress protocol ip prio 2 u32 match ip dsfield 0x04 0xfc action skbedit priority 7
tc filter show dev lo egress | grep -q police
tc qdisc add dev lo root handle 1: htb default 1
"""


def test_the_kernel_has_what_worlds_may_need_and_ipv6_is_off_until_asked_for(
    built: Programs, no_kept_results: Path, bulk: MakeRun
) -> None:
    run = bulk("cubic", 1, 5.0)
    usual, later = (results.metrics(run, machine.execute(one)) for one in (run, replace(run, setup=run.setup + LATER)))
    assert later["background"] == pytest.approx(usual["background"], rel=0.01)


def test_documents_over_persistent_connections_all_arrive(built: Programs, no_kept_results: Path) -> None:
    run = today("none", persistent=True, duration=20.0).render()
    metrics = results.metrics(run, machine.execute(run))
    assert metrics["unfinished"] == 0
    assert 40 < metrics["latency"] < 200


def test_a_kept_result_is_not_run_again_and_a_damaged_one_is(
    built: Programs, no_kept_results: Path, bulk: MakeRun
) -> None:
    run = bulk("cubic", 1, 5.0)
    first = machine.execute(run)
    (kept,) = no_kept_results.glob("*.xz")
    stamp = kept.stat().st_mtime_ns
    assert machine.execute(run).digest == first.digest
    assert kept.stat().st_mtime_ns == stamp
    kept.write_bytes(b"half a file")
    assert machine.execute(run).digest == first.digest
    assert kept.stat().st_mtime_ns != stamp


def test_a_full_disk_is_a_clear_error(built: Programs, bulk: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "stored", lambda key: Path("/dev/full/kept.json.xz"))
    with pytest.raises(LabError, match="cannot keep a result"):
        machine.execute(bulk("cubic", 1, 5.0), fresh=True)


def test_a_hung_guest_is_killed_and_named(
    built: Programs, no_kept_results: Path, bulk: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "shared_memory", lambda: str(no_kept_results))
    with pytest.raises(LabError, match="the slow one: the guest hung and was killed"):
        machine.execute(bulk("cubic", 50, 100_000.0), limit=1.5, name="the slow one")
    assert not guests(str(no_kept_results))


class Crashing:
    """A machine whose first `times` guests die."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self.left, self.boot = times, machine.boot
        monkeypatch.setattr(machine, "boot", self)

    def __call__(self, *words: Any) -> Output:
        self.left -= 1
        if self.left >= 0:
            raise machine.GuestCrashError("the guest failed", f"panic [{self.left}]")
        return self.boot(*words)

    def map(self, tasks: Sequence[sweep.Task], limit: float) -> Iterator[tuple[sweep.Task, Output]]:
        """An engine without processes."""
        return ((task, sweep.work(task, limit)) for task in tasks)


def test_a_guest_that_died_is_started_again_and_it_is_said(
    built: Programs, no_kept_results: Path, bulk: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = StringIO()
    tasks = [sweep.Task("t", {"cell": s}, s, bulk("cubic", 1, 5.0, s)) for s in (1, 2)]
    console = Console(file=said)
    frame, _ = sweep.run(tasks, Crashing(monkeypatch, 2), console=console)
    assert len(frame) == 2
    for words in ("warning: t cell=1 seed=1: the guest's kernel died", "panic [1]", "panic [0]", "2 of 4 guests died"):
        assert words in said.getvalue()
    said.truncate(0)
    sweep.run(tasks, console=console)
    assert "died" not in said.getvalue(), "kept results are no news"


def test_a_guest_that_dies_each_time_is_an_error(
    built: Programs, no_kept_results: Path, bulk: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = Crashing(monkeypatch, 100)
    with pytest.raises(machine.GuestCrashError):
        machine.execute(bulk("cubic", 1, 5.0))
    assert dying.left == 100 - machine.ATTEMPTS


def test_an_unknown_algorithm_shows_the_guests_words(built: Programs, no_kept_results: Path, bulk: MakeRun) -> None:
    with pytest.raises(LabError, match="no congestion control 'westwood' in the guest"):
        machine.execute(bulk("westwood"))


def test_a_killed_runs_folder_goes_at_the_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "shared_memory", lambda: str(tmp_path))
    left, living, new, other = (tmp_path / f"netnice-lab-{name}" for name in ("left", "living", "new", "other"))
    for directory in (left, living, new):
        directory.mkdir()
    other.symlink_to(tmp_path)
    for directory in (left, living):
        os.utime(directory, (0, 0))
    with machine.locked(living), machine.folder() as mine:
        assert set(tmp_path.iterdir()) == {living, new, other, mine}
    assert set(tmp_path.iterdir()) == {living, new, other}


@pytest.mark.parametrize(("how", "status", "says"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "")])
def test_ending_the_command_leaves_no_process_and_no_folder(
    built: Programs, tmp_path: Path, how: signal.Signals, status: int, says: str
) -> None:
    words = [sys.executable, "-m", "netnice_lab", "run", "nice-fig3", "--only", "protocol=cubic,flows=99,98,97"]
    cache = tmp_path / "netnice" / "lab"
    cache.mkdir(parents=True)
    for part in places.cache().iterdir():
        if part.name != "results":  # kept ones, of this test's own failure too, would leave nothing to interrupt
            (cache / part.name).symlink_to(part)
    environment = os.environ | {"PYTHONPATH": f"{places.LAB}:{places.CLONE}", "XDG_CACHE_HOME": str(tmp_path)}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: bool(directories(process.pid)))
        mine, semaphores = directories(process.pid), shared_semaphores(process.pid)
        process.send_signal(how)
        _, said = process.communicate(timeout=30)
    assert process.returncode == status
    assert says in said
    wait_until(lambda: not any(guests(directory) for directory in mine))
    assert not [directory for directory in mine if Path(directory).exists()]
    assert semaphores
    assert not [file for file in semaphores if file.exists()]


def shared_semaphores(process: int) -> list[Path]:
    """Those of its pool of workers."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return sorted({Path(line.split()[-1]) for line in lines if "/dev/shm/sem." in line})


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Fail unless the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def guests(directory: str) -> list[int]:
    """Guest processes that run in a directory."""
    return [pid for pid, line in command_lines().items() if f"LABDIR={directory}" in line]


def directories(ancestor: int) -> set[str]:
    """The directories of the guests that a process has below it."""
    found = set()
    for pid, line in command_lines().items():
        if "LABDIR=" in line and ancestor in ancestors(pid):
            found.add(line.split("LABDIR=")[1].split()[0])
    return found


def ancestors(pid: int) -> list[int]:
    """The parents of a process, nearest first."""
    chain = []
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        chain.append(pid)
    return chain


def command_lines() -> dict[int, str]:
    """Every process and its words."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return found


def test_a_hundred_flows_at_100_mbit_for_a_minute(built: Programs, no_kept_results: Path) -> None:
    from netnice_lab.model.scenario import Scenario
    from netnice_lab.model.topology import Queue, dumbbell
    from netnice_lab.model.traffic import Bulk

    topology = dumbbell(100_000_000, 20_000, Queue("fifo", bytes=250_000))
    run = Scenario(topology, (Bulk("bulk", "home", 100, "cubic"),), 60.0, 10.0, 1).render()
    output = machine.execute(run)
    assert results.metrics(run, output)["background"] == pytest.approx(95.6, rel=0.01)
    assert output.cpu < 15  # 5 s on an idle machine; another's load slows a shared core to a third


def test_experiments_in_one_call_keep_their_own_types(built: Programs, bulk: MakeRun) -> None:
    names: dict[str, Cell] = {"one": {"fraction": 10}, "two": {"spare": 0.5}}
    tasks = [sweep.Task(name, cell, 1, bulk("cubic", 1, 5.0)) for name, cell in names.items()]
    frame, _ = sweep.run(tasks, sweep.Local(1))
    assert [type(value) for value in frame.fraction[:1]] == [int]


def test_local_sweeps_keep_the_order_of_the_cells(built: Programs, bulk: MakeRun) -> None:
    tasks = [sweep.Task("t", {"seed": s}, s, bulk("cubic", 1, 5.0, s)) for s in (3, 1, 2)]
    frame, _ = sweep.run(tasks, sweep.Local(2))
    assert list(frame.seed) == [3, 1, 2]


def test_sources_that_change_meanwhile_are_told() -> None:
    class OtherPrograms:
        def map(self, tasks: Sequence[sweep.Task], limit: float) -> Iterator[tuple[sweep.Task, Output]]:
            for task in tasks:
                yield task, Output({}, 0.0, 0.0, "of today")

    task = sweep.Task("t", {}, 1, paper("none", seed=1, duration=30.0).render())
    with pytest.raises(LabError, match="1 runs are of other programs"):
        sweep.run([task], OtherPrograms(), key_of=lambda _: "of yesterday")
