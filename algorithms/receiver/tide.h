/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TIDE: netnice's own receiver. It asks whose queue it is by taking its own away.
 *
 *     floor --clear--> doubling --window remembered--> creeping --queue--> draining --clear--> creeping
 *                         |                               ^
 *                         +--queue--> easing --clear--> resuming
 *     draining, or any of them --a stranger's queue--> floor --nearly clear--> leaving --clear--> creeping
 *
 *   doubling  towards the window remembered, while the round's least queue is below target/2
 *   easing    a queue on the way back up may be of our own burst, or of flows that end: drained too, but nothing is forgotten
 *   resuming  doubling once more
 *   creeping  one segment a round, among all downloads of the host, and faster the longer the path stays clear
 *   draining  least queue > target: W <- W rtt/(rtt + queue), which is what the path holds without a queue. If it was ours,
 *             it is gone one round later, and the base is measured anew
 *   floor     the queue is another flow's. It survived the drain, our rate fell below half of its maximum, or a delay jumped
 *             between neighbours (step.h). Back off to the least window, and stay there until the queue is gone
 *   leaving   what is left of that queue is below the target: creep, and go back at once if it grows
 *
 * It remembers the window that filled the path without a queue. If it met a queue as soon as it was reached, it is
 * rejected: it halves. It is not lost, as the flow that took the path may give it back. A delay that stands still is tried as the
 * path's (route.h). After its first decrease nothing is decided until it is seen (first_cut.h). A flow that was foreground
 * until now begins at the least window, as its own queue hides the base RTT and the queues of others.
 *
 * Why the least queue of a round: our own burst makes some segments wait, a standing queue all. Why a drain and not a
 * halving: alone, it costs nothing, as what is taken away was only waiting. Why the least window is in segments: a flow
 * at one segment a round trip still samples the queue. Sixty-four such flows fit where sixty-four pairs would be the
 * queue. Why a target by the path (state.h): 4 ms are half of a fibre's round trip, and three packets of 10 Mbit/s.
 *
 * Limits: it cannot stop faster than one round trip, as a granted window cannot be taken back. Behind a flow-queueing router
 * other flows' queues are not visible: there, only a mark helps. A base measured while others keep the queue full is too long
 * until they drain it. Where delays jitter by more than half of `target`, no trial begins. A longer route is then accepted
 * when the base is forgotten, after 256 s at most.
 */
#ifndef NN_TIDE_H
#define NN_TIDE_H

#include "tide/policed.h"
#include "tide/rise.h"

#define TIDE_PARAMS(P)                                                                                                 \
	P(target, 4000)                                                                                                \
	P(foreign, 15000)                                                                                              \
	P(step, 8000)                                                                                                  \
	P(floor, 1)                                                                                                    \
	P(initial, 10)                                                                                                 \
	P(skew, 0)                                                                                                     \
	P(at_least, 0)

#define TIDE_LARGE 12 /* segments */
#define TIDE_JOIN_ROUNDS 8 /* at the least window: a standing queue changes meanwhile, and shows (test_switching.py) */

nn_inline void tide_on_start(struct nn_receiver *flow, nn_receiver_params p)
{
	struct tide *t = tide_of(flow);

	__builtin_memset(t, 0, sizeof(*t));
	t->memory.full = flow->estimate ? flow->estimate : NN_NEVER;
	t->stride = 1;
	t->route.wait = NN_ROUTE_WAIT;
	t->cut = flow->estimate ? NN_CUT_NONE : NN_CUT_SEEN; /* a new connection has been granted nothing */
	t->police.full = NN_NEVER;
	t->target = p[NN_R_target];
	flow->policed = 0;
	t->win.floor = NN_ONE / 48;
	tide_enter(flow, TIDE_DOUBLING);
	if (!flow->estimate)
		return;
	tide_back_off(flow, 0);
	flow->window = flow->target;
	t->hold = TIDE_JOIN_ROUNDS;
}

/* The delay has stood still: it is tried as the path's. */
nn_inline void tide_try(struct nn_receiver *flow)
{
	struct tide *t = tide_of(flow);

	nn_route_try(&t->route, &flow->delay.base);
	t->foreign = 0;
	t->drained = 0;
	t->rate_max = 0;
	tide_enter(flow, TIDE_DOUBLING);
	tide_calm(t);
}

