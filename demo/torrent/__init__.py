# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""BitTorrent on an access link: its queue by plain TCP, by uTP and by netnice, and pages beside it."""
