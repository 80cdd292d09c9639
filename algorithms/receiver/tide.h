/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TIDE: netnice's own receiver. It asks whose queue it is by taking its own away.
 *
 *   rise    the round's least queue is below target/2: grow; double towards the window remembered, then one segment a
 *           round and faster the longer the path stays clear
 *   drain   least queue > target: W <- W rtt/(rtt + queue), which is what the path holds without a queue. If it was ours,
 *           it is gone one round later, and the base is seen afresh. On the way back up the queue may be our own burst's,
 *           or theirs who leave: the first drain there forgets nothing, and doubling goes on once more
 *   memory  the window that filled the path without a queue. One that met a queue as soon as it was reached is refuted:
 *           it halves, for the stranger who took the path may give it back
 *   ebb     it survived the drain, or our rate fell below half of its maximum: somebody else's. Down to the floor, and
 *           stay there until the queue is gone
 *   step    a delay that jumps between neighbours and stays for four arrivals is a stranger's first flight: ebb within
 *           the round, without asking
 *   switch  a sender that was foreground until now first uses up what the kernel had granted, for ten round trips at times.
 *           After the first decrease nothing is decided until it is seen
 *   trial   queues move. A delay that stands still is the path's: a longer route, a card that waits for more to join.
 *           After 32 such rounds it is taken for the base, and the flow rises. Sixteen clear rounds confirm that; a
 *           queue in four of them refutes it, and the next trial comes after twice as many rounds
 *
 * Why the least queue of a round: our own burst makes some segments wait, a standing queue all. Why a drain and not a
 * halving: alone, it costs nothing, for what is taken away was only waiting. Why a floor in segments: a flow at one
 * segment a round trip still samples the queue, and sixty-four of them fit where sixty-four pairs would be the queue.
 *
 * Limits: it cannot stop faster than one round trip, for what is granted is granted. Behind a flow-queueing router the
 * stranger's queue is not ours to see: there, only a mark helps. A base learnt while others keep the queue full is too
 * long until they drain it. Where delays jitter by more than half of `target`, no trial begins: a longer route is accepted
 * when the base is forgotten, after 256 s at most.
 */
#ifndef NN_TIDE_H
#define NN_TIDE_H

#include "flow.h"

#define NN_TIDE_STEP_ARRIVALS 4
#define NN_TIDE_PAUSE 8 /* rounds at the floor: as long as a document's burst takes, and its queue */
#define NN_TIDE_TOGETHER 3 /* rounds of it in company: with 8, sixteen flows alone had a Jain's index of .97, 64 .94 */
#define NN_TIDE_LEAST 1024 /* bytes: less than a full segment */
#define NN_TIDE_LARGE 12 /* segments */
#define NN_TIDE_SETTLED 4 /* rounds */
#define NN_TIDE_PATIENCE 32 /* rounds: more than a sawtooth's top takes to move by half of `target` */
#define NN_TIDE_LONGEST 1024 /* rounds between trials */
#define NN_TIDE_TRIAL 16 /* rounds: to double from one segment to a thousand, and a few */
#define NN_TIDE_DOUBTS 3 /* rounds of a trial with a queue: a return overshoots by that much at times */
#define NN_TIDE_STEP_MS 5 /* neighbours were sent at most so far apart: a pause is no jump */

/* How a window grows: `doubling`. */
enum nn_growth { NN_TIDE_CREEPS, NN_TIDE_DOUBLES, NN_TIDE_DOUBLES_AGAIN };

nn_inline void tide_start(struct nn_receiver *flow, nn_receiver_params p)
{
	struct nn_tide *t = &flow->tide;

	(void)p;
	__builtin_memset(t, 0, sizeof(*t));
	t->full = NN_NEVER;
	t->stride = 1;
	t->patience = NN_TIDE_PATIENCE;
	t->doubling = flow->estimate ? NN_TIDE_CREEPS : NN_TIDE_DOUBLES;
	t->less = flow->estimate ? NN_LESS_NEVER : NN_LESS_SEEN; /* a new connection has been granted nothing */
	if (flow->estimate)
		t->full = flow->estimate;
}

