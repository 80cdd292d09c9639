# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the system tests share, apart from them: commands under test, paths to try them on, what the kernel says."""
