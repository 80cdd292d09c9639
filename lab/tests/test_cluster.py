# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The same sweep through a Dask scheduler with separate worker processes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from netnice_lab import machine, places, sweep
from netnice_lab.cluster import Cluster
from netnice_lab.conditions import paper
from netnice_lab.errors import LabError

ENVIRONMENT = os.environ | {"PYTHONPATH": f"{places.LAB}:{places.CLONE}"}


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a scheduler with two workers, ended afterwards."""
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*words, "--port", "0", "--no-dashboard"], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    workers: list[subprocess.Popen[bytes]] = []
    try:
        assert scheduler.stderr is not None
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        for _ in range(2):
            workers.append(
                subprocess.Popen(
                    [
                        sys.executable,
                        "-m",
                        "distributed.cli.dask_worker",
                        address,
                        "--nthreads",
                        "1",
                        "--no-dashboard",
                        "--no-nanny",
                    ],
                    env=ENVIRONMENT,
                    stderr=subprocess.DEVNULL,
                )
            )
        yield address
    finally:
        processes: list[subprocess.Popen[bytes] | subprocess.Popen[str]] = [*workers, scheduler]
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=20)


@pytest.mark.filterwarnings("ignore")
def test_the_cluster_gives_the_same_bytes(built: machine.Programs, cluster: str) -> None:
    tasks = [sweep.Task("t", {"seed": s}, s, paper("nice-0.1", seed=s, duration=30.0).render()) for s in (1, 2, 3)]
    for task in tasks:
        machine.stored(built.key(task.run)).unlink(missing_ok=True)
    deadline = time.monotonic() + 60
    while True:
        try:
            there, _ = sweep.run(tasks, Cluster(cluster))
            break
        except LabError as error:
            if "no workers" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.5)
    here = [machine.execute(task.run, built, fresh=True).digest for task in tasks]
    assert list(there.digest) == here


def test_no_scheduler_is_a_clear_error(built: machine.Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    task = sweep.Task("t", {}, 1, paper("none", seed=9, duration=30.0).render())
    machine.stored(built.key(task.run)).unlink(missing_ok=True)
    with pytest.raises(LabError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1"):
        sweep.run([task], Cluster("tcp://127.0.0.1:1", patience=0.5))
