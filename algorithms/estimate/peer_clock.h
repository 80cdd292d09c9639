/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The peer's clock, seen through TCP timestamps (RFC 7323), and the one-way delay that it tells.
 *
 *   tick    the peer may count in any unit: compare its count with our clock until one of the usual units fits
 *   delay   d = tick * TSval - now + RTT: from our sending to the peer's answering, up to a constant that differences
 *           cancel. Everything is taken modulo 2^32 us, so neither clock's wrap shows.
 *
 * A measured tick would be wrong by some 0.1 %, 60 ms a minute; a nominal one is wrong by the crystals only. A clock that
 * fits none (random, stopped, coarser than 20 ms) has no tick: its owner falls back on the RTT.
 *
 * No clock is trusted for good. A forward delay may claim more queue than the RTT has grown by, or a path of less than no
 * delay. Then the clock has jumped, drifted or become random, and is measured afresh.
 */
#ifndef NN_PEER_CLOCK_H
#define NN_PEER_CLOCK_H

#include "../common/flow.h"
#include "tick.h"

#define NN_TICK_LEAST_US 1000000u /* a second: a 20 ms clock has counted 50 by then */
#define NN_TICK_MOST_US 16000000u /* no unit fitted for so long: begin again */

struct nn_peer {
	u32 stamp; /* TSval where the comparison began; 0: it has not */
	u32 since_us; /* our time then */
};

/* The peer's tick, us; 0: not known yet. */
nn_inline u32 nn_peer_tick(struct nn_peer *peer, const struct nn_ack *ack)
{
	u32 count = ack->peer_stamp - peer->stamp, elapsed = ack->now_us - peer->since_us;

	if (!ack->peer_stamp)
		return 0;
	if (!peer->stamp || elapsed > NN_TICK_MOST_US) {
		peer->stamp = ack->peer_stamp;
		peer->since_us = ack->now_us;
		return 0;
	}
	if (elapsed < NN_TICK_LEAST_US)
		return 0;
#define NN_TRY_TICK(us)                                                                                                \
	if (nn_tick_fits(us, count, elapsed))                                                                          \
		return us;
	NN_TRY_TICK(1000) /* Linux, macOS, Windows, FreeBSD */
	NN_TRY_TICK(10000) /* HZ = 100: old Linux, BSD */
	NN_TRY_TICK(4000) /* HZ = 250 */
	NN_TRY_TICK(1) /* Linux with a tcp_usec_ts route */
	NN_TRY_TICK(2000)
	NN_TRY_TICK(5000)
	NN_TRY_TICK(20000)
#undef NN_TRY_TICK
	return 0;
}

/* One-way delay of the newest segment acknowledged, us, up to a constant. */
nn_inline u32 nn_one_way(u32 tick_us, const struct nn_ack *ack, u32 rtt_us)
{
	return tick_us * ack->peer_stamp - ack->now_us + rtt_us;
}

/* Can the delay not be `above_us` (signed) its base while the RTT is `both_ways_us` above its own, `base_rtt_us`? */
nn_inline bool nn_clock_jumped(u32 tick_us, u32 above_us, u32 both_ways_us, u32 base_rtt_us)
{
	u32 slack = tick_us + NN_CLOCK_SLACK_US;

	if (nn_reached(above_us, 0))
		return above_us > nn_add_saturating(both_ways_us, slack);
	return 0 - above_us > nn_add_saturating(base_rtt_us, slack);
}

#endif
