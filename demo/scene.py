# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the demo's command needs of a scene."""

from __future__ import annotations

import abc
import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Scene(abc.ABC):
    """Something to look at with each kind of background, made of the command's options."""

    #: What its options --scenarios and --loads choose from; each has a key.
    SCENARIOS: Sequence[Any]
    LOADS: Sequence[Any] = ()
    #: Without any of these it is not begun.
    PROGRAMS: Sequence[str] = ()
    #: Which of the other options mean something to it.
    OPTIONS: Sequence[str] = ("seconds", "seed")

    @abc.abstractmethod
    def __init__(self, options: argparse.Namespace) -> None: ...

    @abc.abstractmethod
    def run(self) -> None:
        """All of it, one after the other."""

    @property
    @abc.abstractmethod
    def trusted(self) -> bool:
        """Whether the machine kept the paths' time."""

    @abc.abstractmethod
    def record(self) -> dict[str, Any]:
        """All that came out, for machines."""

    @abc.abstractmethod
    def doubts(self) -> list[str]:
        """Why some of it is not to be believed."""

    @abc.abstractmethod
    def text(self) -> str:
        """The table."""

    @abc.abstractmethod
    def draw(self, file: Path) -> None:
        """The picture."""
