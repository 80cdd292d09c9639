# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Deliberately broken cores and links: the unit tests of their crates must fail for each.

The copies of the crates, one as it is and one a mutant, are one workspace, which cargo compiles once. The lab's own
mutants are in netnice_lab.engine.faults.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netnice_lab.engine.faults import Mutant

pytestmark = [
    pytest.mark.verify("tests that test tests; cargo compiles 25 copies of two crates"),
    pytest.mark.timeout(600),
]

TOP = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or TOP / "target")
SENDER, RECEIVER = "algorithms/sender", "algorithms/receiver"
DECIDE, PATH, POLICE, REPORT, NETNICE = (
    f"algorithms/netnice/{name}.h" for name in ("decide", "path", "police", "report", "sender")
)
#: By the suite of crates/cores/tests that must notice.
CORES = {
    "netnice_rules": (
        Mutant(
            "netnice-never-cuts",
            "however many segments met congestion",
            REPORT,
            "(u64)r->slow * 100 > (u64)r->seen * p[NN_P_fraction];",
            "(u64)r->slow * 100 > (u64)r->seen * p[NN_P_fraction] && !p;",
        ),
        Mutant(
            "lone-segments-tell",
            "the RTT of a segment that flew alone is a sample as others are",
            NETNICE,
            "if (rtt && ack->flags & NN_LONE && !flow->win.single)",
            "if (rtt && !ack)",
        ),
        Mutant(
            "false-losses-tell",
            "the limit stays that of a loss which was none",
            NETNICE,
            "own->depth = NN_NO_DEPTH;\n\town->state.full = nn_max(",
            "own->state.full = nn_max(",
        ),
    ),
    "decision": (
        Mutant(
            "long-queues-drain",
            "a first queue is the flow's own, however long",
            DECIDE,
            "if (m->probing || (shorter && !m->drained))",
            "if (m->probing || shorter || !m->drained)",
        ),
        Mutant(
            "never-refuted",
            "a return that meets congestion leaves the remembered window",
            DECIDE,
            "m->full /= 2;",
            "m->full -= 0;",
        ),
    ),
    "levels": (
        Mutant(
            "own-packets-are-a-queue",
            "the limit has nothing of what own segments take at the bottleneck",
            REPORT,
            "own = (u32)((u64)r->packet * own >> 4);",
            "own = 0 * own;",
        ),
        Mutant(
            "siblings-grow-alone",
            "each of a host's flows adds what one would",
            DECIDE,
            "(p[NN_P_band_packets] << (NN_SHIFT - 4)) / r->siblings);",
            "p[NN_P_band_packets] << (NN_SHIFT - 4));",
        ),
    ),
    "police": (
        Mutant(
            "any-loss-is-a-policers",
            "of one segment, too",
            POLICE,
            "r->lost >= NN_POLICED_LOST && ",
            "",
        ),
        Mutant(
            "a-policer-for-ever",
            "no queue ends it",
            POLICE,
            "\twin->policed = 0;\n\tm->patience = 0;\n",
            "\twin->policed |= 0;\n",
        ),
        Mutant(
            "trials-are-others-losses",
            "a trial that was lost is another flow's",
            POLICE,
            "bool tried = m->tried || first;",
            "bool tried = first;",
        ),
    ),
    "netnice_paths": (
        Mutant(
            "excess-is-kept",
            "no flow gives up what it has above its siblings' mean",
            DECIDE,
            "win->w - (win->w - r->mean) / NN_EXCESS",
            "win->w",
        ),
    ),
    "estimators": (
        Mutant(
            "hasty-trial",
            "half a second of a still queue is a longer route",
            PATH,
            "#define NN_TRIAL_STILL_US 5000000u",
            "#define NN_TRIAL_STILL_US 500000u",
        ),
        Mutant(
            "last-pair",
            "a packet's time is the last pair's spacing",
            PATH,
            "return spacing < packet ? nn_max(packet - (packet / 16 + 1), spacing) : packet + packet / 32 + 1;",
            "return spacing;",
        ),
        Mutant(
            "losses-tell-nothing",
            "a loss tells nothing of the buffer",
            NETNICE,
            "own->depth = (u16)nn_min(own->depth, queue);",
            "own->depth = (u16)nn_max(own->depth, queue);",
        ),
    ),
    "ledbat_rules": (
        Mutant(
            "ledbat-microscopic",
            "the target is a hundredth of what it says",
            SENDER,
            "return nn_min(nn_max(p[NN_P_target], 1), 1000) * 1000;",
            "return nn_min(nn_max(p[NN_P_target], 1), 1000) * 10;",
        ),
    ),
    "receiver": (
        Mutant(
            "tide-keeps-all",
            "the window is the path's share of itself, whatever the queue",
            RECEIVER,
            "return nn_max((u32)(w * base / (base + queue)), flow->floor);",
            "return nn_max((u32)(w * base / (base + 0 * queue)), flow->floor);",
        ),
        Mutant(
            "tide-for-itself",
            "each of a host's downloads creeps as if it were alone",
            RECEIVER,
            "return nn_max(flow->siblings, 1);",
            "return 1 + 0 * flow->siblings;",
        ),
        Mutant(
            "tide-blind",
            "a standing queue is no reason to yield",
            RECEIVER,
            "if (queue > target || (round->lost",
            "if (!p || (round->lost",
        ),
        Mutant(
            "vulture-never-halves",
            "delays that grow are not believed",
            RECEIVER,
            "if (8ull * (aggressive ? v->high[1] : v->high[0]) > alpha)",
            "if (8ull * (aggressive ? v->high[1] : v->high[0]) > alpha && !p)",
        ),
    ),
}


