/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP-LP (Kuzmanovic and Knightly, INFOCOM 2003; IEEE/ACM ToN 14(4), 2006).
 *
 *   early     smoothed one-way delay (1/8) > min + threshold (max - min), threshold = 0.15
 *   reaction  at most once a round trip: W <- W/2 and watch for `inference` round trips without growing;
 *             early again while watching: W <- 1
 *   else      Reno; min and max are learnt in the first slow start and used after the first loss
 *
 * Linux's own `lp` is another algorithm by the same name: the lab compares both.
 *
 * Deviations:
 * - TCP timestamps carry the one-way delay (peer_clock.h). Without a usable clock of the peer, and until its tick is
 *   known, it is the RTT. Min, max and mean are moved over when the tick becomes known, and back when the clock jumps.
 * - The delay of a lone segment may contain a delayed ACK: it may lower the mean, not raise it.
 * - While the kernel recovers from losses, those are the indication: Reno's rules alone hold.
 * - W = 1 sends pairs every two round trips (pace.h).
 */
#ifndef NN_TCPLP_H
#define NN_TCPLP_H

#include "../pacing/pace.h"
#include "../estimate/peer_clock.h"

#define TCPLP_PARAMS(P)                                                                                                \
	P(threshold, 15)                                                                                               \
	P(inference, 3)                                                                                                \
	P(min_window, 4096)                                                                                            \
	P(initial_window, 10)                                                                                          \
	P(force_window, 0)

NN_CORE_AS_RENO(tcplp)

struct tcplp {
	struct nn_peer peer;
	u32 min; /* delays, us, modulo 2^32 */
	u32 max;
	u32 mean;
	u32 watch_us; /* watching ends */
	u16 tick_us; /* the peer's; 0: delays are RTTs */
	u8 known : 1; /* there has been a delay */
	u8 watching : 1;
	u8 reacted : 1; /* in this round */
};

NN_CORE_STATE(tcplp, tcplp_of)

nn_inline void tcplp_learn(struct tcplp *lp, u32 delay, bool lone)
{
	if (!lp->known) {
		lp->min = lp->max = lp->mean = delay;
		lp->known = 1;
	}
	if (lone && nn_reached(delay, lp->mean))
		return;
	if (!nn_reached(delay, lp->min))
		lp->min = delay;
	if (!nn_reached(lp->max, delay))
		lp->max = delay;
	if (nn_reached(delay, lp->mean))
		lp->mean += (delay - lp->mean) / 8;
	else
		lp->mean -= (lp->mean - delay) / 8;
}

/* Moves what is known to a scale that reads `now` where the present one reads `then`. */
nn_inline void tcplp_move(struct tcplp *lp, u32 then, u32 now)
{
	lp->min += now - then;
	lp->max += now - then;
	lp->mean += now - then;
}

/* This ACK's delay towards the peer, us. */
nn_inline u32 tcplp_delay(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt)
{
	struct tcplp *lp = tcplp_of(flow);
	u32 delay, base = flow->rtt.min;

	if (!lp->tick_us) {
		lp->tick_us = nn_peer_tick(&lp->peer, ack);
		if (!lp->tick_us)
			return rtt;
		tcplp_move(lp, rtt, nn_one_way(lp->tick_us, ack, rtt));
	}
	if (!ack->peer_stamp)
		return lp->mean;
	delay = nn_one_way(lp->tick_us, ack, rtt);
	if (!nn_clock_jumped(lp->tick_us, delay - lp->min, rtt - base, base))
		return delay;
	tcplp_move(lp, lp->min, base);
	lp->tick_us = 0;
	lp->peer.stamp = 0;
	return rtt;
}

/* Is the queue longer than `threshold` of the buffer? */
nn_inline bool tcplp_early(const struct tcplp *lp, nn_params p)
{
	return (u64)(lp->mean - lp->min) * 100 > (u64)(lp->max - lp->min) * p[NN_P_threshold];
}

nn_inline void tcplp_react(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct tcplp *lp = tcplp_of(flow);

	if (lp->watching)
		nn_shrink(&flow->win, NN_ONE);
	else
		nn_halve(&flow->win);
	lp->watching = 1;
	lp->watch_us = ack->now_us + nn_min(p[NN_P_inference], 64) * nn_min(flow->rtt.smoothed, 10000000);
	lp->reacted = 1;
	nn_round_begin(&flow->round, ack->delivered, ack->now_us);
}

nn_inline void tcplp_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct tcplp *lp = tcplp_of(flow);
	struct nn_window *win = &flow->win;
	u32 rtt = nn_trusted_rtt(flow, ack);
	bool lone = ack->flags & NN_LONE;

	if (nn_round_over(&flow->round, ack)) {
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
		lp->reacted = 0;
	}
	if (rtt) {
		nn_rtt_sample(&flow->rtt, rtt, lone);
		tcplp_learn(lp, tcplp_delay(flow, ack, rtt), lone);
	}
	if (lp->watching && nn_reached(ack->now_us, lp->watch_us))
		lp->watching = 0;
	if (flow->recovery == NN_OPEN && win->ssthresh != NN_MAX_WINDOW && lp->known && tcplp_early(lp, p) &&
	    !lp->reacted)
		tcplp_react(flow, p, ack);
	else if (lp->watching || !nn_may_grow(flow, ack))
		return;
	else if (nn_in_slow_start(win))
		nn_slow_start(win, ack->acked);
	else
		nn_window_set(win, win->w + ((u64)ack->acked << (2 * NN_SHIFT)) / win->w);
}

#endif
