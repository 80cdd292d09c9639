# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What all tests share: bars that are known not to be met; and programs that answer an interrupt as usual, though a
shell's jobs in the background begin by ignoring it."""

import signal

pytest_plugins = ["known_miss"]
signal.signal(signal.SIGINT, signal.default_int_handler)