/* Of the window `w`, what the path holds when nobody waits. */
nn_inline u32 tide_share(const struct nn_receiver *flow, u32 w, u32 queue)
{
	u64 base = nn_max(flow->delay.rtt_min, 1);

	return nn_max((u32)(w * base / (base + queue)), flow->floor);
}

nn_inline void tide_calm(struct nn_tide *t)
{
	t->stride = 1;
	t->quiet = 0;
}

/*
 * At the floor: single segments. But first, for as long as a pause lasts, pairs, which delayed ACKs do not hold back. Where
 * others of the host pause too, that would be the queue: sixteen flows' single segments are 4.6 Mbit/s at 40 ms. So in
 * company a shorter pause, with a window that no full segment fits into: senders then send as much as fits when their
 * persist timer ends (RFC 9293, 3.8.6.1 and 3.8.6.2.1), Linux after 0.2 s or more. For longer it is unfair: who has so
 * little comes back last.
 */
nn_inline void tide_stay(struct nn_receiver *flow)
{
	struct nn_tide *t = &flow->tide;

	flow->low = 1;
	if (t->ebbing >= (flow->company ? NN_TIDE_TOGETHER : NN_TIDE_PAUSE))
		flow->target = flow->floor;
	else if (flow->company)
		flow->target = nn_min(NN_TIDE_LEAST, flow->floor);
	else
		nn_set_target(flow, 2 * flow->mss);
	t->ebbing = nn_add_saturating(t->ebbing, 1);
	t->doubling = NN_TIDE_DOUBLES;
	flow->haste = 1;
}

/* A window that met a queue as soon as the return had reached it is refuted; one that held for a while is kept. */
nn_inline void tide_remember(struct nn_tide *t, u32 share, bool company)
{
	u32 kept = company ? 0 : t->peak / 2; /* peers do not leave */
	bool refuted = !t->doubling && t->settled < NN_TIDE_SETTLED;

	t->full = refuted || t->full == NN_NEVER ? share : nn_max(t->full, share);
	t->peak = nn_max(refuted ? kept : t->peak, share);
}

nn_inline void tide_restart(struct nn_tide *t, u32 queue)
{
	t->low = queue;
	t->high = queue;
	t->still = 0;
}

/* Has the delay stood still for long enough? */
nn_inline bool tide_stands(struct nn_tide *t, const struct nn_arrivals *round, u32 width)
{
	t->low = nn_min(t->low, round->queue_min);
	t->high = nn_max(t->high, round->queue_min);
	if (t->high - t->low > width)
		tide_restart(t, round->queue_min);
	return ++t->still > t->patience;
}

nn_inline void tide_try(struct nn_receiver *flow)
{
	struct nn_tide *t = &flow->tide;

	t->base = flow->delay.least;
	t->base_rtt = flow->delay.rtt_min;
	nn_delay_lengthen(&flow->delay, t->low);
	t->trying = NN_TIDE_TRIAL;
	t->doubts = 0;
	flow->low = 0;
	t->persisted = 0;
	t->drains = 0;
	t->doubling = NN_TIDE_DOUBLES;
	t->rate_max = 0;
	tide_calm(t);
	tide_restart(t, 0);
}

nn_inline void tide_refute(struct nn_receiver *flow)
{
	struct nn_tide *t = &flow->tide;

	t->trying = 0;
	t->patience = nn_min(t->patience * 2, NN_TIDE_LONGEST);
	nn_delay_restore(&flow->delay, t->base, t->base_rtt);
	tide_restart(t, 0);
}

/* What comes in the next round left before it. */
nn_inline void tide_lessened(struct nn_tide *t)
{
	t->settled = 0;
	t->hold = 1;
	if (t->less == NN_LESS_NEVER)
		t->less = NN_LESS_TOLD;
}

nn_rare void tide_ebb(struct nn_receiver *flow, u32 queue)
{
	struct nn_tide *t = &flow->tide;
	u32 share = tide_share(flow, flow->target, queue);

	if (t->trying)
		tide_refute(flow);
	if (!flow->low)
		tide_remember(t, share, flow->company);
	tide_lessened(t);
	t->ebbing = 0;
	tide_stay(flow);
	tide_calm(t);
	t->rate_max = 0;
	t->persisted = 0;
}

