# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bars, and recorded results: what holds, which changes of the sources make a result stale, what a check says of it."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from netnice_lab import cli, places
from netnice_lab.engine import keys, machine
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.judgement import bars, check, recorded
from netnice_lab.judgement.bars import Outcome
from netnice_lab.judgement.recorded import Place
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Bar, Experiment, Row, describe
from netnice_lab.model.output import Output
from netnice_lab.model.scenario import Run, Scenario

HOLDS, FAILED, KNOWN_MISS = Outcome


def no_scenario(**_: object) -> Scenario:
    raise NotImplementedError


ONE = Experiment(
    title="t",
    claim="c",
    sweep={"protocol": ("a", "b")},
    scenario=no_scenario,
    figures=[],
    name="one",
    pinned={"latency": 0.1},
    bars=[Bar("b is no worse than twice a", "latency", {"protocol": "b"}, {"protocol": "a"}, maximum=2.0)],
)


def rows(a: float, b: float) -> list[Row]:
    found = [("a", 1, a), ("a", 2, a + 2), ("b", 1, b), ("b", 2, b + 2)]
    return [{"experiment": "one", "protocol": p, "seed": seed, "latency": value} for p, seed, value in found]


def outcomes(experiment: Experiment, found: list[Row]) -> list[Outcome]:
    return [verdict.outcome for verdict in bars.judge_all(experiment, found)]


def test_a_bar_that_is_broken_fails() -> None:
    assert outcomes(ONE, rows(100, 150)) == [HOLDS]
    assert outcomes(ONE, rows(100, 250)) == [FAILED]


def test_a_bar_of_two_metrics_is_the_larger_of_its_ratios() -> None:
    table = {"a": (10, 10), "b": (9, 9), "c": (11, 8), "d": (8, 12)}
    found: list[Row] = [{"protocol": p, "seed": 1, "time": t, "ping": g} for p, (t, g) in table.items()]
    values = {}
    for other in ("b", "c", "d"):
        bar = Bar(other, "time", {"protocol": other}, {"protocol": "a"}, or_metric="ping")
        measured = bars.measure(bar, found)
        assert measured
        values[other] = measured[0]
    assert values == pytest.approx({"b": 0.9, "c": 1.1, "d": 1.2}), "only b is better in both"


def test_a_bar_is_judged_on_the_mean_of_the_seeds_not_on_one() -> None:
    one = replace(ONE, bars=[Bar("b", "latency", {"protocol": "b"}, minimum=150.5, maximum=151.5)])
    assert outcomes(one, rows(100, 150)) == [HOLDS], "150 and 152"
    assert outcomes(one, rows(100, 151)) == [FAILED], "one of them is in"


def test_the_reason_of_a_bar_that_is_not_met_has_what_was_measured() -> None:
    bar = Bar("b", "latency", {"protocol": "b"}, maximum=9, holds=False, reason="{seeds} runs have {mean} ± {half}")
    (verdict,) = bars.judge_all(replace(ONE, bars=[bar]), rows(100, 150))
    assert verdict.outcome is KNOWN_MISS
    assert verdict.note.endswith("not to be met: 2 runs have 151 ± 13")


def test_a_known_miss_that_is_met_fails_until_it_is_promoted() -> None:
    found = replace(ONE, bars=[Bar("b", "latency", {"protocol": "b"}, maximum=150, holds=False)])
    assert outcomes(found, rows(100, 150)) == [KNOWN_MISS], "the mean of 150 and 152"
    (verdict,) = bars.judge_all(found, rows(100, 140))
    assert verdict.outcome is FAILED
    assert "promote" in verdict.note
    promoted = replace(ONE, bars=[replace(found.bars[0], holds=True)])
    assert outcomes(promoted, rows(100, 140)) == [HOLDS]


def test_fewer_seeds_than_a_bar_is_the_mean_of_promote_nothing() -> None:
    found = replace(ONE, bars=[Bar("b", "latency", {"protocol": "b"}, maximum=150, holds=False)])
    assert outcomes(found, [row for row in rows(100, 140) if row["seed"] == 1]) == [KNOWN_MISS]
    more = replace(found, more_seeds=[({"protocol": "b"}, 3)])
    assert outcomes(more, rows(100, 140)) == [KNOWN_MISS]


