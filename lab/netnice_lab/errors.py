# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a user is told when something cannot be done."""


class LabError(Exception):
    """A failure the user can act on: what happened, why, what to do."""

    def __init__(self, what: str, why: str = "", do: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.do = do

    def __str__(self) -> str:
        lines = [self.what]
        if self.why:
            lines.append(f"  because: {self.why}")
        if self.do:
            lines.append(f"  do this: {self.do}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[type["LabError"], tuple[str, str, str]]:
        return type(self), (self.what, self.why, self.do)
