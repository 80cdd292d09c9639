/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A worst RTT (queue full) that also goes down. TCP Nice, section 2.3, takes the largest sample ever seen, names outliers and
 * late comers as its weakness, and suggests a percentile. A plain 99th would sink to the flow's own queue on a quiet path
 * and make the flow flee from itself, so this one
 *
 * - follows samples above it by an eighth of the known range each: one outlier moves it little, a real queue moves it
 *   within a round;
 * - goes down only on evidence: a loss shows that the buffer was full at a smaller RTT; so does the worst of some samples
 *   taken while the flow itself sends next to nothing, and the word of a sibling that has taken some. A late comer needs
 *   these, for its first guess is twice a long queue, and it may take seconds until it has samples of its own; of eight
 *   that begin at once some measure soon.
 */
#ifndef NN_WORST_RTT_H
#define NN_WORST_RTT_H

#include "rtt.h"

#define NN_RTT_GUESS_US (1u << 23) /* a flow's start: so long it may only guess how long the queue becomes */

/* A quarter BDP is the least buffer that we believe. */
nn_inline u32 nn_worst_least(const struct nn_rtt *rtt)
{
	return nn_add_saturating(rtt->min, rtt->min / 4);
}

/* Takes one sample into the worst. */
nn_inline void nn_worst_sample(struct nn_rtt *rtt, u32 sample_us)
{
	u32 step;

	if (!nn_unlikely(sample_us > rtt->max))
		return;
	step = (rtt->max > rtt->min ? rtt->max - rtt->min : 0) / 8 + 1;
	rtt->max += nn_min(step, sample_us - rtt->max);
}

/* A packet was lost when the queue made the RTT `sample_us`: so much the buffer holds. */
nn_inline void nn_worst_lost(struct nn_rtt *rtt, u32 sample_us)
{
	if (nn_rtt_known(rtt) && sample_us < rtt->max)
		rtt->max = nn_max(sample_us, nn_worst_least(rtt));
}

/* The worst of the samples of a time in which the flow itself sent next to nothing. */
struct nn_worst {
	u32 us : 24;
	u32 samples : 8;
};

/* The first guess is worse than the worst of two samples; afterwards the worst of few is often far from the path's. */
#define NN_WORST_FIRST 2u
#define NN_WORST_SAMPLES 16u

/*
 * What a flow below one segment meets is others' queue, and a long time of it tells how long that becomes. A quarter of the
 * base or less is no buffer's length: eight uploads with the path to themselves took such a queue, their own, for it, and
 * left three of 10 Mbit/s unused.
 */
nn_inline void nn_worst_meet(struct nn_rtt *rtt, struct nn_worst *worst, u32 sample_us)
{
	worst->us = nn_min(nn_max(worst->us, sample_us), (1u << 24) - 1);
	worst->samples++;
	if (worst->samples != NN_WORST_FIRST && worst->samples < NN_WORST_SAMPLES)
		return;
	if (worst->us > nn_worst_least(rtt))
		rtt->max = nn_min(rtt->max, worst->us);
	worst->us = 0;
	worst->samples = NN_WORST_FIRST;
}

/*
 * What a sibling below one segment measured, to a flow that starts and still guesses; 0: none did. Only at its start: later
 * all would flee when one had measured the queue of them all.
 */
nn_inline void nn_worst_hear(struct nn_rtt *rtt, const struct nn_worst *worst, u32 now_us, u32 told_us)
{
	if (worst->samples >= NN_WORST_FIRST || told_us <= rtt->min || now_us - rtt->window_us >= NN_RTT_GUESS_US)
		return;
	rtt->max = nn_min(rtt->max, nn_max(told_us, nn_worst_least(rtt)));
}

/*
 * Did this sample, of no less than the base, meet a queue longer than `percent` of the buffer? No buffer is believed to be
 * larger than one BDP, the usual size: one that is would only make a flow tolerate queues that everybody else suffers from.
 */
nn_inline bool nn_worst_is_slow(const struct nn_rtt *rtt, u32 percent, u32 sample_us)
{
	return nn_rtt_is_slow(rtt, percent, sample_us) || (u64)(sample_us - rtt->min) * 100 > (u64)rtt->min * percent;
}

#endif
