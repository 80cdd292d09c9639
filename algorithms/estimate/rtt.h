/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the round-trip times say about the path: its base (queue empty) and its worst (queue full).
 *
 * TCP Nice, sections 2.2 and 2.3: the smallest and the largest sample ever seen; the largest starts at twice the first. The
 * paper names outliers, route changes and late comers, and a base for ever, as its weakness.
 */
#ifndef NN_RTT_H
#define NN_RTT_H

#include "../common/types.h"

#define NN_RTT_WINDOW_US 300000000u /* 5 minutes: longer than the bulk transfers that would hide the base */

struct nn_rtt {
	u32 min; /* base RTT, us; NN_NEVER: none yet */
	u32 max; /* RTT with the bottleneck's buffer full, us */
	u32 smoothed; /* srtt as in RFC 6298, us; the kernel's own follows samples that we reject */
	u32 recent_min; /* smallest sample of the current window of a base that is forgotten, us */
	u32 window_us; /* when that window began */
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

/* The first sample is the base as well as a guess of the worst. */
nn_inline void nn_rtt_guess(struct nn_rtt *rtt, u32 sample_us)
{
	if (nn_unlikely(!nn_rtt_known(rtt))) {
		rtt->max = nn_add_saturating(sample_us, sample_us);
		rtt->smoothed = sample_us;
	}
}

nn_inline void nn_rtt_smooth(struct nn_rtt *rtt, u32 sample_us)
{
	rtt->smoothed = rtt->smoothed - rtt->smoothed / 8 + sample_us / 8;
}

/*
 * A delayed ACK may have stretched the sample, so it counts only if the smoothed RTT is out of date. A flow paced by an RTT
 * twice as long sends one segment at a time, and would otherwise take no sample at all.
 */
nn_inline void nn_rtt_smooth_lone(struct nn_rtt *rtt, u32 sample_us)
{
	if (nn_unlikely(sample_us < rtt->smoothed / 2))
		nn_rtt_smooth(rtt, sample_us);
}

/* Takes one sample in. `lone`: a delayed ACK may have stretched it, so it says nothing about the worst. */
nn_inline void nn_rtt_sample(struct nn_rtt *rtt, u32 sample_us, bool lone)
{
	nn_rtt_guess(rtt, sample_us);
	rtt->min = nn_min(rtt->min, sample_us);
	if (lone) {
		nn_rtt_smooth_lone(rtt, sample_us);
		return;
	}
	nn_rtt_smooth(rtt, sample_us);
	rtt->max = nn_max(rtt->max, sample_us);
}

/*
 * Did this sample, of no less than the base, meet a queue longer than `percent` of the buffer?
 * No division: this may be on the way of every ACK.
 */
nn_inline bool nn_rtt_is_slow(const struct nn_rtt *rtt, u32 percent, u32 sample_us)
{
	u64 queue = (u64)(sample_us - rtt->min) * 100, base = (u64)rtt->min * percent;

	return queue + base > (u64)rtt->max * percent;
}

/*
 * A base RTT that is forgotten: the smallest sample of this and the previous window. So a longer route is accepted after 10
 * minutes at most (LEDBAT's base history, RFC 6817).
 */
nn_inline void nn_base_rtt_sample(struct nn_rtt *rtt, u32 now_us, u32 sample_us)
{
	nn_rtt_guess(rtt, sample_us);
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

#endif
