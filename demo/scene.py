# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What all scenes share: the ways of the background, progress, tables, bars, and what the command needs of a scene."""

from __future__ import annotations

import abc
import argparse
import contextlib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from testbed import Namespace, Path, TestbedError, netnice_up, require_root

if TYPE_CHECKING:  # matplotlib is slow to load and not needed before the end
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NONE = "–"
"""A cell with nothing to say."""

Kind = Literal["none", "plain", "netnice", "marked"]
Row = Sequence[str]
Report = Callable[[float, str], None]
"""Hears how far a run is, as a share and in words."""


@dataclass(frozen=True)
class Scenario:
    """One kind of background; its title is about {transfers}."""

    key: str
    title: str
    kind: Kind
    priority: bool = False


SCENARIOS = (
    Scenario("nothing", "nothing", "none"),
    Scenario("cubic", "plain {transfers} (CUBIC)", "plain"),
    Scenario("netnice", "netnice {transfers}", "netnice"),
    Scenario("priority", "ideal: priority queue", "marked", priority=True),
)
_BARS = {"cubic": ("plain (CUBIC)", "#c0504d"), "netnice": ("netnice", "#e8a33d"), "priority": ("ideal", "#0b6e99")}
_BAR_WIDTH = 0.26


class Outcome(Protocol):
    """What every run's result has."""

    @property
    def path_trusted(self) -> bool:
        """Whether the machine kept the path's time."""
        ...

    @property
    def path_reasons(self) -> list[str]:
        """Why not."""
        ...

    @property
    def name(self) -> str:
        """What to call the run in a remark."""
        ...


Result = TypeVar("Result", bound=Outcome)


@dataclass(frozen=True)
class Table(Generic[Result]):
    """One row a run; the first ``words`` columns are words, the others figures."""

    head: Row
    rows: Callable[[Sequence[Result]], Sequence[Row]]
    words: int = 2

    def plain(self, results: Sequence[Result]) -> str:
        """Aligned columns, for a terminal."""
        return aligned([self.head, *self.rows(results)])

    def markdown(self, results: Sequence[Result]) -> str:
        """The same for the scene's document."""
        return markdown(self.head, self.rows(results), words=self.words)


class Scene(abc.ABC, Generic[Result]):
    """Something to look at with each kind of background, made of the command's options."""

    #: What its options --scenarios and --loads choose from; each has a key.
    SCENARIOS: Sequence[Any] = SCENARIOS
    LOADS: Sequence[Any] = ()
    #: Without any of these it is not begun.
    PROGRAMS: Sequence[str] = ()
    #: Which of the other options mean something to it.
    OPTIONS: Sequence[str] = ("seconds", "seed")
    TABLE: Table[Result]
    conditions: Any

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.results: list[Result] = []

    @abc.abstractmethod
    def run(self) -> None:
        """All of it, one after the other."""

    @abc.abstractmethod
    def draw(self, file: File) -> None:
        """The picture."""

    @property
    def trusted(self) -> bool:
        """Whether the machine kept the paths' time."""
        return all(one.path_trusted for one in self.results)

    def record(self) -> dict[str, Any]:
        """All that came out, for machines."""
        results: list[Any] = list(self.results)
        return {"conditions": asdict(self.conditions), "runs": [asdict(one) for one in results]}

    def doubts(self) -> list[str]:
        """Why some of it is not to be believed; empty when all is."""
        return voids(self.results)

    def text(self) -> str:
        """The table."""
        return (self.TABLE.markdown if self.options.markdown else self.TABLE.plain)(self.results)


class Progress:
    """Progress on standard error: one moving line on a terminal, now and then a line elsewhere."""

    _WIDTH = 24
    _QUIET_STEP = 0.25

    def __init__(self, title: str) -> None:
        self._title = title
        self._terminal = sys.stderr.isatty()
        self._shown = -1.0

    def __call__(self, share: float, text: str) -> None:
        """Shows a share of 0 to 1."""
        if self._terminal:
            done = round(share * self._WIDTH)
            bar = "█" * done + "·" * (self._WIDTH - done)
            print(f"\r{self._title:<34} {bar} {text:<28}", end="", file=sys.stderr, flush=True)
        elif share >= self._shown + self._QUIET_STEP:
            self._shown = share
            print(f"{self._title}: {100 * share:.0f} % {text}", file=sys.stderr, flush=True)

    def end(self, text: str) -> None:
        """Replaces the line by what came out."""
        begin, pad = ("\r", self._WIDTH + 30) if self._terminal else ("", 0)
        print(f"{begin}{self._title:<34} {text:<{pad}}", file=sys.stderr, flush=True)


