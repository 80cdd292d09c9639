# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figure 10 of TCP Nice with real programs: what those who wait for pages feel of prefetching."""
