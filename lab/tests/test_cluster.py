# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The same sweep through a Dask scheduler with separate worker processes."""

from collections.abc import Iterator

import pytest
from dask.distributed import LocalCluster

from experiments.tcp_nice.section4 import paper
from netnice_lab import places
from netnice_lab.engine import keys, machine, sweep
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError

pytestmark = pytest.mark.verify("it boots guests, and needs Dask")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a scheduler with two workers, each a process that knows of the sweep only what it is sent."""
    monkeypatch.setenv("PYTHONPATH", f"{places.LAB}:{places.CLONE}")
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as workers:
        yield workers.scheduler_address


@pytest.mark.filterwarnings("ignore")
def test_the_cluster_gives_the_same_bytes(built: Programs, cluster: str) -> None:
    tasks = [sweep.Task("t", {"seed": s}, s, paper("nice-0.1", seed=s, duration=30.0).render()) for s in (1, 2, 3)]
    for task in tasks:
        machine.stored(keys.of(task.run)).unlink(missing_ok=True)
    there, _ = sweep.run(tasks, sweep.Cluster(cluster))
    here = [machine.execute(task.run, fresh=True).digest for task in tasks]
    assert list(there.digest) == here


def test_no_scheduler_is_a_clear_error(built: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    task = sweep.Task("t", {}, 1, paper("none", seed=9, duration=30.0).render())
    machine.stored(keys.of(task.run)).unlink(missing_ok=True)
    with pytest.raises(LabError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1"):
        sweep.run([task], sweep.Cluster("tcp://127.0.0.1:1", timeout=0.5))
