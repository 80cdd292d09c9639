# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a run's row tells besides its cell."""

import pandas as pd

from netnice_lab.measures import results


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
