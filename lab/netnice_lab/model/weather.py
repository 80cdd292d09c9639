# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A link whose rate changes while traffic passes: the guest's script that changes it, and what starts the script.

One tc for all changes: in a guest every new process costs as much as a thousand packets.
"""

from collections.abc import Sequence

from netnice_lab.model.topology import ETHERNET
from netnice_lab.model.traffic import Script

SCRIPT = "/run/weather"
Weather = tuple[tuple[Script, ...], tuple[tuple[str, str], ...]]
"""What a scenario takes of it: traffic and knobs."""


def changing(node: str, device: str, rates: Sequence[int], every: float, buffer: int) -> Weather:
    """Give a device with a queue of `buffer` bytes the next of `rates` (bit/s) `every` so many seconds."""
    burst = 1500 + ETHERNET + 66
    listed = " ".join(str(rate) for rate in rates)
    # tbf hands its limit on to the queue; a read from a pipe that nobody writes to is a sleep without a process
    script = f"""mkfifo /run/never
exec 3<>/run/never
for rate in {listed}; do
echo qdisc change dev {device} root handle 1: tbf rate ${{rate}}bit burst {burst} limit {buffer}
read -r -t {every} -u 3
done | tc -n {node} -batch -"""
    return (Script(every, SCRIPT),), ((SCRIPT, f"'{script}'"),)
