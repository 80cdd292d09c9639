/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * rLEDBAT (RFC 9840) with LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus) as its controller.
 *
 *   queue       RTT - least RTT, the least of a round's samples against delayed ACKs and noise (RFC 9840, 4.2)
 *   gain        1 / min(16, ceil(2 target / base)) segments a round, granted in whole segments
 *   above       W <- W + gain - W (queue/target - 1), at most halved
 *   start       slow start at that gain; the first one ends at 3/4 of the target
 *   slowdown    two rounds after the start and then nine times as seldom as it lasts: two segments for two rounds, slow
 *               start back. It shows the base to flows that came late
 *   loss        halve. A retransmission shows it: an old sequence number with a timestamp newer than the highest one's. What
 *               only overtook has an older one (RFC 9840, 4.3). Without timestamps a hole has to do
 *   first cut   no decision until it is seen in what comes (first_cut.h)
 *
 *     starting --queue, loss--> steady --due--> held --2 rounds--> ramp --queue, loss, W = ssthresh--> steady
 *
 * Deviations: decisions fall once a round, not once an ACK; a decrease in one round is halving at most, as the draft.
 */
#ifndef NN_RLEDBAT_H
#define NN_RLEDBAT_H

#include "first_cut.h"

#define RLEDBAT_PARAMS(P)                                                                                              \
	P(target, 60000)                                                                                               \
	P(floor, 2)                                                                                                    \
	P(initial, 10)                                                                                                 \
	P(skew, 0)

#define RLEDBAT_HOLD 2 /* rounds of two segments: LEDBAT++, section 4.4 */

enum rledbat_phase { RLEDBAT_STARTING, RLEDBAT_STEADY, RLEDBAT_HELD, RLEDBAT_RAMP };

struct rledbat {
	u32 ssthresh; /* bytes */
	u32 at_us; /* steady: when the next slowdown is due; held, ramp: when this one began */
	u32 credit; /* bytes of growth not yet worth a segment */
	u32 newest; /* timestamp of the highest sequence number seen */
	u32 held; /* rounds of the slowdown with two segments */
	u8 phase; /* enum rledbat_phase */
	u8 cut; /* enum nn_cut */
	u8 resent; /* the round has a retransmission */
	u8 hold; /* rounds still to ignore: their data left before the last decision */
};

NN_RECEIVER_STATE(rledbat, rledbat_of)

nn_inline void rledbat_on_start(struct nn_receiver *flow, nn_receiver_params p)
{
	struct rledbat *l = rledbat_of(flow);

	(void)p;
	__builtin_memset(l, 0, sizeof(*l));
	l->ssthresh = NN_RECEIVER_MOST;
	l->phase = RLEDBAT_STARTING;
}

nn_inline u32 rledbat_divisor(u32 target, u32 base)
{
	u64 ratio = (2ull * target + base - 1) / nn_max(base, 1);

	return ratio > 16 ? 16 : ratio < 1 ? 1 : (u32)ratio;
}

/* The next slowdown comes after `wait_us`. */
nn_inline void rledbat_steady(struct rledbat *l, u32 now_us, u32 wait_us)
{
	l->phase = RLEDBAT_STEADY;
	l->at_us = now_us + nn_min(wait_us, 600000000u);
}

nn_inline void rledbat_cut(struct nn_receiver *flow, u32 bytes)
{
	nn_set_target(flow, bytes);
	nn_cut(&rledbat_of(flow)->cut);
}

/* Would a decision be about data that left before the last one? */
nn_inline bool rledbat_waits(struct nn_receiver *flow)
{
	struct rledbat *l = rledbat_of(flow);

	if (l->hold) {
		l->hold--;
		return true;
	}
	return nn_cut_is_unseen(flow, &l->cut);
}

/* The slowdown's own steps; true while it decides the window. */
nn_inline bool rledbat_slowdown(struct nn_receiver *flow, u32 now_us)
{
	struct rledbat *l = rledbat_of(flow);

	if (l->phase == RLEDBAT_STEADY && nn_reached(now_us, l->at_us)) {
		l->ssthresh = flow->target;
		l->phase = RLEDBAT_HELD;
		l->at_us = now_us;
		l->held = 0;
		l->hold = 1;
		rledbat_cut(flow, 2 * flow->mss);
		return true;
	}
	if (l->phase != RLEDBAT_HELD)
		return false;
	if (++l->held >= RLEDBAT_HOLD)
		l->phase = RLEDBAT_RAMP;
	return true;
}

