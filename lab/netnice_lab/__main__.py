# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Entry point of `python -m netnice_lab`."""

from netnice_lab.cli import main

raise SystemExit(main())