/* What was remembered held a queue of ours. */
nn_inline void tide_correct(struct nn_tide *t, u32 share, bool company)
{
	if (!t->drains)
		t->full = share;
	if (!t->doubling && t->settled < NN_TIDE_SETTLED)
		t->peak = company ? 0 : t->peak / 2;
	t->peak = nn_max(t->peak - t->peak / 16, share);
}

nn_inline void tide_drain(struct nn_receiver *flow, u32 queue, bool strange)
{
	struct nn_tide *t = &flow->tide;
	u32 share = tide_share(flow, flow->target, queue);
	bool on_the_way = t->doubling == NN_TIDE_DOUBLES && t->full != NN_NEVER && !flow->company;

	nn_set_target(flow, share);
	if (!on_the_way)
		tide_correct(t, share, flow->company);
	tide_lessened(t);
	t->drains++;
	t->doubling = on_the_way ? NN_TIDE_DOUBLES_AGAIN : NN_TIDE_CREEPS;
	t->persisted = strange;
	tide_calm(t);
}

/* Bytes a millisecond, in a round of `us`. */
nn_rare u32 tide_rate(const struct nn_arrivals *round, u32 us)
{
	return (u32)(round->bytes * 1000 / us);
}

/* Is the queue more than our own growth since the path was clear can have made? Many small flows' growth adds up. */
nn_inline bool tide_unexplained(const struct nn_receiver *flow, u32 target, u32 queue, u32 rate)
{
	const struct nn_tide *t = &flow->tide;
	u32 grown = flow->target - nn_min(flow->target, t->clear[1]);

	return flow->target > NN_TIDE_LARGE * flow->mss && queue > 2000ull * grown / nn_max(rate, 1) + target;
}

/* The queue stands. */
nn_inline void tide_congested(struct nn_receiver *flow, nn_receiver_params p, u32 queue, u32 mean, u32 us)
{
	struct nn_tide *t = &flow->tide;
	u32 rate = tide_rate(&flow->round, us);
	bool strange = queue > p[NN_R_foreign], shrinks = queue < t->last_queue / 4 * 3;

	if (t->trying && ++t->doubts > NN_TIDE_DOUBTS) {
		tide_ebb(flow, mean);
	} else if (flow->low) {
		tide_stay(flow);
	} else if (strange && ((t->persisted && !shrinks) || (u64)rate * 2 < t->rate_max ||
			       tide_unexplained(flow, p[NN_R_target], queue, rate))) {
		tide_ebb(flow, mean);
	} else if (t->drains && shrinks) {
		t->drains++;
	} else {
		tide_drain(flow, mean, strange);
	}
	t->last_queue = queue;
}

/* The path is clear. */
nn_inline void tide_rise(struct nn_receiver *flow, u32 target, u32 mean)
{
	struct nn_tide *t = &flow->tide;
	u32 known, step;

	if (t->trying)
		t->trying--;
	else if (t->settled >= NN_TIDE_SETTLED)
		t->patience = NN_TIDE_PATIENCE;
	flow->low = 0;
	t->persisted = 0;
	nn_set_target(flow, flow->target); /* it was below the floor in company */
	t->clear[1] = t->clear[0];
	t->clear[0] = flow->target;
	if (t->drains > 1 && t->full != NN_NEVER && flow->target < t->full) {
		nn_set_target(flow, t->full - t->full / 32);
		t->drains = 0;
		tide_calm(t);
		return;
	}
	t->drains = 0;
	if (t->doubling && t->full == NN_NEVER && mean > 2 * target) {
		t->doubling = NN_TIDE_CREEPS; /* the first start: leave before it overshoots */
		t->full = flow->target;
	}
	if (t->doubling && mean > 3 * target)
		return; /* others are leaving, or coming: the next round will tell */
	if (nn_unused(flow))
		return;
	known = t->full == NN_NEVER ? NN_RECEIVER_MOST : nn_max(t->full, t->peak) / 8 * 7;
	if (t->doubling && flow->target + 64 < known) {
		flow->haste = t->full == NN_NEVER ? 1 : 2;
		nn_set_target(flow, nn_min((1 + flow->haste) * flow->target, known));
		return;
	}
	t->doubling = NN_TIDE_CREEPS;
	t->settled++;
	t->quiet++;
	if (mean > 2 * target)
		tide_calm(t);
	if (t->quiet > 3)
		t->stride = nn_min(t->stride * 2, 64);
	step = nn_max(flow->target / (t->quiet > 8 ? 4 : 16), flow->mss);
	nn_set_target(flow, (u64)flow->target + nn_min(t->stride * flow->mss, step));
}

