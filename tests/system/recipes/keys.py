# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A pair of keys of ssh, for who asks and for who is asked."""

from __future__ import annotations

import functools
import subprocess

from testbed import ownership, program

#: Where the private one is kept.
KEY = "/srv/key"
#: The words that use it, for hosts that nobody knows.
SSH = f"ssh -i {KEY} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"


def of_client() -> dict[str, str]:
    """A machine's files. ssh wants the key to be its user's alone."""
    return {KEY[1:]: _made()[0]}


def of_server() -> dict[str, str]:
    """A machine's files."""
    return {"root/.ssh/authorized_keys": _made()[1]}


@functools.cache
def _made() -> tuple[str, str]:
    file = ownership.scratch("keys") / "key"
    subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
    return file.read_text(), file.with_suffix(".pub").read_text()
