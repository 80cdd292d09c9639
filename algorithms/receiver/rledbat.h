/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * rLEDBAT (RFC 9840) with LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus) as its controller.
 *
 *   queue       RTT - least RTT, the least of a round's samples against delayed ACKs and noise (RFC 9840, 4.2)
 *   gain        1 / min(16, ceil(2 target / base)) segments a round
 *   above       W <- W + gain - W (queue/target - 1), at most halved
 *   start       slow start at that gain until 3/4 of the target
 *   slowdown    two rounds after the start and then nine times as seldom as it lasts: two segments for two rounds, slow
 *               start back. It shows the base to flows that came late
 *   loss        halve
 *
 * Deviations: decisions fall once a round, not once an ACK; a decrease in one round is halving at most, as the draft.
 */
#ifndef NN_RLEDBAT_H
#define NN_RLEDBAT_H

#include "flow.h"

enum nn_slowdown { NN_SLOWDOWN_NONE, NN_SLOWDOWN_WAIT, NN_SLOWDOWN_BACK };

nn_inline void rledbat_start(struct nn_receiver *flow, nn_receiver_params p)
{
	struct nn_rledbat *l = &flow->rledbat;

	(void)p;
	l->ssthresh = NN_RECEIVER_MOST;
	l->slow_start = 1;
	l->slowdown = NN_SLOWDOWN_NONE;
	l->planned = 0;
	l->slow_us = 0;
	l->next_us = 0;
	l->credit = 0;
}

nn_inline u32 rledbat_divisor(u32 target, u32 base)
{
	u64 ratio = (2ull * target + base - 1) / nn_max(base, 1);

	return ratio > 16 ? 16 : ratio < 1 ? 1 : (u32)ratio;
}

nn_inline void rledbat_plan(struct nn_rledbat *l, u32 now_us, u32 wait_us)
{
	l->planned = 1;
	l->next_us = now_us + nn_min(wait_us, 600000000u);
}

/* The slowdown's own steps; true while it decides the window. */
nn_inline bool rledbat_slowdown(struct nn_receiver *flow, u32 now_us)
{
	struct nn_rledbat *l = &flow->rledbat;

	if (l->slowdown == NN_SLOWDOWN_NONE && l->planned && nn_reached(now_us, l->next_us)) {
		l->ssthresh = flow->target;
		l->slow_us = now_us;
		l->planned = 0;
		l->slowdown = NN_SLOWDOWN_WAIT;
	}
	if (l->slowdown != NN_SLOWDOWN_WAIT)
		return false;
	nn_set_target(flow, 2 * flow->mss);
	if (now_us - l->slow_us >= 2 * nn_min(flow->delay.rtt_min, 10000000)) {
		l->slowdown = NN_SLOWDOWN_BACK;
		l->slow_start = 1;
	}
	return true;
}

nn_inline void rledbat_slow_start(struct nn_receiver *flow, u32 now_us, u32 queue, u32 target, u32 divisor)
{
	struct nn_rledbat *l = &flow->rledbat;
	bool back = l->slowdown == NN_SLOWDOWN_BACK;

	if (queue <= target / 4 * 3 && flow->target < l->ssthresh) {
		if (!nn_unused(flow))
			nn_set_target(flow, nn_min(flow->target + nn_max(flow->target / divisor, 1), l->ssthresh));
		return;
	}
	l->slow_start = 0;
	if (back)
		rledbat_plan(l, now_us, nn_min(now_us - l->slow_us, 60000000) * 9);
	else if (!l->planned)
		rledbat_plan(l, now_us, 2 * nn_min(flow->delay.rtt_min, 10000000));
	l->slowdown = NN_SLOWDOWN_NONE;
}

nn_inline void rledbat_grow(struct nn_receiver *flow, u32 divisor)
{
	struct nn_rledbat *l = &flow->rledbat;

	l->credit += flow->mss / divisor;
	nn_set_target(flow, (u64)flow->target + l->credit);
	l->credit = 0;
}

nn_inline void rledbat_shrink(struct nn_receiver *flow, u32 queue, u32 target)
{
	u64 less = (u64)flow->target * (queue - target) / target;

	nn_set_target(flow, less > flow->target / 2 ? flow->target / 2 : flow->target - less);
}

nn_rare void rledbat_on_round(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg)
{
	struct nn_rledbat *l = &flow->rledbat;
	u32 target = nn_max(p[NN_R_target], 100), base = flow->delay.rtt_min, queue, divisor;

	queue = flow->round.rtt_min == NN_NEVER ? 0 : flow->round.rtt_min - nn_min(base, flow->round.rtt_min);
	divisor = rledbat_divisor(target, base);
	if (flow->round.lost && l->slowdown != NN_SLOWDOWN_WAIT) {
		nn_set_target(flow, flow->target / 2);
		l->ssthresh = flow->target;
		l->slow_start = 0;
		if (!l->planned)
			rledbat_plan(l, seg->now_us, 2 * nn_min(base, 10000000));
		l->slowdown = NN_SLOWDOWN_NONE;
	} else if (!rledbat_slowdown(flow, seg->now_us)) {
		if (l->slow_start)
			rledbat_slow_start(flow, seg->now_us, queue, target, divisor);
		else if (queue > target)
			rledbat_shrink(flow, queue, target);
		else if (!nn_unused(flow))
			rledbat_grow(flow, divisor);
	}
	nn_round_start(flow, seg);
}

nn_inline void rledbat_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
				  const struct nn_arrival *arrival)
{
	if (arrival->round)
		rledbat_on_round(flow, p, seg);
}

#endif
