# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What many experiments put together: backlogged flows of one protocol, and a link whose rate changes."""

from collections.abc import Sequence
from dataclasses import replace

from netnice_lab.model.protocols import Protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET
from netnice_lab.model.traffic import Bulk, Script, Traffic

SCRIPT = "/run/changes"
PathChanges = tuple[tuple[Script, ...], tuple[tuple[str, str], ...]]
"""What a scenario takes of it: traffic and knobs."""


def background(protocol: Protocol, flows: int, spare: float) -> tuple[Traffic, ...]:
    """Permanently backlogged flows started over the first five seconds."""
    if protocol.none or not flows:
        return ()
    rate = int(protocol.rate_part * spare / flows)
    return (Bulk("bulk", "home", flows, protocol.congestion_control, start=(0.5, 5.5), rate=rate),)


def finish(scenario: Scenario, protocol: Protocol) -> Scenario:
    """Add what the protocol needs in the guest."""
    parameters = scenario.parameters
    if protocol.parameters:
        parameters += ((protocol.congestion_control, protocol.parameters),)
    return replace(scenario, parameters=parameters, knobs=protocol.knobs)


def changing(node: str, device: str, rates: Sequence[int], every: float, buffer: int) -> PathChanges:
    """Give a device with a queue of `buffer` bytes the next of `rates` (bit/s) `every` so many seconds.

    One tc makes all changes: in a guest every new process costs as much as a thousand packets.
    """
    burst = 1500 + ETHERNET + 66
    listed = " ".join(str(rate) for rate in rates)
    # tbf hands its limit on to the queue; a read from a pipe without a writer is a sleep without a process
    script = f"""mkfifo /run/never
exec 3<>/run/never
for rate in {listed}; do
echo qdisc change dev {device} root handle 1: tbf rate ${{rate}}bit burst {burst} limit {buffer}
read -r -t {every} -u 3
done | tc -n {node} -batch -"""
    return (Script(every, SCRIPT),), ((SCRIPT, f"'{script}'"),)
