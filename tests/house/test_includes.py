# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""No C file includes another that includes it, at whatever remove; and the search finds one that does."""

from pathlib import Path

from lint import includes

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("algorithms", "bindings", "crates", "lab", "tests", "transport")


def test_no_file_includes_itself_by_way_of_others() -> None:
    found = includes.includes(ROOT, FOLDERS)
    assert len(found) > 60
    assert found["algorithms/sender/connection.h"] >= {"algorithms/sender/hooks.h", "algorithms/common/verifier.h"}
    assert includes.circle(found) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    for name, text in {"a/one.h": '#include "../b/two.h"\n', "b/two.h": '# include "../a/one.h"\n'}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    assert set(includes.circle(includes.includes(tmp_path, ("a", "b")))) == {"a/one.h", "b/two.h"}
