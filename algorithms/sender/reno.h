/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reno (RFC 5681): the yardstick.
 *
 *   per ACK     slow start below ssthresh, else W += 1/W a segment, while the window is used
 *   loss        W <- W/2;  timeout: W <- 1
 *
 * TCP Nice claims to be never more aggressive than this on the same samples; the property tests hold it to that. The
 * lab and the cost measurement run it as a connection's algorithm, so that only the decisions differ.
 */
#ifndef NN_RENO_H
#define NN_RENO_H

#include "../pacing/flight.h"

#define RENO_PARAMS(P)                                                                                                 \
	P(min_window, 4096)                                                                                            \
	P(initial_window, 10)                                                                                          \
	P(force_window, 0)

NN_CORE_AS_RENO(reno)

nn_inline void reno_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack);

	(void)p;
	if (rtt)
		nn_rtt_sample(&flow->rtt, rtt, ack->flags & NN_LONE);
	if (nn_round_over(&flow->round, ack))
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
	if (nn_is_tried(flow, ack))
		nn_reno_grow(&flow->win, ack->acked);
}

#endif
