# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice is for, in three minutes: documents beside sixteen uploads, four times over."""
