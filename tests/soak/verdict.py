# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Is all as it was, and does what was counted add up?"""

from __future__ import annotations

from soak.load import Outcome

#: kB of the kernel's memory by which two moments differ when nothing happens, on a machine where others work too.
NOISE = 8192
#: The least that is kept of a connection, bytes: one of the notes on a socket. A leak of it is to be seen.
NOTE = 64


def least_connections() -> int:
    """So many of them make a leak of a note greater than the noise."""
    return NOISE * 1024 // NOTE


def rows(outcome: Outcome) -> list[tuple[str, str, str, bool]]:
    """What, as it should be, as it is, and whether it is."""
    expected, before, after = outcome.expected, outcome.before, outcome.after
    counted = [
        ("connections that yield with what they send", expected.opened, after.opened),
        ("connections that yield with what they receive", expected.receiving, after.receiving),
        ("of these, in use already", expected.adopted, after.adopted),
        ("that stayed on another congestion control, or unmarked", 0, after.failed),
        ("windows that the kernel refused", 0, after.clamp_failed),
        ("processes refused for want of room", 0, after.refused),
        ("processes and cgroups still in the lists", 0, after.entries),
        ("complaints of the kernel since", before.complaints, after.complaints),
    ]
    found = [(what, f"{wanted:,}", f"{is_now:,}", wanted == is_now) for what, wanted, is_now in counted]
    # Before there may be more: connections of an earlier test keep theirs until they end.
    well = all(number <= before.programs.get(name, 0) for name, number in after.programs.items())
    found.append(("programs", f"<= {sum(before.programs.values())}", str(sum(after.programs.values())), well))
    found.append(("bytes of maps", f"<= {before.maps:,}", f"{after.maps:,}", after.maps <= before.maps))
    grown = after.slab - before.slab
    found.append(("kB of the kernel's memory more than a tenth into it", f"<= {NOISE:,}", f"{grown:,}", grown <= NOISE))
    return found