nn_inline void tide_decide(struct nn_receiver *flow, nn_receiver_params p, u32 now_us)
{
	struct nn_tide *t = &flow->tide;
	const struct nn_arrivals *round = &flow->round;
	u32 target = p[NN_R_target], queue = round->queue_min, mean = nn_round_queue(round);
	u32 us = nn_max(now_us - round->start_us, 1), rate_max = t->rate_max - t->rate_max / 256;

	if (round->bytes * 1000 >= (rate_max + 1ull) * us) /* dearer is the division */
		rate_max = tide_rate(round, us);
	t->rate_max = rate_max;
	if (t->hold) {
		t->hold--;
		return;
	}
	if (nn_unseen(flow, &t->less))
		return;
	if (flow->haste != 1)
		flow->haste = 1;
	if (queue > target || (round->lost && mean > p[NN_R_foreign])) {
		if (tide_stands(t, round, target / 2))
			tide_try(flow);
		else
			tide_congested(flow, p, queue, mean, us);
	} else if (flow->low && round->queue_max > target) {
		if (tide_stands(t, round, target / 2))
			tide_try(flow);
		else
			tide_stay(flow);
	} else if (queue > target / 2) {
		tide_restart(t, queue);
		tide_calm(t);
		t->doubling = NN_TIDE_CREEPS;
		t->persisted = 0;
		t->drains = 0;
		if (flow->target < round->bytes + round->bytes / 2 + 4 * flow->mss)
			nn_set_target(flow, flow->target + flow->mss);
	} else {
		tide_restart(t, queue);
		tide_rise(flow, target, mean);
	}
}

/* Did a stranger's flight just come between our segments? */
nn_inline bool tide_stepped(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg, u32 queue)
{
	struct nn_tide *t = &flow->tide;
	u32 apart = seg->tsval - t->previous_tsval;
	s32 jump = (s32)(queue - t->previous), step = (s32)p[NN_R_step];

	t->previous = queue;
	t->previous_tsval = seg->tsval;
	if (!t->step_count && jump < step)
		return false;
	if (t->step_count)
		t->step_count = queue >= t->step_base + step ? t->step_count + 1 : 0;
	else if (seg->stamped && flow->delay.tick && apart * flow->delay.tick <= NN_TIDE_STEP_MS * 1000) {
		t->step_count = 1;
		t->step_base = queue - (u32)jump;
	}
	if (t->step_count < NN_TIDE_STEP_ARRIVALS)
		return false;
	t->step_count = 0;
	return true;
}

/* A round is over, and the next begins. */
nn_rare void tide_on_round(struct nn_receiver *flow, nn_receiver_params p, u32 now_us, u32 mark, bool stamped)
{
	tide_decide(flow, p, now_us);
	nn_round_set(flow, mark, now_us, stamped);
}

nn_inline void tide_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
			       const struct nn_arrival *arrival)
{
	struct nn_tide *t = &flow->tide;

	if (tide_stepped(flow, p, seg, arrival->queue) && !flow->low && !arrival->hole &&
	    flow->target > 8 * flow->mss) {
		tide_ebb(flow, t->step_base);
		nn_round_start(flow, seg);
	} else if (arrival->round) {
		tide_on_round(flow, p, seg->now_us, nn_round_mark(flow, seg), seg->stamped != 0);
	}
}

#endif
