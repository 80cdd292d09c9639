# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the numbers must be: recorded results, bars, known misses."""
