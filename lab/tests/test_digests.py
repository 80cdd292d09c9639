# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from experiments.tcp_nice.section4 import paper
from netnice_lab import places
from netnice_lab.engine import machine
from netnice_lab.errors import LabError
from netnice_lab.judgement import digests
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Experiment
from netnice_lab.model.output import Output
from netnice_lab.model.scenario import Run


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    monkeypatch.setattr(places, "DIGESTS", tmp_path)
    return Experiment(title="t", claim="c", sweep={"flows": (1, 16)}, scenario=paper, figures=[], name="one")


def frame(*digests: str) -> pd.DataFrame:
    """Two seeds of each cell."""
    cells = [(1, 1), (1, 2), (16, 1), (16, 2)]
    rows = [(*cell, digest) for cell, digest in zip(cells, digests, strict=True)]
    return pd.DataFrame(rows, columns=["flows", "seed", "digest"])


def test_what_was_recorded_is_the_same(one: Experiment) -> None:
    digests.record(one, frame("a", "b", "c", "d"))
    assert digests.compare(one, frame("a", "b", "c", "d")) == digests.Compared(same=4)


def test_a_run_that_moved_is_named_by_cell_and_seed(one: Experiment) -> None:
    digests.record(one, frame("a", "b", "c", "d"))
    assert digests.compare(one, frame("a", "b", "c", "x")) == digests.Compared(3, {"one flows=16": [2]})


def test_what_was_never_recorded_is_neither_the_same_nor_moved(one: Experiment) -> None:
    rows = frame("a", "b", "c", "d")
    assert digests.compare(one, rows).unknown == {"one flows=1": [1, 2], "one flows=16": [1, 2]}
    digests.record(one, rows[rows.seed == 2])
    assert digests.compare(one, rows) == digests.Compared(2, {}, {"one flows=1": [1], "one flows=16": [1]})


def test_a_check_says_which_moved_and_how_many_are_the_same(one: Experiment) -> None:
    digests.record(one, frame("a", "b", "c", "d")[1:])
    assert digests.compare(one, frame("a", "b", "x", "y")).lines() == [
        "FAILED other bytes: one flows=16, seeds 1 2",
        "not recorded: one flows=1, seeds 1",
        "exact: 1 runs the same, 2 moved, 1 not recorded",
    ]


def test_recording_a_part_keeps_the_rest_and_forgets_cells_that_are_no_more(one: Experiment) -> None:
    digests.record(one, frame("a", "b", "c", "d"))
    digests.record(one, frame("x", "y", "z", "z")[:2])
    assert digests.read("one") == {"flows=1": ["x", "y"], "flows=16": ["c", "d"]}
    digests.record(replace(one, sweep={"flows": (16,)}), frame("x", "y", "z", "z")[2:])
    assert digests.read("one") == {"flows=16": ["z", "z"]}


def test_a_file_that_is_no_json_is_named(one: Experiment) -> None:
    digests.file_of("one").write_text("flows=1")
    with pytest.raises(LabError, match=r"cannot read(.|\n)*pin --digests one"):
        digests.read("one")


def test_a_digest_covers_every_byte_but_what_an_algorithm_is_called() -> None:
    files = {"flows.csv": "id,cc,bytes\n0,nice,5\n", "samples.csv": "flow,1\n"}
    usual = Output(files, 1.0, 1.0, "key")
    renamed = Output(files | {"flows.csv": "id,cc,bytes\n0,another,5\n"}, 2.0, 2.0, "other")
    assert usual.digest == renamed.digest
    for change in ({"flows.csv": "id,cc,bytes\n0,nice,6\n"}, {"samples.csv": "flow,2\n"}, {"udp.csv": ""}):
        assert Output(files | change, 1.0, 1.0, "key").digest != usual.digest


def test_every_digest_is_of_a_cell_that_there_is() -> None:
    for file in places.DIGESTS.glob("*.json"):
        cells = {" ".join(f"{k}={v}" for k, v in cell.items()) for cell in catalogue.load(file.stem).cells()}
        assert set(digests.read(file.stem)) <= cells, file.name


def test_a_broken_core_moves_a_digest_and_the_same_core_does_not(
    built: machine.Programs, no_kept_results: Path, one: Experiment, bulk: Callable[..., Run]
) -> None:
    """A pin of 10 % would let the first of these through."""
    good = bulk("nice", 2, 10.0)
    outputs = [machine.execute(good, built, fresh=True).digest for _ in range(2)]
    broken = machine.execute(replace(good, mutants=("acks-counted",))).digest
    rows = [pd.DataFrame({"flows": [1], "seed": [1], "digest": [digest]}) for digest in (*outputs, broken)]
    digests.record(one, rows[0])
    assert digests.compare(one, rows[1]) == digests.Compared(same=1)
    assert digests.compare(one, rows[2]).moved == {"one flows=1": [1]}
