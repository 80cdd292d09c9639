/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the round-trip times say about the path: its base (queue empty) and its worst (queue full).
 *
 * Two estimators behind one interface, chosen by a parameter:
 *
 * NN_RTT_RUNNING  TCP Nice, sections 2.2 and 2.3: the smallest and the largest sample ever seen; the largest starts
 *                 at twice the first. The paper names outliers, route changes and late comers as its weakness.
 * NN_RTT_ROBUST   what the paper suggests and did not test, with one change that its own idea needs.
 *                 base:  the smallest sample of this and the previous 5-minute window, so that a route that
 *                        became longer is accepted after 10 minutes at most (LEDBAT's base history, RFC 6817).
 *                 worst: follows samples above it by an eighth of the known range each, so that one outlier moves it
 *                        little and a real queue moves it within a round; and goes down only on evidence: a loss
 *                        shows that the buffer was full at a smaller RTT, or the worst of some samples taken while the
 *                        flow itself sends next to nothing. A late comer needs both: its first guess is twice a long
 *                        queue; and it takes the word of one that has measured, as it may take seconds until it does
 *                        itself, and of eight that begin at once some measure soon. Only at its start: later all would
 *                        flee when one had measured the queue of them all. A plain 99th percentile would sink to the
 *                        flow's own queue on a quiet path and make the flow flee from itself.
 */
#ifndef NN_RTT_H
#define NN_RTT_H

#include "../common/types.h"

enum nn_rtt_estimator { NN_RTT_RUNNING, NN_RTT_ROBUST };

#define NN_RTT_WINDOW_US 300000000u /* 5 minutes: longer than the bulk transfers that would hide the base */

struct nn_rtt {
	u32 min; /* base RTT, us; NN_NEVER: none yet */
	u32 max; /* RTT with the bottleneck's buffer full, us */
	u32 smoothed; /* srtt as in RFC 6298, us; the kernel's own follows samples that we reject */
	u32 recent_min; /* robust: smallest sample of the current window */
	u32 window_us; /* robust: when that window began */
};

nn_inline void nn_rtt_init(struct nn_rtt *rtt, u32 now_us, u32 first_guess_us)
{
	rtt->min = NN_NEVER;
	rtt->max = 0;
	rtt->smoothed = first_guess_us;
	rtt->recent_min = NN_NEVER;
	rtt->window_us = now_us;
}

nn_inline bool nn_rtt_known(const struct nn_rtt *rtt)
{
	return rtt->min != NN_NEVER;
}

nn_inline void nn_rtt_robust_min(struct nn_rtt *rtt, u32 now_us, u32 sample_us)
{
	if (nn_unlikely(now_us - rtt->window_us >= NN_RTT_WINDOW_US)) {
		rtt->min = nn_min(rtt->recent_min, sample_us);
		rtt->recent_min = sample_us;
		rtt->window_us = now_us;
	}
	if (nn_unlikely(sample_us < rtt->recent_min)) { /* which is no less than the base */
		rtt->recent_min = sample_us;
		rtt->min = nn_min(rtt->min, sample_us);
	}
}

nn_inline void nn_rtt_robust_max(struct nn_rtt *rtt, u32 sample_us)
{
	u32 step;

	if (!nn_unlikely(sample_us > rtt->max))
		return;
	step = (rtt->max > rtt->min ? rtt->max - rtt->min : 0) / 8 + 1;
	rtt->max += nn_min(step, sample_us - rtt->max);
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
 * robust: what a flow below one segment meets is others' queue, and a long time of it tells how long that becomes. A
 * quarter of the base or less is no buffer's length: eight uploads with the path to themselves took such a queue, their
 * own, for it, and left three of 10 Mbit/s unused.
 */
nn_inline void nn_rtt_worst(struct nn_rtt *rtt, u32 estimator, struct nn_worst *worst, u32 sample_us)
{
	u32 least = nn_add_saturating(rtt->min, rtt->min / 4);

	if (estimator != NN_RTT_ROBUST)
		return;
	worst->us = nn_min(nn_max(worst->us, sample_us), (1u << 24) - 1);
	worst->samples++;
	if (worst->samples != NN_WORST_FIRST && worst->samples < NN_WORST_SAMPLES)
		return;
	if (worst->us > least)
		rtt->max = nn_min(rtt->max, worst->us);
	worst->us = 0;
	worst->samples = NN_WORST_FIRST;
}

/* A flow's start: so long it may only guess how long the queue becomes. */
#define NN_RTT_GUESS_US (1u << 23)

/* robust: what a flow below one segment measured that goes the same way, to one that starts and still guesses. 0: none did. */
nn_inline void nn_rtt_hear(struct nn_rtt *rtt, u32 estimator, const struct nn_worst *worst, u32 now_us, u32 told_us)
{
	u32 least = nn_add_saturating(rtt->min, rtt->min / 4);

	if (estimator != NN_RTT_ROBUST || worst->samples >= NN_WORST_FIRST || told_us <= rtt->min ||
	    now_us - rtt->window_us >= NN_RTT_GUESS_US)
		return;
	rtt->max = nn_min(rtt->max, nn_max(told_us, least));
}

/* Takes one sample into the base. */
nn_inline void nn_rtt_sample_base(struct nn_rtt *rtt, u32 estimator, u32 now_us, u32 sample_us)
{
	bool first = !nn_rtt_known(rtt);

	if (nn_unlikely(first)) {
		rtt->max = nn_add_saturating(sample_us, sample_us);
		rtt->smoothed = sample_us;
	}
	if (estimator == NN_RTT_ROBUST)
		nn_rtt_robust_min(rtt, now_us, sample_us);
	else
		rtt->min = nn_min(rtt->min, sample_us);
}

/* Takes one sample into the mean, and into the worst what of it is the base and the queue that counts. */
nn_inline void nn_rtt_sample_queue(struct nn_rtt *rtt, u32 estimator, u32 sample_us, u32 queued_us)
{
	rtt->smoothed = rtt->smoothed - rtt->smoothed / 8 + sample_us / 8;
	if (estimator == NN_RTT_ROBUST)
		nn_rtt_robust_max(rtt, queued_us);
	else
		rtt->max = nn_max(rtt->max, queued_us);
}

/* Takes one sample in. `lone`: a delayed ACK may have stretched it, so it says nothing about the worst. */
nn_inline void nn_rtt_sample(struct nn_rtt *rtt, u32 estimator, u32 now_us, u32 sample_us, bool lone)
{
	nn_rtt_sample_base(rtt, estimator, now_us, sample_us);
	if (!lone)
		nn_rtt_sample_queue(rtt, estimator, sample_us, sample_us);
}

/* A packet was lost when the queue made the RTT `sample_us`: so much the buffer holds. */
nn_inline void nn_rtt_loss(struct nn_rtt *rtt, u32 estimator, u32 sample_us)
{
	u32 least = nn_add_saturating(rtt->min, rtt->min / 4); /* a quarter BDP is the least buffer that we believe */

	if (estimator != NN_RTT_ROBUST || !nn_rtt_known(rtt) || sample_us >= rtt->max)
		return;
	rtt->max = nn_max(sample_us, least);
}

/* Did this sample meet a queue of more than `floor_us`? */
nn_inline bool nn_rtt_is_above(const struct nn_rtt *rtt, u32 floor_us, u32 sample_us)
{
	return sample_us > (u64)rtt->min + floor_us;
}

/*
 * Did this sample, of no less than the base, meet a queue longer than `percent` of the buffer?
 * robust: no buffer is believed to be larger than one BDP, the usual size. One that is would only make a flow tolerate
 * queues that everybody else suffers from.
 * No division: this may be on the way of every ACK.
 */
nn_inline bool nn_rtt_is_slow(const struct nn_rtt *rtt, u32 estimator, u32 percent, u32 sample_us)
{
	u64 queue = (u64)(sample_us - rtt->min) * 100, base = (u64)rtt->min * percent;

	return queue + base > (u64)rtt->max * percent || (estimator == NN_RTT_ROBUST && queue > base);
}

#endif
