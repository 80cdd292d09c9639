# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the numbers must be: pins, bars, known misses, digests."""
