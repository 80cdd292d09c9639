# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the testbed says when it cannot do its work."""

from __future__ import annotations

import os


class TestbedError(RuntimeError):
    """The testbed could not be set up or used; the message says why and what to do."""

    __test__ = False  # pytest collects classes named Test*


def require_root() -> None:
    """Namespaces, TUN devices and netnice's own set-up all need root."""
    if os.geteuid() != 0:
        raise TestbedError(
            "network namespaces can only be made by root; run it with sudo, "
            "or in a virtual machine or container where you are root"
        )
