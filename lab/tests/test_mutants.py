# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A check is worth something only if it fails for a broken core."""

import pytest

from netnice_lab import places
from netnice_lab.engine import ablations, machine, mutants, sweep
from netnice_lab.judgement import pins
from netnice_lab.model import catalogue

CELLS = {
    "threshold-ignored": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["16"]}),
    "floor-of-one": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["64"]}),
    "acks-counted": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["16"]}),
    "rounds-of-one-ack": ("nicer-together", {"rate": ["10.0"], "level": ["netnice"], "flows": ["4"]}),
    "no-look": ("lbe-route", {"protocol": ["netnice1"], "step": ["up"], "minutes": ["1"]}),
    "no-siblings": ("nicer-together", {"rate": ["10.0"], "level": ["netnice1"], "flows": ["16"]}),
}


@pytest.mark.parametrize("name", mutants.MUTANTS)
def test_the_check_fails_for_a_broken_core(built: machine.Programs, name: str) -> None:
    figure, only = CELLS[name]
    found = catalogue.load(figure)
    good, _ = sweep.run(sweep.tasks([found], only, seeds=1))
    bad, _ = sweep.run(sweep.tasks([found], only, seeds=1, mutants=(name,)))
    assert not any(verdict.failed for verdict in pins.check(found, good))
    assert any(verdict.failed for verdict in pins.check(found, bad))


@pytest.mark.parametrize("name", ablations.ABLATIONS)
def test_what_is_left_out_is_there_once(name: str) -> None:
    assert len(ablations.ABLATIONS[name].places(places.CLONE)) == 1
