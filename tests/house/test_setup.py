# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""setup as a person meets it, in a clone of its own with a PATH of stand-ins: nothing is installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.programs import PACKAGES

TOP = Path(__file__).resolve().parents[2]
# What setup may call besides the stand-ins; anything else on the machine is out of its sight.
PLAIN_TOOLS = (
    "sh",
    "sed",
    "awk",
    "grep",
    "cut",
    "tr",
    "cat",
    "dirname",
    "env",
    "mkdir",
    "rm",
    "chmod",
    "cp",
    "sort",
    "git",
    "sha256sum",
)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A clone on a machine that has plain tools, apt-get and no Rust; apt-get notes what it is asked."""
    clone, tools = tmp_path / "clone", tmp_path / "bin"
    shutil.copytree(TOP / "setup.d", clone / "setup.d")
    for name in ("setup", "Cargo.toml"):
        shutil.copy(TOP / name, clone / name)
    tools.mkdir()
    for name in PLAIN_TOOLS:
        (tools / name).symlink_to(shutil.which(name) or name)
    stand_in(tools, "id", "echo 0")
    stand_in(tools, "uname", "echo 6.12.5-amd64")
    stand_in(tools, "dpkg-query", "exit 1")
    stand_in(tools, "dpkg", "exit 1")
    stand_in(tools, "apt-cache", "echo '  Candidate: 1.63.0'")
    stand_in(tools, "apt-get", f'echo "$*" >>{tmp_path}/apt-log')
    return tmp_path


def stand_in(folder: Path, name: str, body: str) -> None:
    """A program that does only this."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def setup(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the clone's setup there."""
    environment = {"PATH": str(home / "bin"), "HOME": str(home), "POLICY_RC_D": str(home / "policy-rc.d")}
    return subprocess.run(
        [str(home / "clone/setup"), *words],
        env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def rows(table: str) -> list[tuple[str, str, str]]:
    """Goal, package and reason of each row of a table."""
    lines = (TOP / "setup.d" / table).read_text().splitlines()
    return [(goal, name, reason) for goal, name, reason in (row.split(None, 2) for row in lines if row[:1].isalpha())]


def test_help_names_the_commands(bare: Path) -> None:
    done = setup(bare, "--help")
    assert done.returncode == 0
    for goal in ("demo", "test", "verify"):
        assert f"\n  {goal} " in done.stdout


@pytest.mark.parametrize("words", [(), ("dance",), ("demo", "test"), ("--fast", "demo")])
def test_wrong_usage_is_2(bare: Path, words: tuple[str, ...]) -> None:
    done = setup(bare, *words)
    assert done.returncode == 2
    assert "Usage" in done.stderr


def test_without_yes_and_terminal_nothing_is_done(bare: Path) -> None:
    done = setup(bare, "build")
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert not (bare / "apt-log").exists()


def test_the_plan_names_each_package_and_why(bare: Path) -> None:
    done = setup(bare, "build")
    for goal, names, reason in rows("apt-packages"):
        shown = re.search(rf"^ *{re.escape(names.split('|')[0])} +{re.escape(reason)}$", done.stdout, re.MULTILINE)
        assert bool(shown) == (goal == "build")


def test_the_quick_tests_need_no_browser_and_verify_does(bare: Path) -> None:
    assert "chromium" not in setup(bare, "test").stdout
    assert "about 150 MB" in setup(bare, "test").stdout
    assert "a linter of prose" in setup(bare, "test").stdout
    assert "a linter of prose" not in setup(bare, "demo").stdout
    assert "chromium" in setup(bare, "verify").stdout


@pytest.mark.parametrize("goal", ["builder", "demo", "test", "verify"])
def test_each_lock_pins_its_goals_packages_by_hash(goal: str) -> None:
    text = (TOP / f"setup.d/locked/{goal}.txt").read_text()
    pinned = set(re.findall(r"^([\w.-]+==\S+)", text, re.MULTILINE))
    wanted = {re.split("[=<>]", name)[0] for of, name, _ in rows("python-packages") if goal in (of, "verify")}
    assert wanted <= {one.split("==")[0] for one in pinned}
    assert pinned <= set(re.findall(r"^([\w.-]+==\S+)", (TOP / "setup.d/locked/verify.txt").read_text(), re.MULTILINE))
    assert text.count("--hash=sha256:") >= len(pinned)


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A Python that only pretends: it makes environments, and notes the locks that pip is to install."""
    tools = tmp_path / "bin"
    tools.mkdir()
    pretend = f"""case "$*" in
*"-m venv"*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
*"pip install"*) echo "${{@: -1}}" >>{tmp_path}/installed ;;
esac"""
    stand_in(tools, "python3", pretend)
    (tools / "python3").write_text((tools / "python3").read_text().replace("#!/bin/sh", "#!/bin/bash"))
    return tmp_path


def test_the_environment_grows_by_goals_and_is_made_anew_for_another_lock(environment: Path) -> None:
    clone = environment / "clone"
    shutil.copytree(TOP / "setup.d", clone / "setup.d")

    def installed(goal: str) -> list[str]:
        parts = f". {clone}/setup.d/say.sh; . {clone}/setup.d/python.sh"
        script = f"HERE={clone} CACHE={environment}/cache GOAL={goal}; {parts}; make_venv"
        path = {"PATH": f"{environment}/bin:/usr/bin:/bin"}
        subprocess.run(["sh", "-euc", script], env=path, check=True, capture_output=True, timeout=60)
        file = environment / "installed"
        lines = [Path(line).stem for line in file.read_text().splitlines()] if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    assert [installed(goal) for goal in ("test", "test", "demo", "tools")] == [["builder", "test"], [], ["demo"], []]
    (clone / "setup.d/locked/test.txt").write_text("other==1\n")
    assert [installed(goal) for goal in ("test", "verify", "demo", "test")] == [["builder", "test"], ["verify"], [], []]


def test_vale_is_compiled_once_for_its_lock(tmp_path: Path) -> None:
    clone, tools = tmp_path / "clone", tmp_path / "bin"
    shutil.copytree(TOP / "setup.d", clone / "setup.d")
    tools.mkdir()
    build = f'echo built >>{tmp_path}/said; while [ "$1" != -o ]; do shift; done; echo >"$2"; chmod +x "$2"'
    stand_in(tools, "go", f"case $1 in env) echo go1.99.0 ;; *) {build} ;; esac")

    def compiled() -> str:
        parts = "".join(f". {clone}/setup.d/{part}.sh; " for part in ("say", "rust", "python", "vale"))
        script = f"HERE={clone} CACHE={tmp_path}/cache GOAL=test; {parts} make_vale"
        path = {"PATH": f"{tools}:/usr/bin:/bin"}
        subprocess.run(["sh", "-euc", script], env=path, check=True, capture_output=True, timeout=60)
        return (tmp_path / "said").read_text()

    assert [compiled(), compiled()] == ["built\n"] * 2
    (clone / "setup.d/locked/vale/go.sum").write_text("other\n")
    assert compiled() == "built\n" * 2
    assert not (tmp_path / "cache/vale/scratch").exists()


def test_every_program_of_the_tests_comes_from_a_package_that_setup_brings() -> None:
    brought = {name for _, names, _ in rows("apt-packages") for name in names.split("|")}
    everywhere = {"sh", "bash", "true", "sleep", "ls", "cat", "grep", "nice", "util-linux"}
    called = set()
    for part in ("tests/system", "testbed", "demo"):
        for file in (TOP / part).rglob("*.py"):
            called |= set(re.findall(r'\b(?:program|run|spawn)\(\s*"([\w.-]+)"', file.read_text()))
    ours = {name for name in called if name.startswith("netnice")} | {"nosuchprogram"}
    assert {"ip", "nginx", "ethtool"} <= called
    assert {PACKAGES.get(name, name) for name in called - ours} <= brought | everywhere


def test_too_old_a_rust_is_said_with_what_to_do(bare: Path) -> None:
    done = setup(bare, "--yes", "build")
    assert done.returncode == 1
    assert "1.63" in done.stderr
    assert "rustup.rs" in done.stderr


def test_newer_packages_under_other_names_are_taken(bare: Path) -> None:
    stand_in(bare / "bin", "apt-cache", 'case $2 in *-web) v=1.96.0+x ;; *) v=1.63.0 ;; esac; echo "  Candidate: $v"')
    setup(bare, "--yes", "build")
    log = (bare / "apt-log").read_text()
    assert "rustc-web cargo-web" in log
    assert "clippy" not in log


def test_too_old_a_kernel_is_said_before_anything_is_installed(bare: Path) -> None:
    stand_in(bare / "bin", "uname", "echo 6.1.0-30-amd64")
    done = setup(bare, "--yes", "demo")
    assert done.returncode == 1
    assert "needs 6.4" in done.stderr
    assert not (bare / "apt-log").exists()
    assert "cannot run on this Linux 6.1" in setup(bare, "--yes", "build").stdout


def test_an_untested_kernel_is_said_to_be_one(bare: Path) -> None:
    stand_in(bare / "bin", "uname", "echo 6.6.0-1-amd64")
    assert "never loaded on Linux 6.6" in setup(bare, "--yes", "build").stdout


def test_a_new_daemon_is_disabled_and_never_started(bare: Path) -> None:
    stand_in(
        bare / "bin", "apt-get", f'echo "$*" >>{bare}/apt-log; [ $2 = update ] || cp {bare}/policy-rc.d {bare}/policy'
    )
    enabled = f"echo old.service enabled; if [ -e {bare}/policy ]; then echo served.service enabled; fi"
    stand_in(
        bare / "bin", "systemctl", f'if [ $1 = list-unit-files ]; then {enabled}; else echo "$*" >>{bare}/disabled; fi'
    )
    setup(bare, "--yes", "build")
    assert (bare / "disabled").read_text() == "--quiet disable served.service\n"
    assert "exit 101" in (bare / "policy").read_text()
    assert not (bare / "policy-rc.d").exists()


def test_a_failing_apt_is_not_hidden(bare: Path) -> None:
    stand_in(bare / "bin", "apt-get", "echo E: broken >&2; exit 100")
    done = setup(bare, "--yes", "build")
    assert done.returncode == 1
    assert "apt-get update failed" in done.stderr


def test_no_root_and_no_sudo_is_said(bare: Path) -> None:
    stand_in(bare / "bin", "id", "echo 1000")
    done = setup(bare, "--yes", "build")
    assert done.returncode == 1
    assert "sudo is not installed" in done.stderr
    assert "apt-get install --no-install-recommends ca-certificates make" in done.stderr
    assert not (bare / "apt-log").exists()


@pytest.mark.parametrize(
    ("goal", "hook", "expected"),
    [
        *((goal, 1, "hooks\n") for goal in ("test", "verify", "tools")),
        *((goal, 1, "") for goal in ("build", "demo")),
        ("test", 0, ""),
    ],
)
def test_the_hook_is_this_clones_alone(bare: Path, goal: str, hook: int, expected: str) -> None:
    """A machine that only builds has no linters that it could run."""
    clone = bare / "clone"
    quiet = os.environ | {"HOME": str(bare), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(clone), "init", "-q"], check=True, env=quiet)
    parts = "".join(f". {clone}/setup.d/{part}.sh; " for part in ("say", "apt", "hook"))
    script = f"HERE={clone} GOAL={goal} HOOK={hook}; {parts} install_hook"
    for _ in range(2):
        subprocess.run(["sh", "-euc", script], env=quiet, check=True, capture_output=True, timeout=60)
    assert hooks_of(clone, quiet) == expected
    assert not (bare / ".gitconfig").exists()


def test_a_build_leaves_the_clones_hooks_alone(bare: Path) -> None:
    clone = bare / "clone"
    quiet = os.environ | {"HOME": str(bare), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(clone), "init", "-q"], check=True, env=quiet)
    stand_in(bare / "bin", "make", "exit 0")
    stand_in(bare / "bin", "rustc", "echo rustc 1.99.0")
    stand_in(bare / "bin", "cargo", "echo cargo 1.99.0")
    stand_in(bare / "bin", "dpkg-query", "echo installed")
    done = setup(bare, "--yes", "build")
    assert done.returncode == 0
    assert "hook" not in done.stdout + done.stderr
    assert hooks_of(clone, quiet) == ""
    assert not (bare / ".gitconfig").exists()


def hooks_of(clone: Path, environment: dict[str, str]) -> str:
    """What git has as this clone's folder of hooks."""
    words = ["git", "-C", str(clone), "config", "--local", "core.hooksPath"]
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False).stdout
