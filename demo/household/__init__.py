# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A household's line: a call, pages and a video, beside backups going up and downloads coming down."""
