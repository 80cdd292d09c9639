# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A new experiment is one file; a new sender, receiver or subcommand is one file and one row: toys, in a copy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from clone import Clone
from system.harness import kernel
from system.harness.commands import Pair, call, end, netnice, netnicectl
from testbed import Namespace, Socket, ownership, sockets
from testbed.namespace import wait_until

SENDER = """\
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A sender that keeps the window that it begins with.
 */
#ifndef NN_TOYSENDER_H
#define NN_TOYSENDER_H

#include "../pacing/flight.h"

#define TOYSENDER_PARAMS(P) P(min_window, 8192) P(initial_window, 10) P(force_window, 0)

NN_CORE_AS_RENO(toysender)

nn_inline void toysender_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack);

	(void)p;
	if (rtt)
		nn_rtt_sample(&flow->rtt, rtt, false);
	if (nn_round_over(&flow->round, ack))
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
}

#endif
"""
RECEIVER = """\
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A receiver that keeps the window that it begins with.
 */
#ifndef NN_TOYRECEIVER_H
#define NN_TOYRECEIVER_H

#include "flow.h"

#define TOYRECEIVER_PARAMS(P) P(floor, 2) P(initial, 10)

nn_inline void toyreceiver_on_start(struct nn_receiver *flow, nn_receiver_params p)
{
	(void)flow;
	(void)p;
}

nn_inline void toyreceiver_on_arrival(struct nn_receiver *flow, nn_receiver_params p,
	const struct nn_segment *seg, const struct nn_arrival *arrival)
{
	(void)p;
	if (arrival->round)
		nn_round_start(flow, seg);
}

#endif
"""
EXPERIMENT = '''\
"""One flow over 10 Mbit/s and 40 ms, and a toy at one of its ends."""

from netnice_lab.model.experiment import Experiment
from netnice_lab.model.protocols import protocol
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk


def scenario(toy: str, seed: int) -> Scenario:
    receiver = Receiver(toy) if toy == "toyreceiver" else None
    sender = protocol("cubic" if receiver else toy).congestion_control
    flow = Bulk("bulk", "home", 1, sender, receiver=receiver is not None)
    topology = dumbbell(10_000_000, 40_000, Queue("fifo", bytes=50_000))
    return Scenario(topology, (flow,), 10.0, 2.0, seed, receiver=receiver)


toys = Experiment(
    title="toys", claim="none", sweep={"toy": ("toysender", "toyreceiver")}, scenario=scenario, figures=[], seeds=1
)
EXPERIMENTS = {"toys": toys}
'''
SUBCOMMAND = """\
// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

/// Say that it is a toy
#[derive(Debug, clap::Args)]
pub struct Toy {
    /// To whom
    name: String,
}

impl Toy {
    pub fn run(self) -> anyhow::Result<std::process::ExitCode> {
        netnice_output::print(format!("{}: a toy", self.name))?;
        Ok(std::process::ExitCode::SUCCESS)
    }
}
"""
pytestmark = pytest.mark.verify("a copy of the tree is built")
#: Segments, of either toy.
WINDOW = 10
#: Two reorder what a cable of no length carries, and TCP takes a segment that is 2 us late for lost.
ONE_CPU = ("taskset", "--cpu-list", "0")


@pytest.fixture(scope="module")
def clone() -> Clone:
    made = Clone(ownership.scratch("toys"))
    for half, text in (("sender", SENDER), ("receiver", RECEIVER)):
        folder, toy = f"algorithms/{half}", f"toy{half}"
        made.add(f"{folder}/{toy}.h", text)
        made.add_row(folder, toy, f"X({toy}, {toy}, false, {toy.upper()}_PARAMS)")
    made.add("lab/experiments/toys.py", EXPERIMENT)
    made.add("crates/netnicectl/src/commands/toy.rs", SUBCOMMAND)
    made.add_subcommand("toy", "Toy")
    made.build("netnicectl", "netnice", "netnice-receiver")
    return made


@pytest.fixture
def toys(down: dict[int, str], clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, str]]:
    monkeypatch.setenv("NETNICE_BIN", str(clone.programs))
    call("netnicectl", "up", "--with", "toysender")
    yield down
    call("netnicectl", "down")
    kernel.assert_nothing_remains(down)


@pytest.mark.usefixtures("toys")
def test_they_are_listed_loaded_and_run(pair: Pair) -> None:
    listed = netnice("-l").stdout
    assert "toysender        A sender that keeps the window" in listed
    assert "toyreceiver      A receiver that keeps the window" in listed
    assert "toysender" in kernel.registered()
    netnicectl("set", "receiver", "algorithm=toyreceiver")

    sent = transfer(pair, "toysender")
    assert (sent.congestion_control, sent.number("cwnd")) == ("toysender", WINDOW)
    received = transfer(pair, "reno", "netnice", "--receive-only")
    assert 0 < received.number("snd_wnd") < 2 * WINDOW * 1448


@pytest.mark.usefixtures("toys")
def test_a_subcommand_has_help_and_runs() -> None:
    assert "toy      Say that it is a toy" in netnicectl("--help").stdout
    assert netnicectl("toy", "somebody").stdout == "somebody: a toy\n"


def test_they_run_in_the_lab(clone: Clone, tmp_path: Path) -> None:
    clone.lab("run", "toys", "--json", str(tmp_path / "toys.json"))
    carried = {row["toy"]: row["background"] for row in json.loads((tmp_path / "toys.json").read_text())}
    path = WINDOW * 1448 * 8e-6 / 0.040
    assert carried == {toy: pytest.approx(path, rel=0.1) for toy in ("toysender", "toyreceiver")}


def transfer(pair: Pair, congestion_control: str, *before_sink: str) -> Socket:
    """The sender's socket after a megabyte, when it may send: a window of ten segments is closed at times."""
    with pair.end(pair.b, "sink", first=[*before_sink, *ONE_CPU]) as sink:
        port = int(sink.line())
        with pair.a.spawn(*ONE_CPU, *end("send", pair.b4, str(port), congestion_control, "20")):
            wait_until(lambda: acked(pair.a, port) > 1e6, "a megabyte", seconds=15)
            looks = (established(pair.a, port) for _ in range(100))
            return next(seen for seen in looks if seen.number("snd_wnd") > 0)


def established(namespace: Namespace, port: int) -> Socket:
    (found,) = (one for one in sockets(namespace, peer_port=port) if one.state == "ESTAB")
    return found


def acked(namespace: Namespace, port: int) -> int:
    return sum(one.bytes_acked for one in sockets(namespace, peer_port=port))
