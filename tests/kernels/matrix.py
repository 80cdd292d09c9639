# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is claimed of a kernel, and the machines that show it: each runs once, two at a time.

``make kernels`` prints the table of docs/use/kernels.md.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kernels import archive, machine
from kernels.machine import Report, Step
from testbed import program, scratch

ROOT = Path(__file__).parents[2]
AT_ONCE = 2

Steps = dict[str, Step]


def _well(steps: Steps, *names: str) -> bool:
    return all(name in steps and steps[name].status == 0 for name in names)


def _status(steps: Steps) -> Any:
    return steps["status"].json()


def _loads(steps: Steps) -> bool:
    """Programs for all users, too; and it is told where the kernel does not list connections."""
    bare = steps["bare"].json()
    told = bare["condition"] == "up" and bare["connections_untold"] is not None
    return told and _well(steps, "up", "bare", "status") and _status(steps)["loaded"]["hindered"] is None


def _sends(steps: Steps) -> bool:
    counters = _status(steps)["niceness"]["counters"]
    failed = counters["cc_failed"] + counters["mark_failed"]
    return _well(steps, "upload") and counters["passive"] == 1 and failed == 0


def _receives(steps: Steps) -> bool:
    counters = _status(steps)["receiver"]["counters"]
    # One in use, too: that of the step `waiting`.
    begun = (counters["connections"], counters["adopted"])
    return _well(steps, "download") and begun == (2, 1) and counters["clamp_failed"] == 0


def _moves(steps: Steps) -> bool:
    found = steps["running"].json()
    return bool(found["own"]["level"] == 2 and found["connections"] == {"netnice2": 1})


def _attaches(steps: Steps) -> bool:
    found = steps["attached"].json()
    causes = [(cause["by_rule"], cause["level"]) for cause in found["causes"]]
    return causes == [(True, 1), (False, 2)] and bool(found["in_effect"]["level"] == 2)


def _accepts(steps: Steps) -> bool:
    """The listening socket and what waits for it."""
    return "processes: 1, their TCP sockets: 2" in steps["waiting"].said


#: Of kernels that are new enough, as the table has them.
CLAIMS: dict[str, Callable[[Steps], bool]] = {
    "nothing missing": lambda steps: _well(steps, "doctor"),
    "all loads": _loads,
    "a user's command": lambda steps: _well(steps, "user") and steps["user"].said == "1\n",
    "sends": _sends,
    "receives": _receives,
    "`-p`": _moves,
    "`attach`, `policy`": _attaches,
    "not accepted yet": _accepts,
    "behind `fq`": lambda steps: "qdisc fq" in steps["behind_fq"].said and _well(steps, "behind_fq"),
    "the verifier's work as before": lambda steps: _well(steps, "verifier") and "1 passed" in steps["verifier"].said,
    "deadlines while the clock is set": lambda steps: _well(steps, "until_time", "for_duration"),
    "deadlines after suspension": lambda steps: _well(steps, "suspended_until", "suspended_for"),
    "nothing left": lambda steps: _well(steps, "down", "left", "end"),
}
_WORDS = {True: "yes", False: "no", None: "–"}


def holds(claim: str, report: Report) -> bool | None:
    """``None``: it did not come to it."""
    try:
        return CLAIMS[claim](report.steps)
    except KeyError:
        return None


def verifier(folder: Path) -> Path:
    """A copy of the loader's tests, compiled; one of them holds the verifier's budget."""
    words = ["cargo", "test", "--release", "--locked", "--workspace", "--no-run", "--message-format=json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    made = [message for message in map(json.loads, done.stdout.splitlines()) if message.get("executable")]
    of_loader = [one for one in made if one["manifest_path"] == str(ROOT / "crates" / "loader" / "Cargo.toml")]
    (found,) = [one["executable"] for one in of_loader if one["target"]["kind"] == ["test"]]
    return Path(shutil.copy(found, folder / "verifier"))


def reports(*, pin: bool = False) -> dict[Path, Report]:
    """By kernel, the oldest first. ``pin``: the verifier's numbers become those that were found."""
    listed = subprocess.run([program("netnice"), "-l", "--json"], capture_output=True, text=True, check=True).stdout
    algorithms = [entry["name"] for entry in json.loads(listed)["comparison"]]
    binaries = [Path(program(name)) for name in ("netnice", "netnicectl", "setpriv", "tc")]
    binaries.append(verifier(scratch("verifier")))

    def boot(kernel: Path) -> Report:
        files = machine.initramfs(kernel, scratch(f"kernel-{kernel.name}"), algorithms, binaries)
        report = machine.run(kernel, files, pin=pin, steady=True)
        major, minor = release = archive.release(kernel.name)
        # This host's release the loader's test pins, by its own kernel: builds of one release differ by a third.
        if pin and "pins" in report.steps and release != archive.release(platform.release()):
            (machine.VERIFIER / f"{major}.{minor}.json").write_text(report.steps["pins"].said)
        return report

    kernels = archive.kernels()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(kernels, pool.map(boot, kernels), strict=True))


def main() -> None:
    """Prints the table."""
    print("| kernel | " + " | ".join(CLAIMS) + " |")
    print("| --- " * (len(CLAIMS) + 1) + "|")
    for kernel, report in reports().items():
        version = kernel.name.removesuffix("-cloud-amd64")
        print(f"| {version} | " + " | ".join(_WORDS[holds(claim, report)] for claim in CLAIMS) + " |")


if __name__ == "__main__":
    main()
