# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a run's row tells besides its cell."""

import pandas as pd
import pytest

from netnice_lab.measures import results
from netnice_lab.model.output import Output
from netnice_lab.model.scenario import Run

DOCUMENTS = """client,asked_us,size,first_us,acked_us,arrived_us
0,500000,1000,600000,900000,800000
0,2000000,1000,2100000,2500000,2400000
1,3000000,3000,3200000,3300000,3250000
1,9000000,9000,9500000,0,0
"""


def test_a_document_takes_from_its_first_byte_to_its_last_ack() -> None:
    run = Run(setup="", plan="", seed=1, parameters={}, warm_up=1.0, window=10.0)
    found = results.document_metrics(run, Output({"documents.csv": DOCUMENTS}, 0.0, 0.0, "key"))
    assert found["documents"] == 3, "the first came in the warm-up"
    assert found["unfinished"] == 1, "it counts with the time until the end"
    assert found["latency"] == pytest.approx((400 + 100 + 1500) / 3)
    assert found["response"] == pytest.approx((400 + 250 + 2000) / 3)
    assert found["foreground"] == pytest.approx(4000 * 8 / 1e6 / 10)


def test_measured_names_groups_and_neither_keys_nor_the_run() -> None:
    rows = pd.DataFrame(
        [
            {
                "experiment": "x",
                "rate": 10.0,
                "seed": 1,
                "digest": "d",
                "cpu_seconds": 0.1,
                "upper": 9.5,
                "upper_rtt": 0.0,
            }
        ]
    )
    assert results.measured(rows, ["rate"]) == ["upper"]
