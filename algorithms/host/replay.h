/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One step of a recorded flow, for any algorithm of the table. The host build, the eBPF object and the kernel module
 * replay the same records through this and must come to the same windows.
 */
#ifndef NN_REPLAY_H
#define NN_REPLAY_H

#include "../sender/table.h"

enum nn_replay_event { NN_REPLAY_INIT, NN_REPLAY_ACK, NN_REPLAY_RECOVERY, NN_REPLAY_RESTART, NN_REPLAY_UNDO };

struct nn_replay {
	u32 algorithm; /* enum nn_algorithm */
	u32 event; /* enum nn_replay_event */
	u32 value; /* RECOVERY: enum nn_recovery */
	u32 window; /* out: 1/4096 segment */
	struct nn_ack ack; /* INIT: now_us, delivered, rtt_us; RESTART: now_us */
	u32 reserved;
	struct nn_send send; /* out, after INIT and ACK */
};

nn_inline void nn_dispatch_init(u32 algorithm, struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered,
				u32 srtt_us)
{
	switch (algorithm) {
#define NN_REPLAY_CASE(name, core, ...)                                                                                \
	case NN_A_##name:                                                                                              \
		core##_on_start(flow, p, now_us, delivered, srtt_us);                                                  \
		break;
		NN_ALGORITHMS(NN_REPLAY_CASE)
#undef NN_REPLAY_CASE
	}
}

nn_inline void nn_dispatch_recovery(u32 algorithm, struct nn_flow *flow, nn_params p, u32 state)
{
	switch (algorithm) {
#define NN_REPLAY_CASE(name, core, ...)                                                                                \
	case NN_A_##name:                                                                                              \
		core##_on_recovery(flow, p, state);                                                                    \
		break;
		NN_ALGORITHMS(NN_REPLAY_CASE)
#undef NN_REPLAY_CASE
	}
}

nn_inline void nn_dispatch_on_ack(u32 algorithm, struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	switch (algorithm) {
#define NN_REPLAY_CASE(name, core, ...)                                                                                \
	case NN_A_##name:                                                                                              \
		core##_on_ack(flow, p, ack);                                                                           \
		break;
		NN_ALGORITHMS(NN_REPLAY_CASE)
#undef NN_REPLAY_CASE
	}
	flow->last_us = ack->now_us;
}

nn_inline void nn_replay(struct nn_flow *flow, nn_params p, struct nn_replay *step)
{
	struct nn_ack *ack = &step->ack;

	switch (step->event) {
	case NN_REPLAY_INIT:
		nn_dispatch_init(step->algorithm, flow, p, ack->now_us, ack->delivered, ack->rtt_us);
		nn_pace(flow, p, ack, &step->send);
		break;
	case NN_REPLAY_ACK:
		nn_dispatch_on_ack(step->algorithm, flow, p, ack);
		nn_pace(flow, p, ack, &step->send);
		break;
	case NN_REPLAY_RECOVERY:
		nn_dispatch_recovery(step->algorithm, flow, p, step->value);
		break;
	case NN_REPLAY_RESTART:
		nn_flow_restart(flow, p, ack->now_us);
		break;
	case NN_REPLAY_UNDO:
		nn_undo(&flow->win);
		break;
	}
	step->window = flow->win.w;
}

#endif