def test_a_number_that_a_run_lacks_is_no_number_of_its_bar() -> None:
    found = rows(100, 150)
    found[0]["latency"] = float("nan")
    measured = bars.measure(ONE.bars[0], found)
    assert measured and measured[2] == 1


NAME = "nice-fig3"
CELL = "protocol=nice-0.1 flows=16"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(places, "RECORDED", tmp_path)
    recorded.read_file.cache_clear()
    yield tmp_path
    recorded.read_file.cache_clear()


def runs(*digests: str) -> dict[Place, tuple[str, Row]]:
    """Seeds 1, 2, … of one cell."""
    rows: list[Row] = [{"digest": digest, "latency": 10.0 + at, "background": 1.0} for at, digest in enumerate(digests)]
    return {(NAME, CELL, seed): (f"key of {row['digest']}", row) for seed, row in enumerate(rows, 1)}


def test_what_is_recorded_is_read_again(empty: Path) -> None:
    one = catalogue.load(NAME)
    recorded.record([one], runs("a", "b"))
    found = recorded.read([one])
    assert {place: (one.key, one.digest) for place, one in found.items()} == {
        (NAME, CELL, 1): ("key of a", "a"),
        (NAME, CELL, 2): ("key of b", "b"),
    }
    assert found[NAME, CELL, 2].numbers["latency"] == 11.0


def test_recording_a_part_keeps_the_rest_and_drops_cells_that_are_no_more(empty: Path) -> None:
    one = catalogue.load(NAME)
    recorded.record([one], runs("a", "b"))
    recorded.record([one], {place: run for place, run in runs("x", "y").items() if place[2] == 2})
    assert [found.digest for found in recorded.read([one]).values()] == ["a", "y"]
    gone = {(NAME, "protocol=nice-0.1 flows=77", 1): runs("z")[NAME, CELL, 1]}
    recorded.record([one], gone)
    assert len(recorded.read([one])) == 2


def test_a_file_that_cannot_be_read_is_named(empty: Path) -> None:
    recorded.file_of(NAME).write_text("flows=1\n")
    with pytest.raises(LabError, match=r"cannot read(.|\n)*netnice-lab record"):
        recorded.read([catalogue.load(NAME)])


def test_every_recorded_result_is_of_a_cell_that_there_is() -> None:
    for file in places.RECORDED.glob("*.jsonl"):
        for entry in map(json.loads, file.read_text().splitlines()):
            one = catalogue.load(entry["experiment"])
            assert recorded.file_of(one.name) == file
            assert entry["cell"] in {describe(cell) for cell in one.cells()}
            assert all(len(values) == len(entry["runs"]) for values in entry["numbers"].values())


def test_a_digest_covers_every_byte_but_what_an_algorithm_is_called() -> None:
    files = {"flows.csv": "id,cc,bytes\n0,nice,5\n", "samples.csv": "flow,1\n"}
    usual = Output(files, 1.0, 1.0, "key")
    renamed = Output(files | {"flows.csv": "id,cc,bytes\n0,another,5\n"}, 2.0, 2.0, "other")
    assert usual.digest == renamed.digest
    for change in ({"flows.csv": "id,cc,bytes\n0,nice,6\n"}, {"samples.csv": "flow,2\n"}, {"udp.csv": ""}):
        assert Output(files | change, 1.0, 1.0, "key").digest != usual.digest


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, str], None]]:
    """A copy of the cores and shims to change: file, old text, new text."""
    for name in ("algorithms", "transport"):
        for file in places.sources(places.CLONE / name):
            (target := tmp_path / file.relative_to(places.CLONE)).parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    monkeypatch.setattr(places, "CORES", tmp_path / "algorithms")
    monkeypatch.setattr(places, "SHIMS", tmp_path / "transport")

    def change(file: str, old: str, new: str) -> None:
        text = (tmp_path / file).read_text()
        assert old in text
        (tmp_path / file).write_text(text.replace(old, new, 1))
        keys.sender.cache_clear()
        keys.receiver.cache_clear()

    keys.sender.cache_clear()
    keys.receiver.cache_clear()
    yield change
    keys.sender.cache_clear()
    keys.receiver.cache_clear()


def sender(core: str) -> str:
    return keys.sender((core,), ())


