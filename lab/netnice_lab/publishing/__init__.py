# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figures, tables of documents, the report."""
