# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The subcommands of netnice-lab: a file each, and a row here.

A file's first line is the command's help; `add` takes the parser of its options, `run` returns the exit status.
"""

from netnice_lab.commands import (
    agree,
    build,
    check,
    cross_check,
    experiments,
    misses,
    pin,
    plot,
    report,
    run,
    tables,
)

COMMANDS = {
    "build": build,
    "list": experiments,
    "run": run,
    "plot": plot,
    "pin": pin,
    "check": check,
    "report": report,
    "misses": misses,
    "tables": tables,
    "agree": agree,
    "cross-check": cross_check,
}
