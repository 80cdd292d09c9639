# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From what a guest wrote to numbers."""