/* Slow start, if it is under way, ends where it is. */
nn_inline void rledbat_leave(struct nn_receiver *flow, u32 now_us)
{
	struct rledbat *l = rledbat_of(flow);

	if (l->phase == RLEDBAT_RAMP)
		rledbat_steady(l, now_us, nn_min(now_us - l->at_us, 60000000) * 9);
	else if (l->phase == RLEDBAT_STARTING)
		rledbat_steady(l, now_us, 2 * nn_min(flow->delay.base.rtt_min, 10000000));
}

nn_inline void rledbat_slow_start(struct nn_receiver *flow, u32 now_us, u32 queue, u32 target, u32 divisor)
{
	struct rledbat *l = rledbat_of(flow);
	u32 most = l->phase == RLEDBAT_RAMP ? target : target / 4 * 3;

	if (queue > most || flow->target >= l->ssthresh)
		rledbat_leave(flow, now_us);
	else if (!nn_unused(flow))
		nn_set_target(flow, nn_min(flow->target + nn_max(flow->target / divisor, 1), l->ssthresh));
}

nn_inline void rledbat_grow(struct nn_receiver *flow, u32 divisor)
{
	struct rledbat *l = rledbat_of(flow);

	l->credit += flow->mss / divisor;
	if (l->credit < flow->mss)
		return;
	nn_set_target(flow, (u64)flow->target + flow->mss);
	l->credit -= flow->mss;
}

nn_inline void rledbat_shrink(struct nn_receiver *flow, u32 queue, u32 target)
{
	u64 less = (u64)flow->target * (queue - target) / target;

	rledbat_cut(flow, less > flow->target / 2 ? flow->target / 2 : flow->target - (u32)less);
}

nn_inline void rledbat_lose(struct nn_receiver *flow, u32 now_us)
{
	rledbat_cut(flow, flow->target / 2);
	rledbat_of(flow)->ssthresh = flow->target;
	rledbat_of(flow)->hold = 1;
	rledbat_leave(flow, now_us);
}

nn_inline void rledbat_decide(struct nn_receiver *flow, nn_receiver_params p, u32 now_us)
{
	struct rledbat *l = rledbat_of(flow);
	u32 target = nn_max(p[NN_R_target], 100), base = flow->delay.base.rtt_min, queue, divisor;

	queue = flow->round.rtt_min == NN_NEVER ? 0 : flow->round.rtt_min - nn_min(base, flow->round.rtt_min);
	divisor = rledbat_divisor(target, base);
	if (l->resent && l->phase != RLEDBAT_HELD) {
		rledbat_lose(flow, now_us);
	} else if (!rledbat_slowdown(flow, now_us)) {
		if (l->phase != RLEDBAT_STEADY)
			rledbat_slow_start(flow, now_us, queue, target, divisor);
		else if (queue > target)
			rledbat_shrink(flow, queue, target);
		else if (!nn_unused(flow))
			rledbat_grow(flow, divisor);
	}
}

/* A round is over, and the next begins. */
nn_rare void rledbat_on_round(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg)
{
	if (!rledbat_waits(flow))
		rledbat_decide(flow, p, seg->now_us);
	rledbat_of(flow)->resent = 0;
	nn_round_start(flow, seg);
}

/* Was this one lost before? What only overtook has an older timestamp than what it overtook. */
nn_inline bool rledbat_resent(struct rledbat *l, u32 next, const struct nn_segment *seg, bool hole)
{
	if (!seg->stamped)
		return hole;
	if (seg->seq + seg->bytes != next)
		return (s32)(seg->tsval - l->newest) > 0;
	l->newest = seg->tsval;
	return false;
}

nn_inline void rledbat_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
				  const struct nn_arrival *arrival)
{
	struct rledbat *l = rledbat_of(flow);

	if (nn_unlikely(rledbat_resent(l, flow->next, seg, arrival->hole)))
		l->resent = 1;
	if (arrival->round)
		rledbat_on_round(flow, p, seg);
}

#endif
