# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What one call of the command sets for every experiment it runs."""

from pathlib import Path

trace: Path | None = None
"""A log that replaces the generated foreground (--trace)."""
