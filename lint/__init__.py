# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of the tree that no off-the-shelf tool makes."""
