/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice as a receiver: arrivals in, the report of a round out (decide.h); the window as bytes to advertise, below one
 * segment as ../receiver/floor.h has it.
 *
 *   base     least round trip, by timestamps (../estimate/base_delay.h)
 *   queue    one-way delay above its base (../estimate/delay.h)
 *   depth    unknown: a hole is seen when the queue has drained, and W is not the window that a loss halves
 *   reverse  unknown, and not needed: an arrival's delay is the forward path's
 */
#ifndef NN_READER_H
#define NN_READER_H

#include "../receiver/first_cut.h"
#include "../receiver/floor.h"
#include "decide.h"
#include "path.h"

#define NN_RX_THRESHOLD 6u /* percent of the base */
#define NN_RX_FRACTION 90u
#define NN_RX_ALPHA 32u /* 1/16 segment */
#define NN_RX_OWN 48u /* 1/16 packet time */
#define NN_RX_FLOOR_US 1000u /* half a tick of our clock, and of the peer's */

struct nn_reader {
	struct nn_window win;
	struct nn_state state;
	struct nn_trial trial;
	struct nn_report report; /* here, as eBPF has 512 bytes of stack */
	u32 limit; /* of the round at hand, us */
	u32 seen, slow; /* segments of the round at hand */
	u32 packet; /* service time of a segment, us; 0: unknown */
	u32 last_us, last_tsval;
	u32 base, base_rtt; /* before a trial */
	u8 paused; /* rounds below one segment */
	u8 cut; /* enum nn_cut */
};

NN_RECEIVER_STATE(nn_reader, nn_reader_of)

nn_inline struct nn_rules nn_reader_rules(void)
{
	return (struct nn_rules){ NN_RX_THRESHOLD, NN_RX_FRACTION, NN_RX_ALPHA, NN_RX_OWN, NN_RX_FLOOR_US };
}

/* Bytes as a window, 1/4096 segment. */
nn_inline u32 nn_reader_window(const struct nn_receiver *flow, u32 bytes)
{
	u64 w = ((u64)bytes << NN_SHIFT) / nn_max(flow->mss, 1);

	return w < NN_MAX_WINDOW ? (u32)w : NN_MAX_WINDOW;
}

/* A connection in use goes on with the window that its sender has, in Vegas' state. */
nn_inline void nn_reader_start(struct nn_receiver *flow)
{
	struct nn_reader *own = nn_reader_of(flow);

	__builtin_memset(own, 0, sizeof(*own));
	own->win.floor = NN_ONE / 48;
	nn_window_set(&own->win, nn_reader_window(flow, flow->target));
	nn_state_init(&own->state, &own->win, true);
	own->limit = NN_NEVER;
	own->cut = NN_CUT_SEEN; /* a new connection has been granted nothing */
	if (!flow->estimate)
		return;
	own->win.ssthresh = own->win.w;
	own->state.full = own->win.w;
	own->state.probing = 0;
	own->state.phase = NN_STEADY;
	own->cut = NN_CUT_NONE;
}

/* Packet pairs: arrivals of one TSval left together. */
nn_inline void nn_reader_spacing(struct nn_reader *own, const struct nn_segment *seg)
{
	u32 gap = seg->now_us - own->last_us;

	if (seg->stamped && seg->tsval == own->last_tsval && seg->segments)
		own->packet = nn_packet_after(own->packet, gap, 0, gap, seg->segments);
	own->last_us = seg->now_us;
	own->last_tsval = seg->tsval;
}

nn_inline void nn_reader_report(struct nn_receiver *flow, u32 now_us)
{
	struct nn_reader *own = nn_reader_of(flow);
	struct nn_report *r = &own->report;

	r->us = nn_max(now_us - flow->round.start_us, 1);
	r->base = flow->delay.base.rtt_min;
	r->queue = flow->round.queue_min;
	r->reverse = 0;
	r->delivered = flow->round.segments;
	r->seen = own->seen;
	r->slow = own->slow;
	r->packet = own->packet;
	r->depth = NN_NEVER;
	r->limit = own->limit;
	r->siblings = nn_max(flow->siblings, 1);
	r->mean = nn_reader_window(flow, flow->siblings_window);
	r->limited = !nn_unused(flow);
	r->longer = false;
	own->seen = 0;
	own->slow = 0;
}

/* The base with and without the delay on trial. */
nn_inline void nn_reader_reroute(struct nn_receiver *flow, enum nn_verdict verdict)
{
	struct nn_reader *own = nn_reader_of(flow);
	struct nn_base_delay *base = &flow->delay.base;

	if (verdict == NN_TRIAL_TRIED) {
		own->base = base->least;
		own->base_rtt = base->rtt_min;
		nn_base_lengthen(base, nn_trial_longer_us(&own->trial));
	} else if (verdict == NN_TRIAL_REFUTED) {
		nn_base_restore(base, own->base, own->base_rtt);
		nn_trial_end(&own->trial);
	}
}

nn_rare void nn_reader_round(struct nn_receiver *flow, u32 now_us)
{
	struct nn_reader *own = nn_reader_of(flow);
	struct nn_report *r = &own->report;
	struct nn_rules rules = nn_reader_rules();
	enum nn_verdict verdict = NN_TRIAL_SAME;

	nn_reader_report(flow, now_us);
	if (nn_cut_is_unseen(flow, &own->cut) || r->base == NN_NEVER || r->queue == NN_NEVER)
		return;
	if (own->state.phase == NN_RISING) /* as far as ACKs have opened it */
		own->win.w = nn_max(own->win.w, nn_min(own->win.ssthresh, nn_reader_window(flow, flow->window)));
	if (own->state.phase != NN_WAITING && r->seen) {
		u32 explained = own->win.w < NN_ONE ? 0 : (u32)((u64)r->packet * own->win.w >> NN_SHIFT);

		verdict = nn_trial_round(&own->trial, now_us, r->queue, nn_max(explained, nn_floor_us(&rules, r)),
					 nn_max(rules.floor_us, (r->base + r->queue) >> 6), nn_is_congested(&rules, r));
	}
	r->longer = verdict == NN_TRIAL_TRIED;
	nn_decide_round(&own->state, r, &own->win, &rules);
	nn_reader_reroute(flow, verdict);
	r->base = flow->delay.base.rtt_min;
	own->limit = nn_limit(&rules, r);
	own->paused = own->win.w < NN_ONE ? nn_min(own->paused + 1, 255) : 0;
}

nn_inline void nn_reader_arrival(struct nn_receiver *flow, const struct nn_segment *seg,
				 const struct nn_arrival *arrival)
{
	struct nn_reader *own = nn_reader_of(flow);
	u32 before = own->win.w, w;

	nn_reader_spacing(own, seg);
	if (seg->stamped || arrival->round) {
		own->seen += seg->segments;
		own->slow += arrival->queue > own->limit ? seg->segments : 0;
	}
	if (!arrival->round)
		return;
	nn_reader_round(flow, seg->now_us);
	nn_round_start(flow, seg);
	if (own->win.w < before)
		nn_cut(&own->cut);
	flow->low = own->win.w < NN_ONE;
	w = own->state.phase == NN_RISING ? nn_max(own->win.ssthresh, own->win.w) : own->win.w;
	if (flow->low)
		flow->target = nn_floor_window(flow, own->paused);
	else
		nn_set_target(flow, (u64)w * flow->mss >> NN_SHIFT);
}

#endif