def test_a_change_of_one_core_makes_only_its_results_stale(sources: Callable[[str, str, str], None]) -> None:
    before = {core: sender(core) for core in ("nice", "netnice", "nnledbat")}
    sources("algorithms/sender/nice.h", "#endif", "static inline int nn_new(void) { return 1; }\n#endif")
    after = {core: sender(core) for core in before}
    assert {core for core in before if before[core] != after[core]} == {"nice"}


def test_a_row_of_the_table_is_its_algorithms_alone(sources: Callable[[str, str, str], None]) -> None:
    before = {core: sender(core) for core in ("nnledbat", "nnledbatpp")}
    sources("algorithms/sender/table.h", "X(nnledbat, ledbat, false, LEDBAT_PARAMS)", "X(nnledbat, ledbat, true, X)")
    assert sender("nnledbat") != before["nnledbat"]
    assert sender("nnledbatpp") == before["nnledbatpp"]


def test_what_all_cores_include_is_everybodys(sources: Callable[[str, str, str], None]) -> None:
    before = {core: sender(core) for core in ("nice", "nnreno")}
    sources("transport/sender/sender.c", "rs->prior_delivered", "0 + rs->prior_delivered")
    assert all(sender(core) != key for core, key in before.items())


def test_words_lines_and_names_of_files_make_no_result_stale(
    sources: Callable[[str, str, str], None], tmp_path: Path
) -> None:
    before = sender("nice"), keys.receiver(("tide",))
    sources("algorithms/sender/nice.h", "#endif", "/* a word\n * more */ // and another\n\n\n#endif")
    (tmp_path / "algorithms/sender/vegas.h").rename(tmp_path / "algorithms/sender/vegas2.h")
    for file in (tmp_path / "algorithms/sender").glob("*.h"):
        file.write_text(file.read_text().replace('#include "vegas.h"', '#include "vegas2.h"'))
    assert (sender("nice"), keys.receiver(("tide",))) == before


def test_a_receivers_change_leaves_the_others_and_the_senders(sources: Callable[[str, str, str], None]) -> None:
    before = keys.receiver(("tide",)), keys.receiver(("rledbat",)), sender("netnice")
    sources("algorithms/receiver/tide.h", "#endif", "static inline int nn_new(void) { return 1; }\n#endif")
    after = keys.receiver(("tide",)), keys.receiver(("rledbat",)), sender("netnice")
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True, True]


def test_a_string_that_looks_like_a_comment_stays() -> None:
    assert keys.plain('x = "/* no */"; // yes\n#define A \\\n  1 /* yes */\ny') == 'x = "/* no */"; \n#define A 1\ny '


def test_a_broken_core_moves_a_digest_and_the_same_core_does_not(
    built: Programs, no_kept_results: Path, bulk: Callable[..., Run]
) -> None:
    """A tolerance of 10 % would let the first of these through."""
    good = bulk("nice", 2, 10.0)
    first, second = (machine.execute(good, fresh=True).digest for _ in range(2))
    broken = machine.execute(replace(good, mutants=("acks-counted",))).digest
    assert first == second != broken


def test_a_check_runs_what_is_stale_and_names_what_moved(
    built: Programs, empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lab(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["netnice-lab", *words])
        return cli.main(), capsys.readouterr().out

    assert lab("record", "nice-fig7")[0] == 0
    junit = empty / "junit.xml"
    code, said = lab("check", "nice-fig7", "--junit", str(junit))
    assert code == 0 and " 0 of changed sources, " in said and " 0 again" not in said
    assert 'failures="0"' in junit.read_text()
    file = recorded.file_of("nice-fig7")
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    quick = {place[1] for place in check.quick_places([catalogue.load("nice-fig7")])}
    entry = next(entry for entry in entries if entry["cell"] in quick)
    entry["runs"][0] = [1, "another key", "another digest"]
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    recorded.read_file.cache_clear()
    code, said = lab("check", "nice-fig7")
    assert code == 1 and "other bytes than recorded" in said and " 1 of changed sources" in said


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [str(places.LAB / "netnice-lab"), "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lab:
        assert lab.stdout and lab.stderr
        lab.stdout.close()
        assert lab.stderr.read() == ""
    assert lab.returncode == 128 + signal.SIGPIPE


def test_a_core_that_is_none_is_refused_with_those_that_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["netnice-lab", "record", "--core", "nicest", "lbe-drift"])
    assert cli.main() == 2
    assert "choose from netnice, netnice1, netnice2, nice," in capsys.readouterr().err
