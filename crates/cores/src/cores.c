/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The inline cores as functions that another language can call: one of each, the algorithm by its row in the table. */
#include "host/replay.h"

const u32 nn_defaults[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

void nn_core_start(u32 algorithm, const struct nn_connection *c, const struct nn_ack *ack,
		   const struct nn_beginning *beginning, struct nn_send *send)
{
	nn_connection_start(algorithm, c, ack, beginning, send);
}

bool nn_core_inherit(struct nn_flow *flow, u32 word, u32 cwnd)
{
	return nn_inherit(flow, word, cwnd);
}

void nn_core_on_ack(u32 algorithm, const struct nn_connection *c, const struct nn_ack *ack, struct nn_send *send)
{
	nn_connection_ack(algorithm, c, ack, send);
}

void nn_core_recovery(u32 algorithm, const struct nn_connection *c, u32 state, u32 now_us, u32 delivered)
{
	nn_connection_recovery(algorithm, c, state, now_us, delivered);
}

void nn_core_restart(u32 algorithm, const struct nn_connection *c, u32 now_us, u32 delivered)
{
	nn_connection_restart(algorithm, c, now_us, delivered);
}

void nn_core_undo(u32 algorithm, const struct nn_connection *c)
{
	nn_connection_undo(algorithm, c);
}

u32 nn_core_leave(const struct nn_connection *c, struct nn_send *send)
{
	return nn_connection_leave(c, send);
}

void nn_core_resume(struct nn_flow *flow, u32 base_us, u32 cwnd)
{
	nn_flow_resume(flow, base_us, cwnd);
}

/* Lets the siblings of a connection be what a test says. */
void nn_core_siblings(const struct nn_connection *c, const struct nn_siblings *siblings, u32 now_us)
{
	struct nn_place *place = nn_place_of(c->places, c->to, nn_turn(now_us));

	nn_place_turn(place, c->to, nn_turn(now_us));
	place->flows_before = (u16)siblings->flows;
	place->asking = (u16)(siblings->flows ? siblings->asking * NN_ONE / siblings->flows : 0);
	place->window = siblings->window;
}

/* A round's report to netnice's decision. */
void nn_core_decide(struct nn_state *state, const struct nn_report *report, struct nn_window *win, nn_params p)
{
	nn_decide_round(state, report, win, p);
}

/* What the decision of a flow of netnice remembers. */
void nn_core_state(struct nn_flow *flow, struct nn_state *state)
{
	*state = nn_sender_of(flow)->state;
}

u32 nn_core_limit(nn_params p, const struct nn_report *report)
{
	return nn_limit(p, report);
}

u32 nn_core_explained(const struct nn_report *report, u32 w)
{
	return nn_explained(report, w);
}

u32 nn_core_packet_after(u32 packet, u32 spacing, u32 apart_us, u32 gap_us, u32 segments)
{
	return nn_packet_after(packet, spacing, apart_us, gap_us, segments);
}

/* A connection of a group ends a round. */
u32 nn_core_group_share(struct nn_group *group, u32 rate, u32 start_us, u32 now_us, u32 bytes)
{
	return nn_group_share(group, rate, start_us, now_us, bytes);
}

u8 nn_core_share_encoded(u32 share)
{
	return nn_share_encoded(share);
}

u32 nn_core_share_decoded(u8 code)
{
	return nn_share_decoded(code);
}

void nn_core_replay(struct nn_replay_host *host, nn_params p, struct nn_replay *step)
{
	nn_replay(host, p, step);
}

/* The largest RTT of netnice's that is not congestion, in the round at hand. */
u32 nn_core_rtt_limit(const struct nn_flow *flow)
{
	return nn_add_saturating(flow->rtt.min, flow->nn_round_limit);
}
