# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Entry point of `python -m netnice_lab`."""

import sys

try:
    from netnice_lab.cli import main

    sys.exit(main())
except KeyboardInterrupt:  # while importing: nothing has been started
    print("netnice-lab: interrupted", file=sys.stderr)
    sys.exit(130)
