# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl's other verbs: status, show, set; and the manual."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import Pair, call, netnice, netnicectl, status
from testbed import program
from testbed.namespace import wait_until


@pytest.mark.usefixtures("fresh")
class TestStatus:
    def test_counts(self, pair: Pair) -> None:
        pair.connect(client=["netnice"])
        told = json.loads(pair.a.run("netnicectl", "status", "--json").stdout)
        assert told["condition"] == "up"
        assert told["same_build"]
        assert told["loaded"]["algorithms"] == ["netnice", "netnice1", "netnice2", "nice"]
        counts = {entry["algorithm"]: entry["count"] for entry in told["connections"]}
        assert counts == {"netnice": 1, "netnice1": 0, "netnice2": 0, "nice": 0}
        assert len(told["niceness"]["processes"]) == 1
        counters = told["niceness"]["counters"]
        assert (counters["active"], counters["marked"]) == (1, 1)
        assert counters["cc_failed"] == counters["mark_failed"] == 0
        human = pair.a.run("netnicectl", "status").stdout
        assert "connections on 'netnice' in this network namespace: 1" in human
        assert told["background"] == {"levels": [1, 0, 0], "with_attached": True}
        assert "processes in the background: 1 (level 0: 1, level 1: 0, level 2: 0)" in human.splitlines()
        assert "cgroup netnice/" not in human, "no process was moved to those"

    def test_metrics(self, pair: Pair) -> None:
        """Prometheus' text format: each family with its help and type, counters that end in _total."""
        pair.connect(client=["netnice"])
        lines = pair.a.run("netnicectl", "status", "--metrics").stdout.splitlines()
        for sample in (
            "netnice_up 1",
            'netnice_connections{algorithm="netnice"} 1',
            'netnice_opened_total{group="own"} 1',
            'netnice_marked_total{group="own"} 1',
            'netnice_processes{group="own"} 1',
            'netnice_processes{group="level0"} 0',
        ):
            assert sample in lines
        helped = {line.split()[2] for line in lines if line.startswith("# HELP ")}
        types = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE ")}
        samples = {line.partition(" ")[0].partition("{")[0] for line in lines if not line.startswith("#")}
        assert samples == helped == types.keys()
        assert {name for name, kind in types.items() if kind == "counter"} == {
            name for name in types if name.endswith("_total")
        }

    def test_a_congestion_control_that_cannot_be_set_is_counted(self, pair: Pair) -> None:
        """The link is gone behind our back: the policy still runs, and cannot do its work."""
        (kernel.LINKS / "sender-netnice").unlink()
        wait_until(lambda: "netnice" not in kernel.registered(), "the name to go")
        pair.connect(client=["netnice"])
        assert status()["niceness"]["counters"]["cc_failed"] == 1
        assert "kept their congestion control" in netnicectl("status").stdout


@pytest.mark.usefixtures("down")
def test_status_when_down() -> None:
    done = netnicectl("status", check=False)
    assert (done.returncode, done.stdout) == (3, "down; 'netnicectl up' loads it\n")
    assert json.loads(netnicectl("status", "--json", check=False).stdout)["condition"] == "down"
    assert "netnice_up 0" in netnicectl("status", "--metrics", check=False).stdout.splitlines()


