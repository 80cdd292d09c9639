# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A judgement is worth something only if it notices a broken core."""

import pytest

from netnice_lab import places
from netnice_lab.engine import changes, sweep
from netnice_lab.engine.faults import MUTANTS
from netnice_lab.engine.programs import Programs
from netnice_lab.judgement import check
from netnice_lab.model import catalogue

CELLS = {
    "threshold-ignored": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["16"]}),
    "floor-of-one": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["64"]}),
    "acks-counted": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["16"]}),
    "rounds-of-one-ack": ("nicer-together", {"rate": ["10.0"], "level": ["netnice"], "flows": ["4"]}),
    "no-longer-route": ("lines-route", {"protocol": ["netnice"], "way": ["there"], "step": ["up"], "stamps": ["True"]}),
    "no-siblings": ("nicer-together", {"rate": ["10.0"], "level": ["netnice1"], "flows": ["16"]}),
    "clock-of-the-wire": ("vulture-fig15", {"receiver": ["tide"], "sender": ["cubic"]}),
}
"""Of those that are not tried by a claim alone (test_claims.py)."""


@pytest.mark.parametrize("name", CELLS)
def test_a_broken_core_moves_a_cell_beyond_its_tolerance(built: Programs, name: str) -> None:
    figure, only = CELLS[name]
    found = catalogue.load(figure)
    good = sweep.tasks([found], only, seeds=1)
    recorded = check.Standing.of([found], good).rows(map(check.place, good))
    bad = sweep.rows(sweep.outputs(sweep.tasks([found], only, seeds=1, mutants=(name,))))
    assert len(recorded) == len(bad)
    assert check.moved(found, recorded, bad)


@pytest.mark.parametrize("name", [*changes.ABLATIONS, *MUTANTS, *changes.VARIANTS])
def test_what_a_change_replaces_is_there_once(name: str) -> None:
    assert len(changes.find(name).places(places.CLONE)) == 1
