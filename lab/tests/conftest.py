# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the lab's tests share: the built kernel, a cache of their own for results."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from netnice_lab.engine import kernel, machine
from netnice_lab.engine.programs import Programs
from netnice_lab.model.scenario import Run, Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk


@pytest.hookimpl(tryfirst=True)  # the root conftest.py chooses by these marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that boots a guest needs the lab's kernel, which takes minutes to build: verify's tier."""
    for item in items:
        if "built" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.verify("it boots guests, whose kernel takes minutes to build"))


@pytest.fixture(scope="session")
def built() -> Programs:
    """The programs of a run; the kernel takes minutes the first time and is cached."""
    kernel.build(lambda stage, part: None)
    return Programs.find()


@pytest.fixture
def no_kept_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Results go to, and come from, an empty place."""
    monkeypatch.setattr(machine, "stored", lambda key: tmp_path / f"{key}.json.xz")
    yield tmp_path


@pytest.fixture
def bulk() -> Callable[..., Run]:
    """A rendered run of bulk flows over 10 Mbit/s, 20 ms, one BDP."""

    def render(algorithm: str = "cubic", flows: int = 2, duration: float = 10.0, seed: int = 1) -> Run:
        topology = dumbbell(10_000_000, 20_000, Queue("fifo", bytes=25_000))
        return Scenario(topology, (Bulk("bulk", "home", flows, algorithm),), duration, 2.0, seed).render()

    return render