@pytest.mark.usefixtures("up")
class TestParameters:
    def values(self) -> dict[str, int]:
        shown = json.loads(call("netnicectl", "show", "--json").stdout)
        return dict(shown["netnice"])

    def test_set_and_show(self) -> None:
        before = self.values()
        assert netnicectl("set", "netnice", "queue_limit=37", "own_queue=16").stderr == ""
        assert self.values() == {**before, "queue_limit": 37, "own_queue": 16}
        assert "queue_limit" in netnicectl("show").stdout

    def test_names_of_before(self) -> None:
        """Until 0.2, with a note each."""
        before = self.values()
        notes = netnicectl("set", "netnice", "threshold=37", "climb=3").stderr
        assert "'threshold' of netnice is called 'queue_limit' now" in notes
        assert "netnice has no 'climb' any more" in notes
        assert self.values() == {**before, "queue_limit": 37}

    def test_show_one(self) -> None:
        """An algorithm alone, or which one receives."""
        everything = json.loads(netnicectl("show", "--json").stdout)
        for name in ("netnice", "netnice2", "tide", "receiver"):
            assert json.loads(netnicectl("show", name, "--json").stdout) == {name: everything[name]}
            heads = [line for line in netnicectl("show", name).stdout.splitlines() if not line.startswith(" ")]
            assert heads == [name]
        for name, said in (("nnreno", "'nnreno' is not loaded"), ("bogus", "no algorithm is named 'bogus'")):
            done = netnicectl("show", name, check=False)
            assert (done.returncode, done.stdout) == (1, "")
            assert said in done.stderr

    def test_receivers(self) -> None:
        def shown() -> dict[str, dict[str, object]]:
            return dict(json.loads(netnicectl("show", "--json").stdout))

        before = shown()
        assert before["receiver"] == {"algorithm": "tide"}
        netnicectl("set", "tide", "target=5000", "floor=2")
        netnicectl("set", "receiver", "algorithm=vulture")
        assert shown() == {
            **before,
            "tide": {**before["tide"], "target": 5000, "floor": 2},
            "receiver": {"algorithm": "vulture"},
        }
        assert status()["receiver"]["algorithm"] == "vulture"
        assert "vulture" in netnicectl("show").stdout

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["tide", "target=5000", "floor=11"], "floor cannot be '11': it is a whole number (segments, 1 to 10)"),
            (["tide", "threshold=1"], "no parameter is named 'threshold'; there are: target, "),
            (["receiver", "algorithm=bogus"], "unknown receiver 'bogus'"),
            (["receiver", "target=5000"], "no parameter is named 'target'; there are: algorithm"),
            (["receiver", "algorithm=off", "algorithm=tide"], "name it once"),
        ],
    )
    def test_wrong_receivers(self, words: list[str], said: str) -> None:
        before = netnicectl("show", "--json").stdout
        done = netnicectl("set", *words, check=False)
        assert done.returncode == 1
        assert said in done.stderr
        assert netnicectl("show", "--json").stdout == before

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (
                ["netnice", "queue_limit=101"],
                "queue_limit cannot be '101': it is a whole number (percent of the RTT without queues, 0 to 100)",
            ),
            (["netnice", "queue_limit=much"], "queue_limit cannot be 'much': it is a whole number"),
            (["netnice", "bogus=1"], "no parameter is named 'bogus'; there are: queue_limit, "),
            (["bogus", "threshold=1"], "no algorithm is named 'bogus'"),
            (["nnreno", "threshold=1"], "'nnreno' is not loaded"),
        ],
    )
    def test_wrong_ones(self, words: list[str], said: str) -> None:
        before = self.values()
        done = netnicectl("set", *words, check=False)
        assert done.returncode == 1
        assert said in done.stderr
        assert self.values() == before

    def test_all_or_nothing(self) -> None:
        before = self.values()
        assert netnicectl("set", "netnice", "own_queue=2", "queue_limit=101", check=False).returncode == 1
        assert self.values() == before


@pytest.mark.usefixtures("down")
def test_parameters_when_down() -> None:
    for words in (["show"], ["set", "netnice", "alpha=1"], ["policy", "show"]):
        done = netnicectl(*words, check=False)
        assert done.returncode == 1
        assert "netnice is not up" in done.stderr


def test_usage_errors() -> None:
    assert netnicectl(check=False).returncode == 2
    assert netnicectl("set", "netnice", "alpha", check=False).returncode == 2
    assert "Manual: man netnicectl\n" in netnicectl("--help").stdout


ALGORITHMS = {
    *("netnice", "netnice1", "netnice2", "nice", "nicer0", "nicer1", "nicer2", "nnledbat", "nnledbatpp", "nnlp"),
    *("tide", "vulture", "rledbat"),
}


def test_the_list_names_what_there_is() -> None:
    listed = netnice("--list").stdout.splitlines()
    for name, paper in [("nnledbat", "RFC 6817"), ("nnlp", "INFOCOM 2003"), ("nicer2", "Alldrin")]:
        assert any(line.split()[:1] == [name] and paper in line for line in listed), name
    for name in ("tide", "vulture", "rledbat"):
        assert any(line.split()[:1] == [name] for line in listed), name


@pytest.mark.parametrize("words", [["--help"], ["up", "--help"], ["help", "up"], ["policy", "apply", "--help"]])
def test_help_fits_one_screen(words: list[str]) -> None:
    lines = netnicectl(*words).stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines == netnicectl(*["-h" if word == "--help" else word for word in words]).stdout.splitlines()


def test_manual_pages_and_completions(tmp_path: Path) -> None:
    call("netnice-manual", "man", str(tmp_path))
    for page in ("netnice.1", "netnicectl.8"):
        lines = (tmp_path / page).read_text().splitlines()
        told = {word for line in lines for word in line.split()[:2] if len(line.split()) > 2}
        assert told.issuperset(ALGORITHMS), page
    names = {path.name for path in tmp_path.iterdir()}
    assert {"netnice.1", "netnicectl.8", "netnicectl-up.8", "netnice-path.1", "netnice-measure.1"} <= names
    assert {"netnice.7", "policy.toml.5"} <= names
    call("netnice-manual", "completions", str(tmp_path))
    assert "nnledbatpp" in (tmp_path / "netnicectl.bash").read_text()
    assert "lowest" in (tmp_path / "netnice.bash").read_text()
    for name in ("netnice.bash", "netnicectl.bash", "netnice-path.bash", "netnice-measure.bash"):
        subprocess.run([program("bash"), "-n", str(tmp_path / name)], check=True)
