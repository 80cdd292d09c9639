# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Long use: connections, forks, -p, attach and detach by the thousand, and nothing may be left or be miscounted."""
