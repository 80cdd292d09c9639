# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 11: the receiver's estimate of the window of a CUBIC sender."""

from experiments.vulture.world.figures import estimates

experiment = estimates(11, "cubic")
