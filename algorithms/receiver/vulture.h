/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Vulture (Li and Welzl, research report 474, University of Oslo, 2017), algorithms 1 to 4; 5 is in window.h, 6
 * in ../estimate/sender_window.h.
 *
 *   PIV        arrival interval - sending interval of two segments sent at least 5 jiffies apart
 *   mode       sum of a round's PIVs > 0, or more than half positive: conservative (others are there); else aggressive
 *   policy     > 7/8 of the PIVs high: halve; > 7/8 low: double below rwndThresh, one segment a round above; else fix
 *   loss       halve
 *
 *     measuring --end of a round with PIVs: a policy; a hole: halve--> waiting
 *     waiting --data that reflects the decision: a round later--> measuring
 *
 * The thresholds are in jiffies of 4 ms (`jiffy`); `quantum` 4000 reads both clocks in jiffies, as the paper's kernel
 * does. `remembered`: rwndThresh is 'the maximum rwnd before rwnd is reduced last time'. Algorithm 5 reduces ACK by
 * ACK: its last step begins at half of the window that its first step began with (50 per cent). With 100 rwndThresh is
 * the whole window that met the queue: doubling goes on up to it and builds that queue anew (experiment
 * vulture-jitter). Before the first halving there is no rwndThresh: from infinity a live flow's window would double to
 * what its sender never uses. `passive`: the PIVs of figures 3 to 8 are those of a flow that nothing limits.
 *
 * What is not reproduced: algorithm 3's mode is the sign of a sum, which is noise if intervals are counted in jiffies. With
 * jitter it is as often positive as not. No one jitter fits all of the paper's figures:
 * docs/research/downloads-paper.md.
 *
 * Deviations:
 * - 'Out of order or lost' is a new hole in the sequence: the retransmission that fills it does not halve once more.
 * - The packet queue holds 128 segments; on faster paths it samples. A sample is of an ACK, of every second segment.
 * - 'Increase' adds a segment a decision, and the round of waiting has none: a segment every second round trip.
 * - Algorithm 6 adds nothing where an echo equals the first ACK's time. Here it is added at once, and what that ACK covered
 *   is subtracted with the next newer echo. The estimate is too large by what arrives in a tick of the clock (figure 11).
 * - A live flow whose window is below ten segments begins at ten, as a new one does.
 */
#ifndef NN_VULTURE_H
#define NN_VULTURE_H

#include "flow.h"

#define VULTURE_ROW(P, clock, kept, always)                                                                            \
	P(floor, 2)                                                                                                    \
	P(initial, 10)                                                                                                 \
	P(jiffy, 4000)                                                                                                 \
	P(quantum, clock)                                                                                              \
	P(psi, 5)                                                                                                      \
	P(remembered, kept)                                                                                            \
	P(cautious, always)                                                                                            \
	P(passive, 0)                                                                                                  \
	P(begins, 100)                                                                                                 \
	P(skew, 0)
#define VULTURE_PARAMS(P) VULTURE_ROW(P, 1, 100, 0)
#define VULTURE_JIFFIES_PARAMS(P) VULTURE_ROW(P, 4000, 50, 0)
#define VULTURE_CAUTIOUS_PARAMS(P) VULTURE_ROW(P, 4000, 50, 1)

enum vulture_phase { VULTURE_MEASURING, VULTURE_WAITING };
enum vulture_policy { VULTURE_FIX, VULTURE_DOUBLE, VULTURE_INCREASE, VULTURE_HALVE };

#define VULTURE_PIVS 128

struct vulture {
	/* Of a passive flow, since it began; the lab reads these six words (lab/guest/receiver.c). */
	u32 rounds; /* with a PIV */
	u32 most_positive; /* per mille: the largest part of a round's PIVs that was positive */
	s32 most_sum; /* us: the largest sum of a round's PIVs, at least 0 */
	u32 pivs, negatives; /* in all rounds */
	u32 moved; /* us: all PIVs without their signs, wraps */
	u32 sent[VULTURE_PIVS], arrived[VULTURE_PIVS]; /* packetQue: us, rounded down to the quantum */
	u32 head, tail;
	u32 tick; /* of the clock they were sent by, us; 0: it is ours */
	u32 positive, count; /* PIVs of the round */
	u32 high[2], low[2]; /* of them, by the thresholds of conservative and aggressive mode */
	s32 sum;
	u32 thresh; /* rwndThresh, bytes */
	u8 phase; /* enum vulture_phase */
	u8 policy, aggressive; /* last decisions, for observers */
};

NN_RECEIVER_STATE(vulture, vulture_of)

nn_inline void vulture_forget(struct vulture *v)
{
	v->positive = 0;
	v->count = 0;
	v->sum = 0;
	v->high[0] = 0;
	v->high[1] = 0;
	v->low[0] = 0;
	v->low[1] = 0;
	v->head = v->tail;
}