def guarded(name: str, work: Callable[[], int]) -> int:
    """The exit status of a command's work; 1 and a message if it could not be done."""
    try:
        require_root()
        return work()
    except TestbedError as error:
        print(f"\n{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted; everything is put away", file=sys.stderr)
        return 130


def drawn(name: str, draw: Callable[[File], None], file: File) -> bool:
    """Draws a picture, or says why there is none."""
    try:
        draw(file)
    except ImportError:
        print(f"{name}: matplotlib is missing, so there is no picture; './setup demo' brings it", file=sys.stderr)
        return False
    return True


def loaded(kind: Kind) -> AbstractContextManager[None]:
    """Netnice in the kernel for one run that needs it. Connections of an earlier run would still be siblings."""
    return netnice_up() if kind == "netnice" else contextlib.nullcontext()


def line(
    near: Namespace, far: Namespace, up_bps: int, down_bps: int, rtt_ms: int, buffer_ms: int, **options: Any
) -> Path:
    """A path with a drop-tail buffer of so long a time each way."""
    queue = [f"{buffer_bytes(bps, buffer_ms)}B" for bps in (up_bps, down_bps)]
    rate = (f"{up_bps}bit", f"{down_bps}bit")
    return Path(near, far, rate=rate, rtt=f"{rtt_ms}ms", queue=(queue[0], queue[1]), **options)


def buffer_bytes(bps: int, buffer_ms: int) -> int:
    """What a buffer of so long a time holds at this rate."""
    return bps * buffer_ms // 8000


def p95(values: Sequence[float]) -> float:
    """What one value in twenty exceeds."""
    ranked = sorted(values)
    return ranked[math.ceil(0.95 * len(ranked)) - 1] if ranked else math.inf


def voids(results: Sequence[Result]) -> list[str]:
    """Which runs' paths did not keep their time, and why."""
    return [f"VOID '{one.name}': {reason}" for one in results for reason in one.path_reasons]


def titled(title: str, one: Outcome) -> str:
    """A row's first cell."""
    return title if one.path_trusted else f"{title} (VOID)"


def pages_take(mean_ms: float, failed: int, alone_ms: float | None) -> str:
    """How long pages took, against pages alone where there is something to compare with."""
    if not math.isfinite(mean_ms):
        return "none came"
    against = f", × {mean_ms / alone_ms:.2f}" if alone_ms is not None else ""
    missing = f", {failed} never came" if failed else ""
    return f"{mean_ms:.0f} ms{against}{missing}"


def widths(lines: Sequence[Row]) -> list[int]:
    """Of the longest cell of each column."""
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def aligned(lines: Sequence[Row], *, words: int | None = None) -> str:
    """Columns two spaces apart, the first line the heading; all but the first ``words`` to the right, if given."""
    wide = widths(lines)
    left = len(wide) if words is None else words

    def cell(word: str, column: int) -> str:
        return word.ljust(wide[column]) if column < left else word.rjust(wide[column])

    return "\n".join("  ".join(cell(word, column) for column, word in enumerate(line)) for line in lines)


def markdown(head: Row, body: Sequence[Row], *, words: int = 2) -> str:
    """The first ``words`` columns are words, to the left; the others are figures, to the right."""
    lines = [head, (*["---"] * words, *["---:"] * (len(head) - words)), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(width: float, height: float) -> Figure:
    """An empty picture that needs no display; ImportError where there is no matplotlib."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("Agg")
    return Figure(figsize=(width, height), layout="constrained")


def bars(axes: Axes, loads: Sequence[str], values: Mapping[tuple[str, str], float], alone: float = 0) -> None:
    """A group of bars a load, by load and key of the scenario; ``alone`` is what there is with nothing beside."""
    for place, (kind, (title, colour)) in enumerate(_BARS.items(), -1):
        mine = {load: values[load, kind] for load in loads if math.isfinite(values.get((load, kind), math.inf))}
        at = [loads.index(load) + place * _BAR_WIDTH for load in mine]
        axes.bar(at, list(mine.values()), _BAR_WIDTH, label=title, color=colour)
    if alone:
        axes.axhline(alone, color="black", linewidth=0.9, linestyle="--", label="nothing beside")
