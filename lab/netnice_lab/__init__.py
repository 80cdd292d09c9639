# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Experiments on the real Linux TCP stack in virtual time."""
