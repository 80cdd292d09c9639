/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A base RTT that is forgotten: the smallest sample of this and the previous 5-minute window. So a longer route is accepted
 * after 10 minutes at most (LEDBAT's base history, RFC 6817). TCP Nice, section 2.3, names a base for ever as a weakness.
 */
#ifndef NN_BASE_RTT_H
#define NN_BASE_RTT_H

#include "rtt.h"

#define NN_RTT_WINDOW_US 300000000u /* 5 minutes: longer than the bulk transfers that would hide the base */

/* Takes one sample into the base. */
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
