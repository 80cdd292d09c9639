# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""make kernels: what was loaded and used on which kernel, as the table of docs/kernels.md."""

from __future__ import annotations

from kernels import matrix
from kernels.claims import CLAIMS, holds

WORDS = {True: "yes", False: "no", None: "–"}


def main() -> None:
    """Prints it."""
    print("| kernel | " + " | ".join(CLAIMS) + " |")
    print("| --- " * (len(CLAIMS) + 1) + "|")
    for kernel, report in matrix.reports().items():
        version = kernel.name.removesuffix("-cloud-amd64")
        print(f"| {version} | " + " | ".join(WORDS[holds(claim, report)] for claim in CLAIMS) + " |")


if __name__ == "__main__":
    main()
