# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Files to send."""

from __future__ import annotations

import os
from pathlib import Path


def random_file(path: Path, size: int) -> None:
    """Bytes that no program on the way can compress."""
    chunk = 1 << 20
    with path.open("wb") as file:
        for start in range(0, size, chunk):
            file.write(os.urandom(min(chunk, size - start)))
