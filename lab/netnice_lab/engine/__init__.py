# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What executes runs: kernel, module, guest programs, one guest, many."""
