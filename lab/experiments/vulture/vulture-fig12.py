# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 12: the receiver's estimate of the window of a NewReno sender."""

from experiments.vulture.world.figures import estimates

experiment = estimates(12, "reno")
