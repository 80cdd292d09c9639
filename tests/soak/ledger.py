# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice holds in the kernel, and what it has counted."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from system.harness import kernel
from testbed import program

#: Words of the kernel's log that are nobody's.
_COMPLAINTS = re.compile(r"WARNING:|BUG:|Oops|rcu.*stall|possible recursive|refcount_t", re.IGNORECASE)


@dataclass(frozen=True)
class Ledger:
    """At one moment."""

    #: Loaded programs, by name.
    programs: dict[str, int]
    #: Bytes of the pinned maps, as the kernel accounts for them.
    maps: int
    #: Entries of the lists of processes and of cgroups.
    entries: int
    #: kB of the kernel's own memory that it cannot give back.
    slab: int
    #: Complaints in the kernel's log.
    complaints: int
    opened: int
    refused: int
    receiving: int
    adopted: int
    clamp_failed: int
    failed: int

    @classmethod
    def read(cls) -> Ledger:
        status = json.loads(_said("netnicectl", "status", "--json"))
        niceness, receiver = status["niceness"], status["receiver"]["counters"]
        counters = niceness["counters"]
        names = list(kernel.programs().values())
        return cls(
            programs={name: names.count(name) for name in sorted(set(names))},
            maps=sum(_map(pin)["bytes_memlock"] for pin in (kernel.PINS / "maps").iterdir()),
            entries=len(niceness["processes"]) + len(status["attached"]),
            slab=_slab(),
            complaints=len(_COMPLAINTS.findall(_said("dmesg"))),
            opened=counters["active"],
            refused=niceness["refused"],
            receiving=receiver["connections"],
            adopted=receiver["adopted"],
            clamp_failed=receiver["clamp_failed"],
            failed=counters["cc_failed"] + counters["mark_failed"],
        )


def _said(*words: str) -> str:
    return subprocess.run([program(words[0]), *words[1:]], check=True, capture_output=True, text=True).stdout


def _map(pin: Path) -> Any:
    return json.loads(_said("bpftool", "-j", "map", "show", "pinned", str(pin)))


def _slab() -> int:
    found = re.search(r"^SUnreclaim:\s+(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    assert found, "the kernel tells"
    return int(found[1])
