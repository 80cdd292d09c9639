# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The test runner: a table of parts, one process each, one sum at the end. Standard library only."""
