# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import os
from pathlib import Path

import pytest

from netnice_lab import places
from netnice_lab.engine import kernel, programs
from netnice_lab.errors import LabError
from netnice_lab.model.parameters import Parameters


def test_the_module_and_the_ebpf_object_are_the_same_source() -> None:
    shims = [places.SHIMS / "sender" / "module" / "netnice.c", places.SHIMS / "sender" / "bpf" / "sender.bpf.c"]
    for shim in shims:
        assert '#include "../sender.c"' in shim.read_text()
    assert "#if" not in (places.SHIMS / "sender" / "sender.c").read_text()


def test_parameters_are_those_of_the_cores() -> None:
    parameters = Parameters.read()
    assert parameters.row("netnice", {}) == parameters.rows["netnice"]
    assert parameters.row("netnice", {"threshold": 7})[parameters.names.index("threshold")] == 7
    assert parameters.setting("netnice", {"threshold": 7, "fraction": 8}) == "netnice=threshold=7,fraction=8"
    with pytest.raises(LabError, match=r"netnice: threshold=101(.|\n)*0 to 100"):
        parameters.within("netnice", {"threshold": 101})
    with pytest.raises(LabError, match=r"no parameter 'treshold'(.|\n)*threshold"):
        parameters.row("netnice", {"treshold": 1})
    with pytest.raises(LabError, match="unknown algorithm"):
        parameters.row("ncie", {})


@pytest.mark.parametrize("tree", [places.CORES, places.SHIMS])
def test_every_header_of_cores_and_shims_is_watched(tree: Path) -> None:
    """A core may include any of them: delay.h of the receivers has ../tick.h."""
    watched = set(programs.sources())
    headers = {file for file in tree.rglob("*.[ch]") if not file.name.endswith(".mod.c")}
    assert headers and headers <= watched


def test_a_key_tells_files_of_one_name_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "CLONE", tmp_path)
    files = [tmp_path / "sender" / "flow.h", tmp_path / "receiver" / "flow.h"]
    keys = set()
    for first, second in (("a", "b"), ("b", "a")):
        for file, text in zip(files, (first, second), strict=True):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        keys.add(places.digest_tree(places.sources(tmp_path)))
    assert len(keys) == 2


def test_a_missing_kernel_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "find", lambda: None)
    with pytest.raises(LabError, match="netnice-lab build"):
        kernel.require()


def test_a_missing_compiler_without_root_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None if tool == "flex" else f"/bin/{tool}")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LabError, match=r"missing build tools: flex(.|\n)*sudo apt-get install flex"):
        kernel.ensure_tools(lambda stage, part: None)


def test_a_registry_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    apt_get, asked = tmp_path / "apt-get", tmp_path / "asked"
    apt_get.write_text(f"#!/bin/sh\necho \"$*\" >>{asked}\necho 'E: Unable to locate package' >&2\nexit 100\n")
    apt_get.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(places, "cache", lambda: tmp_path)
    with pytest.raises(LabError, match=rf"could not download {kernel.SOURCE_PACKAGE}(.|\n)*Unable to locate package"):
        kernel.download(lambda stage, part: None)
    words = [line.split() for line in asked.read_text().splitlines()]
    assert ["download" in words[0], "update" in words[1], "download" in words[2]] == [True] * 3
