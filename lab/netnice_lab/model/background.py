# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What most experiments put beside a foreground: permanently backlogged flows of one protocol."""

from dataclasses import replace

from netnice_lab.model.protocols import Protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk, Traffic


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
