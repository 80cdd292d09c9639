/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What an arrival tells, the same for every algorithm: a hole, a round trip, a queue, the end of a round. */
#ifndef NN_ARRIVAL_H
#define NN_ARRIVAL_H

#include "../estimate/sender_window.h"

#define NN_ROUNDED 256 /* bytes: a window scale of 8, of receive buffers of up to 16 MB */
#define NN_ROUNDED_MOST 1024 /* where a segment is still more */

/* The round-trip time that this arrival shows, us; 0: none. */
nn_inline u32 nn_arrival_rtt(const struct nn_receiver *flow, const struct nn_segment *seg, bool round)
{
	s32 rtt = seg->stamped ? (s32)(seg->clock - seg->tsecr) : round ? (s32)(seg->now_us - flow->round.start_us) : 0;

	return rtt > 0 ? (u32)rtt : 0;
}

nn_rare void nn_first_arrival(struct nn_receiver *flow, const struct nn_segment *seg)
{
	flow->seen = 1;
	flow->next = seg->seq;
	flow->start_us = seg->now_us;
	flow->rounded = NN_ROUNDED;
	nn_delay_init(&flow->delay);
	nn_round_start(flow, seg);
}

/* Largest payload of a segment, in a joined one that has `bytes`. */
nn_rare u32 nn_larger(u32 mss, u32 bytes, u32 segments)
{
	return nn_max(mss, nn_min(bytes / nn_max(segments, 1), 65535));
}

/* What begins with this arrival: the flow, or a round whose mark counts something else. */
nn_inline void nn_begin(struct nn_receiver *flow, const struct nn_segment *seg)
{
	if (!flow->seen)
		nn_first_arrival(flow, seg);
	/* our clock was learnt, or a timestamp is missing */
	if ((seg->stamped != 0) != flow->round.stamped)
		nn_round_start(flow, seg);
}

/* Half of the least round trip is none: the kernel rounds to more than was believed. The round is timed again. */
nn_inline bool nn_too_short(struct nn_receiver *flow, u32 rtt)
{
	u32 least = flow->delay.base.rtt_min;

	if (rtt >= least / 2 || least == NN_NEVER || flow->rounded >= NN_ROUNDED_MOST)
		return false;
	flow->rounded *= 2;
	flow->round.mark = flow->edge;
	flow->granted = NN_GRANTED_MARK;
	return true;
}

/* Without a timestamp only the end of a round is a sample. False: it is none. */
nn_inline bool nn_arrive_unstamped(struct nn_receiver *flow, const struct nn_segment *seg, struct nn_arrival *out)
{
	struct nn_receiver_round *round = &flow->round;

	out->queue = flow->delay.queue;
	if (out->round && nn_too_short(flow, out->rtt))
		out->round = false;
	if (!out->round) {
		out->rtt = 0;
		return false;
	}
	flow->estimate = round->bytes < NN_RECEIVER_MOST ? (u32)round->bytes : NN_RECEIVER_MOST;
	out->queue = nn_delay_unstamped(&flow->delay, seg->now_us, nn_max(out->rtt, 1));
	round->queue_sum = (u64)out->queue * (round->segments - seg->segments);
	return true;
}

nn_inline void nn_arrive(struct nn_receiver *flow, const struct nn_segment *seg, struct nn_arrival *out)
{
	struct nn_receiver_round *round = &flow->round;
	u32 end = seg->seq + seg->bytes;

	out->hole = (s32)(seg->seq - flow->next) > 0;
	if (nn_unlikely(out->hole)) {
		round->lost++;
		round->missing = nn_add_saturating(round->missing, seg->seq - flow->next);
	}
	if (nn_likely(nn_reached(end, flow->next)))
		flow->next = end;
	if (nn_unlikely(seg->bytes > (u64)flow->mss * seg->segments)) /* spares most arrivals the division */
		flow->mss = nn_larger(flow->mss, seg->bytes, seg->segments);
	out->round = seg->stamped ? nn_reached(seg->tsecr, round->mark)
				  : flow->granted == NN_GRANTED_MORE && (s32)(end - round->mark) > 0;
	out->rtt = nn_arrival_rtt(flow, seg, out->round);
	round->bytes += seg->bytes;
	round->segments += seg->segments;
	if (seg->stamped) {
		nn_sender_window_on_arrival(flow, seg);
		out->queue = nn_delay_stamped(&flow->delay, seg, nn_max(out->rtt, 1));
	} else if (!nn_arrive_unstamped(flow, seg, out)) {
		return;
	}
	nn_receiver_round_count(round, out->queue, out->rtt, seg->segments);
}

#endif
