# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Every test's programs answer an interrupt as usual, though a shell's jobs in the background begin by ignoring it."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
