# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One HTML page: every figure beside the paper's statement, what differs, and every bar with our number."""

import html
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from netnice_lab.engine.sweep import Task
from netnice_lab.judgement import bars
from netnice_lab.model.experiment import Experiment
from netnice_lab.model.output import Output
from netnice_lab.publishing import plot

Runs = Sequence[tuple[Task, Output]]

STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
section{border-top:1px solid #ccc;padding:1em 0}figure{margin:1em 0}svg{max-width:100%;height:auto}
table{border-collapse:collapse;font-size:13px}td,th{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}blockquote{border-left:3px solid #9ab;margin:0;padding-left:1em}
.bad{color:#b00;font-weight:bold}.open{color:#850}
"""


def number(value: float | None) -> str:
    """A number, or a dash."""
    return "–" if value is None else f"{value:.3f}"


def bar_table(experiment: Experiment, frame: pd.DataFrame) -> str:
    """The bars of an experiment with our values."""
    verdicts = bars.judge_all(experiment, frame.to_dict("records"))
    if not verdicts:
        return ""
    bad, open_ = bars.Outcome.FAILED, bars.Outcome.KNOWN_MISS
    rows = "".join(
        f"<tr><td>{html.escape(v.bar.says)}</td><td class='{'bad' if v.outcome is bad else ''}'>{number(v.value)}</td>"
        f"<td>{number(v.bar.minimum)}</td><td>{number(v.bar.maximum)}</td>"
        f"<td class='{'open' if v.outcome is open_ else ''}'>{html.escape(v.note)}</td></tr>"
        for v in verdicts
    )
    return f"<table><tr><th>statement<th>ours<th>at least<th>at most<th></tr>{rows}</table>"


def value_table(experiment: Experiment, frame: pd.DataFrame) -> str:
    """The plotted numbers, mean over the seeds."""
    parts = []
    if experiment.derive:
        frame = experiment.derive(frame)
    for figure in experiment.figures:
        if figure.y not in frame:
            continue
        index = [figure.series] + ([figure.panel] if figure.panel else [])
        table = frame.pivot_table(index=index, columns=figure.x, values=figure.y, sort=False)
        parts.append(
            f"<details><summary>{html.escape(figure.y_label)}</summary>"
            + table.round(3).to_html(border=0)
            + "</details>"
        )
    return "".join(parts)


def section(experiment: Experiment, frame: pd.DataFrame, runs: Runs, directory: Path) -> str:
    """One experiment."""
    pictures = "".join(
        f"<figure>{path.read_text().partition('<svg')[1]}{path.read_text().partition('<svg')[2]}</figure>"
        for path in plot.draw(experiment, frame, directory) + plot.draw_timelines(experiment, runs, directory)
        if path.suffix == ".svg"
    )
    differs = f"<p><b>What differs here:</b> {html.escape(experiment.differs)}</p>" if experiment.differs else ""
    counts = frame.groupby(list(experiment.sweep)).seed.nunique()
    seeds = " to ".join(str(count) for count in sorted({counts.min(), counts.max()}))
    return (
        f"<section id='{experiment.name}'><h2>{html.escape(experiment.title)}</h2>"
        f"<p><code>lab/netnice-lab run {experiment.name}</code> · {seeds} seeds · {len(frame)} runs</p>"
        f"<blockquote>{html.escape(experiment.claim)}</blockquote>{differs}{pictures}"
        f"{bar_table(experiment, frame)}{value_table(experiment, frame)}</section>"
    )


def write(results: Iterable[tuple[Experiment, pd.DataFrame]], runs: Runs, path: Path) -> None:
    """The whole page; figures are inside it."""
    figures = path.parent / "figures"
    sections = [section(experiment, frame, runs, figures) for experiment, frame in results]
    path.write_text(
        f"<!doctype html><meta charset=utf-8><title>netnice lab</title><style>{STYLE}</style>"
        "<h1>The papers' experiments on the real Linux TCP stack</h1>"
        "<p>Every line is the mean over the seeds, the band their range.</p>"
        "<p>What the lab cannot show is in lab/README.md.</p>" + "".join(sections)
    )
