/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice as a sender: ACKs in, the report of a round out (decide.h). The window is segments in flight and a rate
 * (../pacing/pace.h), and below one segment a gap between pairs.
 *
 *   base     least RTT of a segment that did not fly alone, of the last 5 to 10 minutes
 *   queue    the lesser of RTT - base and of the one-way delay above its own base (../estimate/forward_delay.h)
 *   reverse  the lesser of what this ACK waited and of what the smoothed RTT is above the round's longest forward delay
 *   depth    queue at a loss; rises by an eighth of what longer queues exceed it by
 */
#ifndef NN_SENDER_H
#define NN_SENDER_H

#include "../estimate/forward_delay.h"
#include "../pacing/flight.h"
#include "../siblings/siblings.h"
#include "decide.h"
#include "path.h"

#define NN_BASE_WINDOW_US 300000000u /* the base is forgotten after one to two of these */
#define NN_BASE_KEEPS 4u /* packet times by which a base may sink in: that is Vegas' queue, not a longer path */
#define NN_DEPTH_PART 4u /* of the base: a buffer of less is not assumed */
#define NN_QUICK_US 25000u /* an ACK of one segment so soon after the last was not delayed: Linux waits 40 ms */
#define NN_QUICK_SEGMENTS 12u /* nor is one of the first (TCP_MAX_QUICKACKS is 16), unless it is of all that flew */
#define NN_SINGLE_US 10000u /* segments that take longer leave one by one: pairs would be the queue */
#define NN_DEPTH_UNIT 6 /* bits: 64 us */
#define NN_NO_DEPTH 0xffffu

struct nn_sender {
	struct nn_forward forward;
	struct nn_state state;
	struct nn_trial trial;
	u16 packet; /* service time of a segment, 16 us; 0: unknown */
	u16 depth; /* queue at the last loss, 64 us; NN_NO_DEPTH: none */
};

NN_CORE_STATE(nn_sender, nn_sender_of)

/* Limit of the round at hand, us; where TCP Nice keeps maxRTT. */
#define nn_round_limit rtt.max

enum { netnice_has_siblings = 1 };

nn_inline void netnice_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	struct nn_sender *own = nn_sender_of(flow);

	nn_flow_init(flow, p, now_us, delivered, srtt_us);
	own->depth = NN_NO_DEPTH;
	flow->nn_round_limit = NN_NEVER;
	nn_state_init(&own->state, &flow->win, delivered <= 1);
}

nn_inline void netnice_on_recovery(struct nn_flow *flow, u32 state)
{
	struct nn_sender *own = nn_sender_of(flow);
	u32 queue = nn_sub_saturating(nn_max(flow->round.max_rtt, flow->rtt.smoothed), flow->rtt.min);
	bool unqueued;

	if (state != NN_OPEN && state != flow->recovery) {
		unqueued = state == NN_REDUCED && queue < nn_min(flow->rtt.min / NN_UNQUEUED, flow->nn_round_limit);
		queue = nn_max(queue, flow->rtt.min / NN_DEPTH_PART) >> NN_DEPTH_UNIT;
		own->depth = (u16)nn_min(own->depth, queue);
		nn_state_lost(&own->state, &flow->win, state == NN_TIMEOUT, unqueued);
		own->trial.still = 0;
	}
	nn_flow_recovery(flow, state);
}

/* The loss was none: it tells nothing of the buffer. */
nn_inline void netnice_on_undo(struct nn_flow *flow)
{
	struct nn_sender *own = nn_sender_of(flow);

	nn_undo(&flow->win);
	own->depth = NN_NO_DEPTH;
	own->state.full = nn_max(own->state.full, flow->win.w);
}

/* After silence a round begins. W stays, as in RFC 7661: it leaves paced, and the round is judged. */
nn_inline void netnice_on_restart(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered)
{
	(void)p;
	nn_round_begin(&flow->round, delivered, now_us);
}

nn_inline void nn_base_sample(struct nn_flow *flow, u32 now_us, u32 rtt)
{
	struct nn_rtt *known = &flow->rtt;
	struct nn_sender *own = nn_sender_of(flow);

	if (!nn_rtt_known(known))
		known->smoothed = rtt;
	if (nn_unlikely(now_us - known->window_us >= NN_BASE_WINDOW_US)) {
		if (known->recent_min - known->min > NN_BASE_KEEPS * 16 * own->packet)
			known->min = known->recent_min;
		known->recent_min = rtt;
		known->window_us = now_us;
		own->depth = NN_NO_DEPTH;
	}
	known->recent_min = nn_min(known->recent_min, rtt);
	if (rtt >= known->min)
		return;
	nn_trial_shorten(&own->trial, known->min - rtt);
	if (!own->state.clocked)
		nn_forward_forget(&own->forward);
	known->min = rtt;
}

/* Queueing delay of the forward path, us. */
nn_inline u32 nn_forward_delay(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt)
{
	struct nn_sender *own = nn_sender_of(flow);
	bool clocked = own->state.clocked;
	u32 queue = rtt - flow->rtt.min;

	if (!ack->peer_stamp || (!clocked && nn_forward_waits(&own->forward, ack, rtt)))
		return queue;
	queue = nn_forward_queue(&own->forward, &clocked, ack, rtt, flow->rtt.min);
	if (nn_unlikely(clocked != own->state.clocked))
		own->state.clocked = clocked;
	return queue;
}

