# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a run gave."""

from dataclasses import dataclass

from netnice_lab import places


@dataclass(frozen=True)
class Output:
    """What a guest wrote, by file name, the real and CPU seconds it took, and the last words of who died before."""

    files: dict[str, str]
    seconds: float
    cpu: float
    key: str
    deaths: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The same for bit-identical results, whatever the algorithms are called: a row may be renamed."""
        files = self.files | {"flows.csv": without_column(self.files.get("flows.csv", ""), "cc")}
        return places.digest(*(f"{name}\n{text}" for name, text in sorted(files.items())))


def without_column(text: str, name: str) -> str:
    """A table in CSV without one of its columns."""
    rows = [line.split(",") for line in text.splitlines()]
    if not rows or name not in rows[0]:
        return text
    at = rows[0].index(name)
    return "".join(",".join(row[:at] + row[at + 1 :]) + "\n" for row in rows)
