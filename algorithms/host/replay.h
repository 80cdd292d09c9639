/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One step of a recorded flow, for any algorithm of the table, on a host where some flows of it run. The host build, the
 * eBPF object and the kernel module replay the same records through this and must come to the same windows.
 */
#ifndef NN_REPLAY_H
#define NN_REPLAY_H

#include "../sender/connection.h"

#define NN_REPLAY_FLOWS 4u /* the first two go to one place, the others to another */

enum nn_replay_event {
	NN_REPLAY_START,
	NN_REPLAY_ACK,
	NN_REPLAY_RECOVERY,
	NN_REPLAY_RESTART,
	NN_REPLAY_UNDO,
	NN_REPLAY_LEAVE,
};

struct nn_replay {
	u32 algorithm; /* enum nn_algorithm */
	u32 event; /* enum nn_replay_event */
	u32 value; /* START: the legacy; RECOVERY: enum nn_recovery; LEAVE, out: the legacy */
	u32 window; /* out: 1/4096 segment */
	struct nn_ack ack; /* START: rtt_us is the handshake's, in_flight the cwnd found; RESTART: now_us, delivered */
	u32 flow; /* below NN_REPLAY_FLOWS */
	u32 share; /* of an ACK: kbit/s that the flow is to have at least; 0: none */
	struct nn_send send; /* out, after START, ACK and LEAVE */
};

/* The flows of one algorithm; zero at first. */
struct nn_replay_host {
	struct nn_flow flows[NN_REPLAY_FLOWS];
	struct nn_places places;
	/* of the flow at hand: not on the stack, of which eBPF has little */
	struct nn_destination to;
	struct nn_beginning beginning;
};

nn_inline void nn_replay_step(u32 algorithm, const struct nn_connection *c, struct nn_replay *step,
			      struct nn_beginning *beginning)
{
	struct nn_ack *ack = &step->ack;

	beginning->srtt_us = ack->rtt_us;
	beginning->legacy = step->value;
	beginning->cwnd = ack->in_flight;
	switch (step->event) {
	case NN_REPLAY_START:
		nn_connection_start(algorithm, c, ack, beginning, &step->send);
		break;
	case NN_REPLAY_ACK:
		c->flow->share = nn_share_encoded(step->share);
		nn_connection_ack(algorithm, c, ack, &step->send);
		break;
	case NN_REPLAY_RECOVERY:
		nn_connection_recovery(algorithm, c, step->value, ack->now_us, ack->delivered);
		break;
	case NN_REPLAY_RESTART:
		nn_connection_restart(algorithm, c, ack->now_us, ack->delivered);
		break;
	case NN_REPLAY_UNDO:
		nn_connection_undo(algorithm, c);
		break;
	case NN_REPLAY_LEAVE:
		step->value = nn_connection_leave(c, &step->send);
		c->flow->ready = NN_NOT_STARTED;
		break;
	}
}

/* A flow starts that does not run, and whatever else happens to one that does; all others are passed over. */
nn_inline void nn_replay_of(u32 algorithm, struct nn_replay_host *host, nn_params p, struct nn_replay *step)
{
	u32 number = step->flow % NN_REPLAY_FLOWS;
	struct nn_connection c = { &host->flows[number], p, &host->places, &host->to };

	if ((step->event == NN_REPLAY_START) == (c.flow->ready != NN_NOT_STARTED))
		return;
	host->to.network[0] = number / 2;
	nn_replay_step(algorithm, &c, step, &host->beginning);
	step->window = c.flow->win.w;
}

nn_inline void nn_replay(struct nn_replay_host *host, nn_params p, struct nn_replay *step)
{
	nn_replay_of(step->algorithm, host, p, step);
}

#endif
