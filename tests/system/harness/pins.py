# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What another version would have left in the pinned maps."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from system.harness import kernel
from testbed import program


def rewrite_state(**values: Any) -> None:
    """Puts other values into what netnice has written of itself."""
    pin, tool = str(kernel.PINS / "maps" / "state"), program("bpftool")
    dump = subprocess.run([tool, "-j", "map", "dump", "pinned", pin], check=True, capture_output=True, text=True)
    value = bytes(int(byte, 16) for byte in json.loads(dump.stdout)[0]["value"])
    state = {**json.loads(value.rstrip(b"\0")), **values}
    new = json.dumps(state).encode().ljust(len(value), b"\0")
    key = ["key", "hex", "00", "00", "00", "00"]
    subprocess.run([tool, "map", "update", "pinned", pin, *key, "value", "hex", *new.hex(" ").split()], check=True)