/* Is the queue more than our own growth since the path was clear can have made? Many small flows' growth adds up. */
nn_inline bool tide_unexplained(struct nn_receiver *flow, u32 target, u32 queue, u32 rate)
{
	u32 grown = flow->target - nn_min(flow->target, tide_of(flow)->clear[1]);

	return flow->target > TIDE_LARGE * flow->mss && queue > 2000ull * grown / nn_max(rate, 1) + target;
}

/* The queue stands. */
nn_inline void tide_congested(struct nn_receiver *flow, nn_receiver_params p, u32 queue, u32 mean, u32 us)
{
	struct tide *t = tide_of(flow);
	u32 rate = nn_receiver_round_rate(&flow->round, us);
	bool foreign = queue > p[NN_R_foreign], shrinks = queue < t->last_queue / 4 * 3;

	if (nn_route_doubt(&t->route)) {
		tide_back_off(flow, mean);
	} else if (flow->low) {
		tide_stay(flow);
	} else if (foreign && ((t->foreign && !shrinks) || (u64)rate * 2 < t->rate_max ||
			       tide_unexplained(flow, tide_of(flow)->target, queue, rate))) {
		tide_back_off(flow, mean);
	} else if (t->drained && shrinks) {
		t->drained++;
	} else {
		tide_drain(flow, mean, foreign);
	}
	t->last_queue = queue;
}

/* Whose queue is it? */
nn_inline void tide_judge(struct nn_receiver *flow, nn_receiver_params p, u32 us)
{
	struct tide *t = tide_of(flow);
	const struct nn_receiver_round *round = &flow->round;
	u32 target = t->target, queue = round->queue_min, mean = nn_receiver_round_queue(round);

	if (queue > target || (round->lost && mean > p[NN_R_foreign])) {
		if (nn_route_stands(&t->route, queue, target / 2))
			tide_try(flow);
		else
			tide_congested(flow, p, queue, mean, us);
	} else if (flow->low && round->queue_max > target) {
		if (nn_route_stands(&t->route, queue, target / 2))
			tide_try(flow);
		else
			tide_stay(flow);
	} else if (queue > target / 2) {
		tide_linger(flow, queue);
	} else {
		nn_route_watch(&t->route, queue);
		tide_rise(flow, target, mean);
	}
}

nn_inline void tide_decide(struct nn_receiver *flow, nn_receiver_params p, u32 now_us)
{
	struct tide *t = tide_of(flow);
	const struct nn_receiver_round *round = &flow->round;
	u32 us = nn_max(now_us - round->start_us, 1), rate_max = t->rate_max - t->rate_max / 256;

	if (round->bytes * 1000 >= (rate_max + 1ull) * us) /* dearer is the division */
		rate_max = nn_receiver_round_rate(round, us);
	t->rate_max = rate_max;
	if (nn_cut_is_unseen(flow, &t->cut))
		return;
	if (t->hold) {
		t->hold--;
		return;
	}
	if (flow->growth != 1)
		flow->growth = 1;
	tide_judge(flow, p, us);
}

/* A round is over, and the next begins. */
nn_rare void tide_on_round(struct nn_receiver *flow, nn_receiver_params p, u32 now_us, u32 mark, bool stamped)
{
	tide_decide(flow, p, now_us);
	nn_receiver_next_round(flow, mark, now_us, stamped);
}

nn_inline void tide_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
			       const struct nn_arrival *arrival)
{
	struct nn_step *step = &tide_of(flow)->step;

	if (nn_stepped(step, seg, flow->delay.tick, arrival->queue, p[NN_R_step]) && !flow->low && !arrival->hole &&
	    flow->target > 8 * flow->mss) {
		tide_back_off(flow, step->before);
		nn_round_start(flow, seg);
	} else if (arrival->round) {
		tide_tolerate(flow, p);
		if (tide_policed(flow, seg->now_us))
			nn_round_start(flow, seg);
		else
			tide_on_round(flow, p, seg->now_us, nn_round_mark(flow, seg), seg->stamped != 0);
	}
}

#endif