LINK, BUFFER = "crates/link/src/link/mod.rs", "crates/link/src/link/buffer.rs"
#: Of crates/path/src/link.
LINKS = [
    Mutant(
        "rate-too-high",
        "a byte has seven bits",
        LINK,
        "u128::from(bytes) * 8_000_000_000",
        "u128::from(bytes) * 7_000_000_000",
    ),
    Mutant(
        "rate-drifts",
        "what a service time was rounded down by is lost",
        LINK,
        "+ u128::from(self.carry)",
        "+ 0",
    ),
    Mutant(
        "no-delay",
        "a packet is handed over as soon as it is served",
        LINK,
        "due: departure + self.spec.delay",
        "due: departure",
    ),
    Mutant(
        "idle-while-late",
        "service starts when somebody looks, not when it is due",
        LINK,
        "self.serve_next(departure);",
        "self.serve_next(now);",
    ),
    Mutant(
        "head-drop",
        "lower effort makes room from the head of its queue",
        BUFFER,
        "self.bands[1].pop_back()",
        "self.bands[1].pop_front()",
    ),
    Mutant(
        "one-too-many",
        "the packet in service has no part in the limit",
        BUFFER,
        "occupied.packets < most",
        "occupied.packets <= most",
    ),
    Mutant(
        "no-priority",
        "lower effort waits with the rest",
        BUFFER,
        "self.priority && packet.class == Class::LowerEffort",
        "false",
    ),
]


#: Copies of crates by name: the tests that must notice, and what is broken, which is nothing in a crate as it is.
COPIES: dict[str, tuple[str, list[str], Mutant | None]] = {
    "cores": ("cores", [*CORES], None),
    **{one.name: ("cores", [suite], one) for suite, found in CORES.items() for one in found},
    "link": ("link", [], None),
    **{one.name: ("link", [], one) for one in LINKS},
}


def copied(name: str, to: Path) -> None:
    """A file or folder of the tree, as new as the copy is: cargo goes by times."""
    copy = shutil.copyfile
    copy(TOP / name, to) if (TOP / name).is_file() else shutil.copytree(TOP / name, to, copy_function=copy)


#: Of a Rust file, with its comment.
_MODULE = re.compile(r"(?ms)^(?:///[^\n]*\n)*mod (\w+)(?:;| \{.*?^\})\n")


def _one_of(names: set[str]) -> Callable[[re.Match[str]], str]:
    return lambda module: module[0] if module[1] in names else ""


def used(tests: Path, suites: list[str]) -> set[str]:
    """These suites, and the modules that they use."""
    found: set[str] = set()
    left = [*suites]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            files = [tests / f"{name}.rs", *(tests / name).glob("*.rs")]
            left += re.findall(r"\bcrate::(\w+)", "".join(file.read_text() for file in files if file.exists()))
    return found


