# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What users waited for, from netnice-replay's reports."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from netnice_lab.errors import LabError


def metrics(reports: Sequence[str], files: Mapping[str, str]) -> dict[str, float]:
    """All homes together: waits from the wish to the last byte, and bodies that were demanded and prefetched."""
    found = [json.loads(files[name]) for name in reports]
    demanded = [one for report in found for one in report["demanded"]]
    if not demanded:
        raise LabError("nothing was demanded", "the visits are shorter than their warm-up", "let them last longer")
    waited = np.array([one["waited_ms"] for one in demanded])
    seconds = max(report["seconds"] for report in found)

    def rate(counts: Sequence[float]) -> float:
        return float(sum(counts) * 8 / 1e6 / seconds)

    return {
        "waited": float(waited.mean()),
        "waited_p50": float(np.quantile(waited, 0.5)),
        "waited_p95": float(np.quantile(waited, 0.95)),
        "hits": float(np.mean([one["from"] == "prefetch" for one in demanded])),
        "demanded": rate([report["demanded_bytes"] for report in found]),
        "prefetched": rate([report["prefetched"]["bytes"] for report in found]),
        "wasted": rate([report["prefetched"]["wasted_bytes"] for report in found]),
    }
