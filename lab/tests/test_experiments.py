# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from experiments.tcp_nice.section4 import DEMAND, PACKET, paper
from netnice_lab import cli, places
from netnice_lab.commands import parse_only
from netnice_lab.engine import sweep
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.model import catalogue
from netnice_lab.model.output import Output
from netnice_lab.model.protocols import protocol
from netnice_lab.model.topology import Queue
from netnice_lab.model.traffic import Bulk

PAPER = {"nice-fig2", "nice-fig3", "nice-fig4", "nice-fig5", "nice-fig6", "nice-fig7", "nice-theorem1"}


def test_every_figure_of_the_paper_is_there() -> None:
    assert set(catalogue.names()) >= PAPER | {"window-floor", "fraction", "pareto-udp", "rate-limited"}


@pytest.mark.parametrize("spare", [0.25, 1.0, 4.0])
def test_the_network_of_section_4_1(spare: float) -> None:
    made = paper("reno", spare=spare)
    (narrow,) = (link.forward for link in made.topology.links if link.forward.rate)
    assert narrow.rate == (1 + spare) * DEMAND
    assert narrow.queue == Queue("fifo", packets=round(narrow.rate * 0.1 / 8 / PACKET)), "a bandwidth-delay product"
    assert {link.mtu for link in made.topology.links} == {PACKET} == {512}
    delays = {link.a: link.forward.delay + link.back.delay for link in made.topology.links}
    assert delays == {"www": 100_000, "bulk": 100_000, "router": 0}, "50 ms each way"
    (flows,) = (one for one in made.traffic if isinstance(one, Bulk))
    assert (flows.flows, flows.rate, flows.bytes, flows.stop) == (16, 0, 0, 0.0), "backlogged for ever"


@pytest.mark.parametrize("name", catalogue.names())
def test_every_cell_renders_and_every_bar_names_a_cell(name: str) -> None:
    found = catalogue.load(name)
    cells = found.cells()
    for cell in cells:
        assert found.at(cell, 1).render().plan
    for bar in found.bars:
        for wanted in (bar.cell, bar.over or {}):
            assert any(wanted.items() <= cell.items() for cell in cells), (bar.says, wanted)
    assert len({bar.id for bar in found.bars}) == len(found.bars), "ids of bars are unique"
    for timeline in found.timelines:
        assert any(timeline.cell.items() <= cell.items() for cell in cells), timeline.cell


def test_cells_of_which_one_run_says_little_get_more() -> None:
    found = replace(catalogue.load("vulture-fig15"), seeds=2, more_seeds=[({"receiver": "vulture"}, 5)])
    runs = Counter(task.cell["receiver"] for task in sweep.tasks([found]))
    assert runs == {"tide": 2, "vulture_jiffies": 2, "vulture": 5, "rledbat": 2}
    assert Counter(task.cell["receiver"] for task in sweep.tasks([found], seeds=3))["vulture"] == 3
    assert {task.seed for task in sweep.tasks([found], quick=True)} == {1}
    noisy = replace(found, more_seeds=[({"receiver": "tide"}, 5)])
    assert {task.seed for task in sweep.tasks([noisy], quick=True)} == {1, 2, 3, 4, 5}


def test_figures_3_and_4_are_the_same_runs() -> None:
    three, four = (sweep.tasks([catalogue.load(name)], seeds=1) for name in ("nice-fig3", "nice-fig4"))
    assert [t.run for t in three] == [t.run for t in four]


def test_an_unknown_experiment_key_or_value_says_what_there_is() -> None:
    with pytest.raises(LabError, match=r"unknown experiment 'nice-fig99'(.|\n)*nice-fig2"):
        catalogue.load("nice-fig99")
    found = catalogue.load("nice-fig3")
    with pytest.raises(LabError, match=r"no key 'flow'(.|\n)*flows"):
        found.cells({"flow": ["1"]})
    with pytest.raises(LabError, match="'many' is no value of 'flows'"):
        found.cells({"flows": ["many"]})
    with pytest.raises(LabError, match="unknown protocol 'renoo'"):
        protocol("renoo")


def test_only_takes_several_keys_and_values_beyond_the_sweep() -> None:
    chosen = parse_only("protocol=nice-0.05,reno,flows=3")
    assert chosen == {"protocol": ["nice-0.05", "reno"], "flows": ["3"]}
    cells = catalogue.load("nice-fig3").cells(chosen)
    assert cells == [{"protocol": "nice-0.05", "flows": 3}, {"protocol": "reno", "flows": 3}]
    with pytest.raises(LabError, match="has no key"):
        parse_only("16")


NEW = """# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
from experiments.frontier import today
from netnice_lab.model.experiment import Experiment

toy = Experiment(
    title="Toy", claim="None.", sweep={"protocol": ("cubic",)}, figures=[], seeds=1,
    scenario=lambda protocol, seed: today(protocol, rate=5.0, flows=1, duration=15.0, seed=seed),
)
EXPERIMENTS = {"toy": toy}
"""


def new_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """experiments/ with a file of one experiment, which runs beside those that are there."""
    monkeypatch.setattr(places, "EXPERIMENTS", folder / "experiments")
    monkeypatch.syspath_prepend(folder)
    (folder / "experiments").mkdir()
    (folder / "experiments" / "toys.py").write_text(NEW)


def test_a_new_experiment_is_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_file(tmp_path, monkeypatch)
    assert catalogue.names() == ["toy"]
    assert [task.name for task in sweep.tasks([catalogue.load("toy")])] == ["toy protocol=cubic seed=1"]


def test_no_name_is_of_two_experiments() -> None:
    names = [name for _, module in catalogue.modules() for name in getattr(module, "EXPERIMENTS", {})]
    assert sorted(names) == catalogue.names()


def test_a_new_experiment_is_listed_and_run(
    built: Programs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    new_file(tmp_path, monkeypatch)
    for words in (["list"], ["run", "toy"]):
        monkeypatch.setattr("sys.argv", ["netnice-lab", *words])
        assert cli.main() == 0
    listed, ran = capsys.readouterr().out.split("keys: protocol")
    assert "toy" in listed and "1 runs  Toy" in listed
    assert "cubic" in ran and "latency" in ran


class Instant:
    """Runs nothing."""

    def map(self, tasks: Sequence[sweep.Task], limit: float) -> Iterator[tuple[sweep.Task, Output]]:
        """What a guest gave that has left no line."""
        return ((task, Output({}, limit, 0.0, "key")) for task in tasks)


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_is_lines_where_no_terminal_shows_a_bar(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "SAYS", 0.0)
    said, task = Console(file=io.StringIO(), force_terminal=terminal), sweep.Task("t", {}, 1, paper("none").render())
    assert len(list(sweep.boot_guests([task, task], Instant(), 1.0, said))) == 2
    assert isinstance(said.file, io.StringIO)
    assert ("1 of 2 guests, now t\n2 of 2 guests, now t\n" in said.file.getvalue()) is not terminal


def test_messages_need_a_gap() -> None:
    assert Bulk("a", "b", 1, "reno", messages=3, message=10, gap=0.1).gap
    with pytest.raises(LabError, match="3 messages with no gap"):
        Bulk("a", "b", 1, "reno", messages=3, message=10)
