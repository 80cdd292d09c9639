/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice as a receiver: arrivals in, the report of a round out (decide.h). The window is bytes to advertise; below one
 * segment ../receiver/floor.h says which.
 *
 *   base     least round trip of timestamps; without them, of granted windows (../estimate/delay.h)
 *   queue    least one-way delay of the round above its own base
 *   reverse  least round trip of the round above base and queue
 *   packet   spacing of full segments that left together by the peer's clock
 *
 * Deviations from the sender:
 * - A loss is the peer's to answer. It ends the first slow start, as there.
 * - The depth of the buffer is not learned: a hole shows when the queue before it has drained.
 * - Once a minute a round has three quarters of W: Vegas' queue never empties, and the base would rise with it.
 */
#ifndef NN_READER_H
#define NN_READER_H

#include "../receiver/first_cut.h"
#include "../receiver/floor.h"
#include "decide.h"
#include "path.h"

#define NN_LOOK_SHIFT 26 /* bits of us: 67 s, a span of the base (../estimate/base_delay.h) */

struct nn_reader {
	struct nn_window win;
	struct nn_state state;
	struct nn_trial trial;
	u16 packet; /* service time of a segment, 16 us; 0: unknown */
	struct nn_report report; /* not on the stack, of which eBPF has 512 bytes */
	u32 limit; /* of the round at hand, us */
	u32 seen, slow; /* segments of the round */
	u32 last_us, last_tsval; /* of the last arrival */
	u32 base, base_rtt; /* before a trial */
	u8 paused; /* rounds below one segment */
	u8 cut; /* enum nn_cut */
};

NN_RECEIVER_STATE(nn_reader, nn_reader_of)

nn_inline void nn_reader_start(struct nn_receiver *flow, nn_params p)
{
	struct nn_reader *own = nn_reader_of(flow);

	__builtin_memset(own, 0, sizeof(*own));
	own->win.floor = (u16)p[NN_P_min_window];
	own->limit = NN_NEVER;
	nn_window_set(&own->win, nn_window_of_bytes(flow, flow->target));
	nn_state_init(&own->state, &own->win, !flow->estimate);
	if (flow->estimate) {
		own->state.full = own->win.w;
		own->state.probing = 0;
	} else {
		own->cut = NN_CUT_SEEN; /* a new connection has been granted nothing */
	}
}

/* Packet pairs: full segments that left together, by the peer's clock. */
nn_inline void nn_reader_spacing(struct nn_receiver *flow, const struct nn_segment *seg)
{
	struct nn_reader *own = nn_reader_of(flow);
	u32 gap = seg->now_us - own->last_us, apart = (seg->tsval - own->last_tsval) * flow->delay.tick;

	if (seg->stamped && flow->delay.tick && seg->segments == 1 && seg->bytes >= flow->mss)
		own->packet = (u16)nn_min(nn_packet_after(own->packet, gap / 16, apart, gap, 1), 0xffff);
	own->last_us = seg->now_us;
	own->last_tsval = seg->tsval;
}

/* The base with and without the queue on trial. */
nn_inline void nn_reader_reroute(struct nn_reader *own, struct nn_base_delay *base)
{
	if (own->trial.verdict == NN_TRIAL_TRIED) {
		own->base = base->least;
		own->base_rtt = base->rtt_min;
		nn_base_lengthen(base, nn_trial_longer_us(&own->trial));
	} else if (own->trial.verdict == NN_TRIAL_REFUTED) {
		nn_base_restore(base, own->base, own->base_rtt);
	}
}

nn_rare void nn_reader_report(struct nn_receiver *flow, u32 now_us)
{
	struct nn_reader *own = nn_reader_of(flow);
	const struct nn_receiver_round *round = &flow->round;
	u32 base = flow->delay.base.rtt_min, rtt = round->rtt_min == NN_NEVER ? 0 : round->rtt_min;

	own->report = (struct nn_report){
		.us = nn_max(now_us - round->start_us, 1),
		.base = base,
		.queue = round->queue_min,
		.reverse = nn_sub_saturating(rtt, nn_add_saturating(base, round->queue_min)),
		.delivered = round->segments,
		.seen = own->seen,
		.slow = own->slow,
		.packet = 16 * own->packet,
		.depth = NN_NEVER,
		.siblings = nn_max(flow->siblings, 1),
		.mean = nn_window_of_bytes(flow, flow->siblings_window),
		.limit = own->limit,
		.limited = !nn_unused(flow),
	};
	own->seen = own->slow = 0;
}

/* A round is over. */
nn_rare void nn_reader_round(struct nn_receiver *flow, nn_params p, u32 now_us)
{
	struct nn_reader *own = nn_reader_of(flow);
	struct nn_report *r = &own->report;

	if (nn_cut_is_unseen(flow, &own->cut) || r->base == NN_NEVER || r->queue == NN_NEVER)
		return;
	if (own->state.phase == NN_RISING)
		own->win.w = nn_max(own->win.w, nn_min(own->win.ssthresh, nn_window_of_bytes(flow, flow->window)));
	own->trial.verdict = NN_TRIAL_SAME;
	if (own->state.phase != NN_WAITING)
		nn_trial_round(&own->trial, now_us, r->queue, nn_max(nn_explained(r, own->win.w), p[NN_P_queue_floor]),
			       nn_max(2 * p[NN_P_queue_floor], (r->base + r->queue) >> 6), nn_is_congested(p, r));
	nn_reader_reroute(own, &flow->delay.base);
	nn_forget();
	r->longer = own->trial.verdict == NN_TRIAL_TRIED;
	nn_decide_round(&own->state, r, &own->win, p);
	nn_forget();
	r->base = flow->delay.base.rtt_min;
	own->limit = nn_limit(p, r);
	own->paused = own->win.w < NN_ONE ? nn_min(own->paused + 1, 255) : 0;
}

/* To the nearest segment: a sender rounds down. Once a minute a round without Vegas' queue: all siblings see the base. */
nn_inline u64 nn_reader_bytes(struct nn_receiver *flow, u32 now_us)
{
	const struct nn_reader *own = nn_reader_of(flow);
	u64 w = own->state.phase == NN_RISING ? own->win.ssthresh : own->win.w;

	if ((flow->round.start_us ^ now_us) >> NN_LOOK_SHIFT && own->state.phase == NN_STEADY)
		w = w / 4 * 3;
	return (w + NN_ONE / 2) * flow->mss >> NN_SHIFT;
}

nn_inline void nn_reader_arrival(struct nn_receiver *flow, nn_params p, const struct nn_segment *seg,
				 const struct nn_arrival *arrival)
{
	struct nn_reader *own = nn_reader_of(flow);
	u32 before = own->win.w;

	nn_reader_spacing(flow, seg);
	if (nn_unlikely(arrival->hole) && own->state.full == NN_NEVER)
		nn_state_lost(&own->state, &own->win, false, false);
	if (seg->stamped || arrival->round) {
		own->seen += seg->segments;
		own->slow += arrival->queue > own->limit ? seg->segments : 0;
	}
	if (!arrival->round)
		return;
	nn_reader_report(flow, seg->now_us);
	nn_reader_round(flow, p, seg->now_us);
	if (own->win.w < before)
		nn_cut(&own->cut);
	flow->low = own->win.w < NN_ONE;
	if (flow->low)
		flow->target = nn_floor_window(flow, own->paused);
	else
		nn_set_target(flow, nn_reader_bytes(flow, seg->now_us));
	nn_round_start(flow, seg);
}

#endif
