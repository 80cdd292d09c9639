# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The tests of a crate that a mutant is in: what they say of it."""

import os
import subprocess
from pathlib import Path


def verdict(folder: Path, *words: str, cases: int) -> str:
    """The last line of `cargo test WORDS`, with so many cases of each property: it ran, and passed or failed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "netnice"
    target = os.environ.get("CARGO_TARGET_DIR", str(cache / "target"))
    done = subprocess.run(
        ["cargo", "test", "--offline", "--quiet", *words],
        cwd=folder,
        env=os.environ | {"CARGO_TARGET_DIR": target, "PROPTEST_CASES": str(cases), "CARGO_TERM_COLOR": "never"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("test result:")]
    assert found, f"its tests did not run: {done.stderr}"
    return found[-1]
