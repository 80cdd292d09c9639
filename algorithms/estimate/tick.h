/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Is a peer's TCP timestamp (RFC 7323) a clock of a given tick? Senders ask (peer_clock.h), and receivers (delay.h).
 */
#ifndef NN_TICK_H
#define NN_TICK_H

#include "../common/types.h"

#define NN_CLOCK_SLACK_US 8000u /* what timers, drift and a changed way back may add */

/* Do `count` ticks of `tick_us` make `elapsed_us`? Queues may have changed by 1/32 of it; units differ by a fifth. */
nn_inline bool nn_tick_fits(u32 tick_us, u32 count, u32 elapsed_us)
{
	u64 theirs = (u64)tick_us * count, slack = elapsed_us / 32 + tick_us;

	return theirs <= elapsed_us + slack && elapsed_us <= theirs + slack;
}

#endif
