# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
from pathlib import Path

import pytest

from netnice_lab.errors import LabError
from netnice_lab.model.tracelog import documents

SQUID = "983802878.9 45 10.0.0.1 TCP_MISS/200 4512 GET http://a/ - DIRECT/10.9.9.9 text/html\n"
CLF = '10.0.0.1 - - [05/Mar/2001:14:34:38 +0000] "GET / HTTP/1.0" 200 4512\n'
CSV = "time,bytes,client\n12.5,4512,one\n"


@pytest.mark.parametrize("text", [SQUID, CLF, CSV])
def test_every_format_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "log").write_text(text)
    (document,) = documents(tmp_path / "log")
    assert (document.at, document.size, document.client) == (0.0, 4512, 0)


def test_times_count_from_the_first_entry_whatever_the_order(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("20,100,b\n10,200,a\n")
    assert [(d.at, d.size, d.client) for d in documents(tmp_path / "log")] == [(0, 200, 0), (10, 100, 1)]


@pytest.mark.parametrize("bad", ["nonsense", "1,2", "x,2,3", "1,-5,c", "nan,5,c"])
def test_a_malformed_line_is_named_by_its_number(tmp_path: Path, bad: str) -> None:
    (tmp_path / "log").write_text(f"1,100,a\n# remark\n{bad}\n")
    with pytest.raises(LabError, match=r"log:3: malformed line"):
        documents(tmp_path / "log")


def test_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("what is this\n")
    with pytest.raises(LabError, match=r"log:1: unknown log format(.|\n)*Squid"):
        documents(tmp_path / "log")


def test_an_empty_or_missing_log_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("")
    with pytest.raises(LabError, match="no entries"):
        documents(tmp_path / "log")
    with pytest.raises(LabError, match="cannot read"):
        documents(tmp_path / "absent")
