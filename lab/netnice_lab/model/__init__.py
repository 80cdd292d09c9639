# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is simulated and asked, as data: networks, traffic, scenarios, experiments."""
