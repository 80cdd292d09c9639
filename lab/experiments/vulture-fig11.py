# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 11: the receiver's estimate of the window of a CUBIC sender."""

from netnice_lab.yielding import estimates

experiment = estimates(11, "cubic")