nn_inline u32 nn_reverse_delay(struct nn_flow *flow, const struct nn_ack *ack)
{
	struct nn_sender *own = nn_sender_of(flow);
	u32 both = nn_sub_saturating(ack->rtt_us, flow->rtt.min);
	u32 forward = nn_one_way(own->forward.tick_us, ack, ack->rtt_us) - own->forward.base;

	if (!own->state.clocked || !ack->rtt_us)
		return 0;
	return nn_min(nn_sub_saturating(both, forward), nn_sub_saturating(flow->rtt.smoothed, flow->round.max_rtt));
}

/* Packet pairs: two ACKs whose segments left together. */
nn_inline void nn_spacing_sample(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt)
{
	struct nn_sender *own = nn_sender_of(flow);
	u32 gap = ack->now_us - flow->last_us, before = (u32)flow->last_rtt << 6;
	bool quick =
		ack->acked > 1 || gap < NN_QUICK_US || (ack->delivered <= NN_QUICK_SEGMENTS && !(ack->flags & NN_LONE));

	flow->last_rtt = (u16)nn_min(rtt >> 6, 0xffff);
	if (before && rtt && ack->acked && quick)
		own->packet = (u16)nn_min(nn_packet_after(own->packet, gap / 16, gap + before - rtt, gap, ack->acked),
					  0xffff);
}

nn_inline void nn_delay_sample(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt)
{
	struct nn_sender *own = nn_sender_of(flow);
	u32 queue;

	nn_base_sample(flow, ack->now_us, rtt);
	queue = nn_forward_delay(flow, ack, rtt);
	nn_rtt_smooth(&flow->rtt, rtt);
	if (nn_unlikely(queue >> NN_DEPTH_UNIT > own->depth))
		own->depth += (u16)nn_min(((queue >> NN_DEPTH_UNIT) - own->depth) / 8 + 1, NN_NO_DEPTH - own->depth);
	nn_round_count(&flow->round, ack, flow->rtt.min + queue, queue > flow->nn_round_limit);
}

nn_inline void netnice_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack);

	(void)p;
	nn_spacing_sample(flow, ack, ack->rtt_us == rtt ? rtt : 0);
	nn_forget();
	if (rtt && ack->flags & NN_LONE && !flow->win.single)
		nn_rtt_smooth_lone(&flow->rtt, rtt);
	else if (rtt)
		nn_delay_sample(flow, ack, rtt);
	if (nn_in_slow_start(&flow->win) && !flow->round.slow && nn_is_tried(flow, ack))
		nn_slow_start(&flow->win, ack->acked);
}

/* The base with and without the queue on trial. */
nn_inline void nn_sender_reroute(struct nn_flow *flow)
{
	struct nn_sender *own = nn_sender_of(flow);
	u32 longer = nn_trial_longer_us(&own->trial);

	if (own->trial.verdict == NN_TRIAL_SAME)
		return;
	if (own->trial.verdict == NN_TRIAL_REFUTED)
		longer = 0 - longer;
	flow->rtt.min += longer;
	flow->rtt.recent_min += longer;
	if (own->state.clocked)
		own->forward.base += longer;
}

/* Out of line: eBPF adds up the stacks of calls within calls, to 512 bytes. Returns W, as such a function has to. */
nn_rare u32 nn_sender_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
			    const struct nn_siblings *siblings)
{
	struct nn_sender *own = nn_sender_of(flow);
	struct nn_report r = {
		.base = flow->rtt.min,
		.queue = flow->round.seen ? nn_sub_saturating(flow->round.min_rtt, flow->rtt.min) : 0,
		.reverse = nn_reverse_delay(flow, ack),
		.policed = siblings->policed,
		.seen = flow->round.seen,
		.slow = flow->round.slow,
		.packet = 16 * own->packet,
		.depth = own->depth == NN_NO_DEPTH ? NN_NEVER : (u32)own->depth << NN_DEPTH_UNIT,
		.siblings = nn_max(siblings->flows, 1),
		.mean = siblings->window,
		.limited = flow->recovery == NN_OPEN && nn_is_tried(flow, ack),
	};

	flow->win.single = r.packet >= NN_SINGLE_US;
	own->trial.verdict = NN_TRIAL_SAME;
	if (own->state.phase != NN_WAITING && r.seen)
		nn_trial_round(&own->trial, ack->now_us, r.queue,
			       nn_max(nn_explained(&r, flow->win.w), p[NN_P_queue_floor]),
			       nn_max(p[NN_P_queue_floor], (r.base + r.queue) >> 6), nn_is_congested(p, &r));
	nn_forget();
	nn_sender_reroute(flow);
	nn_forget();
	/* What no trial needs comes after it, as eBPF's stack is short. */
	r.us = ack->now_us - flow->round.start_us;
	r.delivered = ack->delivered - flow->round.end;
	r.lost = ack->lost;
	r.limit = flow->nn_round_limit;
	r.longer = own->trial.verdict == NN_TRIAL_TRIED;
	nn_decide_round(&own->state, &r, &flow->win, p);
	r.base = flow->rtt.min;
	nn_round_begin(&flow->round, ack->delivered, ack->now_us);
	nn_come_back(flow, p, ack);
	flow->nn_round_limit = nn_limit(p, &r);
	return flow->win.w;
}

nn_inline void netnice_on_round_end(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
				    const struct nn_siblings *siblings)
{
	flow->win.w = nn_sender_round(flow, p, ack, siblings);
}

#endif