nn_inline void vulture_on_start(struct nn_receiver *flow, nn_receiver_params p)
{
	struct vulture *v = vulture_of(flow);

	v->rounds = 0;
	v->most_positive = 0;
	v->most_sum = 0;
	v->pivs = 0;
	v->negatives = 0;
	v->moved = 0;
	if (p[NN_R_passive])
		nn_set_target(flow, NN_RECEIVER_MOST);
	else
		nn_set_target(flow, (u64)flow->target * nn_max(nn_min(p[NN_R_begins], 10000), 100) / 100);
	flow->window = flow->target;
	v->head = 0;
	v->tail = 0;
	v->tick = 0;
	v->thresh = 0;
	v->phase = VULTURE_MEASURING;
	v->policy = VULTURE_FIX;
	v->aggressive = 0;
	vulture_forget(v);
}

nn_inline void vulture_count(struct vulture *v, s32 piv, u32 jiffy)
{
	u32 size = piv < 0 ? 0u - (u32)piv : (u32)piv;

	v->pivs++;
	v->negatives += piv < 0;
	v->moved += size;
	v->count++;
	v->sum = (s32)((u32)v->sum + (u32)piv);
	v->positive += piv > 0;
	v->high[0] += size >= 2 * jiffy;
	v->low[0] += size < jiffy;
	v->high[1] += size >= 5 * jiffy;
	v->low[1] += size <= 3 * jiffy;
}

/* Algorithm 1. */
nn_inline void vulture_measure(struct vulture *v, nn_receiver_params p, const struct nn_segment *seg, u32 tick)
{
	u32 quantum = nn_max(p[NN_R_quantum], 1), jiffy = nn_min(p[NN_R_jiffy], 100000);
	u32 clock = seg->stamped ? tick : 0, head, tail;
	u32 sent = clock ? seg->tsval * tick / quantum * quantum : seg->now_us;
	u32 arrived = seg->now_us / quantum * quantum;
	s32 interval;

	if (v->tick != clock) /* times of two clocks make no pair: such a head would stay for ever */
		v->head = v->tail;
	v->tick = clock;
	head = v->head % VULTURE_PIVS;
	tail = v->tail % VULTURE_PIVS;
	interval = (s32)(sent - v->sent[head]);
	if (v->head != v->tail && interval >= (s32)(nn_min(p[NN_R_psi], 100) * jiffy)) {
		vulture_count(v, (s32)(arrived - v->arrived[head] - (u32)interval), jiffy);
		v->head++;
	} else if (v->tail - v->head < VULTURE_PIVS) {
		v->sent[tail] = sent;
		v->arrived[tail] = arrived;
		v->tail++;
	}
}

/* A round of a passive flow is over: figures 3 to 8. */
nn_inline void vulture_note(struct vulture *v)
{
	u32 positive = v->positive * 1000 / v->count;

	v->rounds++;
	v->most_positive = nn_max(v->most_positive, positive);
	v->most_sum = v->sum > v->most_sum ? v->sum : v->most_sum;
}

/* It measures each round, and decides nothing. */
nn_inline void vulture_watch(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg, bool round)
{
	struct vulture *v = vulture_of(flow);

	vulture_measure(v, p, seg, flow->delay.tick);
	if (!round)
		return;
	if (v->count)
		vulture_note(v);
	vulture_forget(v);
	nn_round_start(flow, seg);
}

/* Algorithms 2, 3 and 4. */
nn_inline enum vulture_policy vulture_decide(struct vulture *v, nn_receiver_params p, u32 window)
{
	u64 alpha = 7ull * v->count; /* 7/8 of them */
	bool aggressive = !(p[NN_R_cautious] || v->sum > 0 || v->positive > v->count / 2);

	v->aggressive = aggressive;
	if (8ull * (aggressive ? v->high[1] : v->high[0]) > alpha)
		return VULTURE_HALVE;
	if (8ull * (aggressive ? v->low[1] : v->low[0]) > alpha)
		return window < v->thresh ? VULTURE_DOUBLE : VULTURE_INCREASE;
	return VULTURE_FIX;
}

nn_inline void vulture_apply(struct nn_receiver *flow, nn_receiver_params p, enum vulture_policy policy)
{
	struct vulture *v = vulture_of(flow);

	if (policy == VULTURE_HALVE)
		v->thresh = nn_max((u32)((u64)flow->window * nn_min(p[NN_R_remembered], 100) / 100), flow->floor);
	nn_set_target(flow, policy == VULTURE_HALVE	 ? flow->window / 2
			    : policy == VULTURE_DOUBLE	 ? flow->window * 2
			    : policy == VULTURE_INCREASE ? flow->window + flow->mss
							 : flow->window);
	v->policy = policy;
	v->phase = VULTURE_WAITING;
	vulture_forget(v);
}

nn_rare void vulture_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
				const struct nn_arrival *arrival)
{
	struct vulture *v = vulture_of(flow);

	if (nn_unlikely(p[NN_R_passive])) {
		vulture_watch(flow, p, seg, arrival->round);
		return;
	}
	if (v->phase == VULTURE_MEASURING) {
		vulture_measure(v, p, seg, flow->delay.tick);
		if (arrival->hole)
			vulture_apply(flow, p, VULTURE_HALVE);
		else if (arrival->round && v->count)
			vulture_apply(flow, p, vulture_decide(v, p, flow->window));
		else
			return;
		nn_round_start(flow, seg);
	} else if (arrival->round) {
		v->phase = VULTURE_MEASURING;
		vulture_forget(v);
		nn_round_start(flow, seg);
	}
}

#endif
