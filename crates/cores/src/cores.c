/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The inline cores as functions that another language can call: one of each, the algorithm by its row in the table. */
#include "sender/handover.h"
#include "host/replay.h"

const u32 nn_defaults[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

void nn_core_init(u32 algorithm, struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	nn_dispatch_init(algorithm, flow, p, now_us, delivered, srtt_us);
}

void nn_core_on_ack(u32 algorithm, struct nn_flow *flow, nn_params p, const struct nn_ack *ack, struct nn_send *send)
{
	nn_dispatch_on_ack(algorithm, flow, p, ack);
	nn_pace(flow, p, ack, send);
}

void nn_core_replay(struct nn_flow *flow, nn_params p, struct nn_replay *step)
{
	nn_replay(flow, p, step);
}

void nn_core_recovery(u32 algorithm, struct nn_flow *flow, nn_params p, u32 state)
{
	nn_dispatch_recovery(algorithm, flow, p, state);
}

void nn_core_restart(struct nn_flow *flow, nn_params p, u32 now_us)
{
	nn_flow_restart(flow, p, now_us);
}

u32 nn_core_leave(const struct nn_flow *flow, struct nn_send *send)
{
	nn_hand_over(flow, send);
	return nn_legacy(flow);
}

bool nn_core_inherit(struct nn_flow *flow, u32 word, u32 cwnd)
{
	return nn_inherit(flow, word, cwnd);
}

void nn_core_resume(struct nn_flow *flow, u32 base_us, u32 cwnd)
{
	nn_flow_resume(flow, base_us, cwnd);
}

void nn_core_undo(struct nn_flow *flow)
{
	nn_undo(&flow->win);
}

/* The largest RTT that is not slow: sought, as a core asks of one RTT only. */
u32 nn_core_rtt_limit(struct nn_flow *flow, nn_params p)
{
	u32 limit = 0;

	for (u32 bit = 1u << 31; bit; bit >>= 1)
		if (!netnice_is_slow(flow, p, limit | bit))
			limit |= bit;
	return limit;
}

const u32 nn_sizes[] = { sizeof(struct nn_ack), sizeof(struct nn_send), sizeof(struct nn_flow),
			 sizeof(struct nn_replay) };