def copied_cores(folder: Path, suites: list[str]) -> None:
    """The cores' crate with these suites of its tests, and the headers that it compiles."""
    for name in ("algorithms", "crates/build", "crates/cores"):
        copied(name, folder / name)
    shutil.rmtree(folder / "crates/cores/examples")
    main = folder / "crates/cores/tests/main.rs"
    main.write_text(_MODULE.sub(_one_of(used(main.parent, suites)), main.read_text()))
    manifest = folder / "crates/cores/Cargo.toml"
    text = manifest.read_text().replace('name = "netnice-cores"', f'name = "{folder.name}"', 1)
    manifest.write_text(text + '\n[lib]\nname = "netnice_cores"\n')


def copied_link(folder: Path, _: list[str]) -> None:
    """The link, which is pure code, as a crate of its own."""
    crate = folder / "crates/link"
    (crate / "src").mkdir(parents=True)
    for name in ("link", "class.rs"):
        copied(f"crates/path/src/{name}", crate / "src" / name)
    (crate / "src/lib.rs").write_text("pub mod class;\npub mod link;\n")
    (crate / "Cargo.toml").write_text(
        f'[package]\nname = "{folder.name}"\nversion = "0.0.0"\nedition = "2021"\n'
        "[dependencies]\nfastrand.workspace = true\nserde.workspace = true\n"
        "[dev-dependencies]\nproptest.workspace = true\n"
    )


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    """By copy: the last line of what its tests say."""
    folder = TARGET / "mutants"
    shutil.rmtree(folder, ignore_errors=True)
    for name, (crate, suites, mutant) in COPIES.items():
        (copied_cores if crate == "cores" else copied_link)(folder / name, suites)
        if mutant:
            mutant.apply(folder / name)
    members = 'members = ["*/crates/cores", "*/crates/link"]'
    manifest, found = re.subn(r"(?m)^members = .*$", members, (TOP / "Cargo.toml").read_text())
    assert found == 1, "the workspace lists its members in one line"
    quickly = "".join(f"[profile.release.package.{name}]\nopt-level = 0\n" for name in COPIES)
    (folder / "Cargo.toml").write_text(manifest + quickly)
    copied("Cargo.lock", folder / "Cargo.lock")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(verdict, *zip(*compiled(folder).items(), strict=True)))


def compiled(folder: Path) -> dict[str, str]:
    """By copy, the program of its tests. What the crates depend on has been compiled for the tree."""
    done = subprocess.run(
        ["cargo", "test", "--release", "--offline", "--no-run", "--message-format=json"],
        cwd=folder, env=os.environ | {"CARGO_TARGET_DIR": str(TARGET)},
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    programs = [message for message in messages if message.get("executable")]
    programs.sort(key=lambda one: one["target"]["kind"] == ["test"])  # where there is one, not the library's own
    return {Path(one["manifest_path"]).relative_to(folder).parts[0]: one["executable"] for one in programs}


def verdict(name: str, program: str) -> tuple[str, str]:
    """64 cases of each property are enough to notice."""
    environment = os.environ | {"PROPTEST_CASES": "64", "PROPTEST_FAILURE_PERSISTENCE": "off"}
    done = subprocess.run(
        [program], env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    found = [line for line in done.stdout.splitlines() if line.startswith("test result:")]
    return name, found[-1] if found else f"{program} did not come to its end: {done.stderr}"


@pytest.mark.parametrize("crate", [name for name, (_, _, mutant) in COPIES.items() if not mutant])
def test_a_crate_as_it_is_passes(verdicts: dict[str, str], crate: str) -> None:
    assert verdicts[crate].startswith("test result: ok.")
    assert " 0 passed" not in verdicts[crate]


@pytest.mark.parametrize("mutant", [mutant for *_, mutant in COPIES.values() if mutant], ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(verdicts: dict[str, str], mutant: Mutant) -> None:
    assert verdicts[mutant.name].startswith("test result: FAILED."), f"nobody notices: {mutant.breaks}"
