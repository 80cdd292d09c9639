# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Rows of tests/parts.toml, what each of them came to, and the report of a whole tier."""

import json
import os
import platform
import subprocess
import time
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

TOP = Path(__file__).resolve().parents[1]
#: A module of Rust's tests.
KNOWN_MISSES = "::known_misses::"
HISTORY = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netnice/history.jsonl"
EARLIER = 5
#: Characters of a line that says why.
MOST_REASON = 160


@dataclass(frozen=True)
class Part:
    """A row: a command, the tier that runs it and why, its lane and its limits."""

    name: str
    tier: str
    why: str
    lane: str
    minutes: float
    run: list[str]
    junit: str = ""
    root: bool = False
    alone: bool = False


@dataclass
class Result:
    """What a part came to; ``said`` is a failure that no test case reports."""

    passed: int = 0
    failures: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    said: str = ""
    wall: float = 0.0
    cpu: float = 0.0

    @property
    def failed(self) -> int:
        """Failed test cases, or one for what ``said`` names."""
        return len(self.failures) or int(bool(self.said))


def read_parts(table: Path) -> list[Part]:
    """The rows of ``table``, checked."""
    parts: list[Part] = []
    for row in tomllib.loads(table.read_text(encoding="utf-8"))["part"]:
        try:
            part = Part(**row)
        except TypeError as error:
            raise ValueError(f"{table}: row {row.get('name', '?')}: {error}") from error
        if part.tier not in {"test", "verify", "both"} or part.lane not in {"work", "machine"}:
            raise ValueError(f"{table}: row {part.name}: tier is test, verify or both; lane is work or machine")
        if part.name in {other.name for other in parts}:
            raise ValueError(f"{table}: two rows are named {part.name}")
        parts.append(part)
    return parts


def reason(case: ElementTree.Element) -> str:
    """The first line that a failed test case says."""
    for found in (*case.iter("failure"), *case.iter("error")):
        if lines := (found.get("message") or found.text or "").splitlines():
            return lines[0][:MOST_REASON]
    return ""


def judge(junit: Path | None, ending: str) -> Result:
    """Counts the test cases of a report, or one check without it; ``ending`` is empty for exit status 0.

    What did not run and finish has failed: a skipped test, a part of no test, a bad ending. An expected failure is a
    known miss: of Rust, a test in a module of that name, which has to panic.
    """
    result = Result()
    if junit is None:
        return Result(said=ending) if ending else Result(passed=1)
    try:
        cases = list(ElementTree.parse(junit).iter("testcase")) if junit.exists() else []
    except ElementTree.ParseError as error:
        return Result(said=ending or f"its report cannot be read: {error}")
    for case in cases:
        name = "::".join(word for word in (case.get("classname"), case.get("name")) if word)
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            result.failures.append(f"{name}: {why}" if (why := reason(case)) else name)
        elif skip is None and KNOWN_MISSES in name:
            result.missed.append(f"{name}: its reason stands above the test")
        elif skip is None:
            result.passed += 1
        elif skip.get("type") == "pytest.xfail":
            result.missed.append(f"{name}: {skip.get('message', '')}")
        else:
            result.failures.append(f"{name}: skipped: {skip.get('message', '')}")
    if not result.failures and (ending or not cases):
        result.said = ending or "it ran no test"
    return result


def described(one: dict[str, Any]) -> str:
    """A measurement in words: what it says, its value and its bar."""
    bars = [f"{word} {one[word]:g}" for word in ("least", "most") if one[word] is not None]
    bar = f" (bar: {' and '.join(bars)}{'' if one['met'] else ': missed'})" if bars else ""
    return f"{one['says']}: {one['value']:.4g} {one['unit']}{bar}"


def table(results: dict[str, Result]) -> str:
    """A row a part."""
    rows = ["| part | passed | failed | missed | wall s | CPU s |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, r in results.items():
        cells = (r.passed, r.failed, len(r.missed), f"{r.wall:.1f}", f"{r.cpu:.1f}")
        rows.append(f"| {' | '.join([f'{name:<20}', *(f'{cell:>6}' for cell in cells)])} |")
    return "\n".join(rows)


def failures(results: dict[str, Result]) -> list[str]:
    """What failed, a line each."""
    return [f"{n}: {one}" for n, r in results.items() for one in (*r.failures, *([r.said] if r.said else []))]


def known_misses(results: dict[str, Result]) -> list[str]:
    """The known misses, a line each."""
    return [f"{name}: {one}" for name, result in results.items() for one in result.missed]


def commit() -> str:
    """The clone's commit, and whether anything in it differs from that."""
    git = ["git", "-C", str(TOP)]
    found = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    dirty = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False).stdout
    return (found or "unknown") + (", changed" if dirty else "")


def lines_of(file: Path) -> list[dict[str, Any]]:
    """JSON lines, none where there is no file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def with_earlier(measured: Iterable[dict[str, Any]], now: str) -> list[dict[str, Any]]:
    """Measurements with their values of earlier runs, oldest first; appends them to the history."""
    history = lines_of(HISTORY)
    found = []
    for one in measured:
        same = [old["value"] for old in history if (old["nodeid"], old["says"]) == (one["nodeid"], one["says"])]
        found.append({**one, "earlier": same[-EARLIER:]})
    HISTORY.parent.mkdir(parents=True, exist_ok=True)
    with HISTORY.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"commit": now, **one}, ensure_ascii=False) + "\n" for one in measured)
    return found


def write_report(file: Path, tier: str, results: dict[str, Result], measured: Path, verdict: str) -> None:
    """Writes a report as Markdown, and the same beside it as JSON."""
    now = commit()
    measurements = with_earlier(lines_of(measured), now)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    about = {
        "commit": now,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "machine": f"{os.cpu_count()} cores, {memory:.1f} GiB",
        "ended": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "tier": tier,
        "verdict": verdict,
    }
    lines = [f"# {verdict}", "", *(f"- {name}: {value}" for name, value in about.items()), "", table(results), ""]
    missed_bars = [one for one in measurements if not one["met"]]
    for title, said in (
        ("Failed", failures(results)),
        ("Known misses", known_misses(results)),
        ("Measurements that miss their bar", [described(one) for one in missed_bars]),
        (
            "Measurements, with those of earlier runs",
            [f"{described(m)}; before: {', '.join(f'{v:.4g}' for v in m['earlier']) or 'none'}" for m in measurements],
        ),
    ):
        lines += [f"## {title}: {len(said)}", "", *(f"- {one}" for one in said), *([""] if said else [])]
    file.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    parts = {name: {**asdict(result), "failed": result.failed} for name, result in results.items()}
    whole = {**about, "parts": parts, "measurements": measurements}
    file.with_suffix(".json").write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
