/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice: TCP Nice (Venkataramani, Kokku, Dahlin, OSDI 2002) for the paths of today; nice.h is the paper's own.
 *
 *   per ACK     a segment is slow if its RTT > (1 - t) minRTT + t maxRTT: the queue exceeds t of the buffer
 *   per round   slow segments > f W:  W <- W/2, down to 1/48;  otherwise Vegas, in a hurry on an idle path
 *   W < 1       a pair of segments every 2/W round trips, but no longer than max_gap (pace.h)
 *   queue       on the way there only, once the peer's clock is known (forward_delay.h); RTTs that stand still while W < 1
 *               are a longer way's (standstill.h)
 *   loss        Reno's rules
 *
 * State: what of the path is known (netnice/path.h), what Reno would have, and what the round at hand is for:
 *
 *   judged --congested--> drained if the queue is its own, else halved --> waiting, a round --> judged
 *   judged --base too old--> emptying, a round --> looking, a round (netnice/base.h) --> judged
 *   judged --quiet--> Vegas, or hurried growth (netnice/growth.h) --> judged
 *
 * Deviations, beside those of the files named above and of netnice/sharing.h:
 * - Segments are counted, not ACKs: with delayed ACKs an ACK count never reaches f W. The paper counts packets too; its
 *   W is here the segments of the round that had an RTT, which is W in every round that was full.
 * - Slow start pauses in a round that saw a slow segment; the paper says nothing of it.
 * - A round after a halving or a timeout is not judged: its segments left before.
 * - A lone segment's RTT may contain a delayed ACK: it sets minRTT but neither maxRTT nor the congestion count. It sets the
 *   smoothed RTT only if that is stale: above twice the sample (rtt.h).
 * - One that still guesses maxRTT takes what another of the host has measured on the way to the same place: without it 8
 *   uploads that start beside a download cost that 2.3 % of their first 15 s but three, with it 1.7 %.
 */
#ifndef NN_NETNICE_H
#define NN_NETNICE_H

#include "netnice/base.h"
#include "netnice/growth.h"
#include "netnice/sharing.h"

#define NETNICE_PARAMS(P)                                                                                              \
	P(threshold, 30)                                                                                               \
	P(fraction, 50)                                                                                                \
	P(alpha, 2)                                                                                                    \
	P(beta, 3)                                                                                                     \
	P(min_window, 85)                                                                                              \
	P(queue_floor, 1000)                                                                                           \
	P(max_gap, 400)                                                                                                \
	P(peer_gap, 70)                                                                                                \
	P(force_window, 0)

NN_CORE_GOES_ON_AS_RENO(netnice)

enum { netnice_has_siblings = 1 };

#define NETNICE_WAIT (4 * NN_ONE) /* below, a round has too few segments for one to be left out */

nn_inline void netnice_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	nn_flow_init(flow, p, now_us, delivered, srtt_us);
	netnice_reno_start(netnice_of(flow), flow->win.w);
}

/* A segment was lost: the buffer is as long as the queue was. */
nn_inline void netnice_lost(struct nn_flow *flow)
{
	nn_worst_lost(&flow->rtt, nn_max(flow->round.max_rtt, flow->rtt.smoothed));
	netnice_of(flow)->lossy = 1;
	nn_still_forget(&netnice_of(flow)->still);
	if (netnice_of(flow)->phase > NETNICE_WAITING) /* what was before the look, the loss has answered */
		netnice_of(flow)->phase = NETNICE_JUDGED;
}

nn_inline void netnice_on_recovery(struct nn_flow *flow, u32 state)
{
	netnice_reno_answer(netnice_of(flow), flow->recovery, state);
	if (state != NN_OPEN && state != flow->recovery)
		netnice_lost(flow);
	if (state == NN_TIMEOUT)
		netnice_of(flow)->phase = NETNICE_WAITING;
	nn_flow_recovery(flow, state);
}

/* Did more than `fraction` of the round's segments meet congestion? */
nn_inline bool netnice_congested(const struct nn_round *round, nn_params p)
{
	return round->slow && (u64)round->slow * 100 > (u64)round->seen * p[NN_P_fraction];
}

nn_inline void netnice_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
				const struct nn_siblings *siblings)
{
	struct netnice *own = netnice_of(flow);
	bool held = own->phase == NETNICE_WAITING, congested = netnice_congested(&flow->round, p);
	u32 shared;

	if (held)
		own->phase = NETNICE_JUDGED;
	own->crowd = netnice_crowd(siblings);
	nn_worst_hear(&flow->rtt, &own->worst, ack->now_us, siblings->worst_rtt);
	if (congested)
		own->quiet = 0;
	own->drained &= congested | held;
	shared = netnice_shared(flow, ack, siblings) & (own->drained - 1u) & 1;
	if (nn_unlikely(own->phase != NETNICE_JUDGED))
		netnice_look(flow, congested);
	else if (congested && !held && netnice_may_drain(flow, shared)) {
		netnice_drain(flow, p, ack);
		own->drained |= shared;
	} else if (congested && !held) {
		nn_halve(&flow->win);
		own->phase = flow->win.w < NETNICE_WAIT ? NETNICE_JUDGED : NETNICE_WAITING;
	} else if (!congested && flow->round.seen && flow->recovery == NN_OPEN && nn_may_grow(flow, ack)) {
		if (nn_unlikely(netnice_may_look(flow, ack)))
			netnice_begin_look(flow);
		else
			netnice_grow(flow, p, ack, siblings);
	}
}

nn_inline void netnice_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack), service;

	service = nn_service_time(flow, ack, flow->rtt_source == NN_RTT_OF_KERNEL ? rtt : 0, netnice_of(flow)->service);
	if (nn_unlikely(service != netnice_of(flow)->service))
		netnice_of(flow)->service = service;
	if (rtt)
		netnice_on_rtt(flow, p, ack, rtt);
	if (nn_is_tried(flow, ack))
		netnice_reno_grow(netnice_of(flow), ack->acked);
	if (nn_in_slow_start(&flow->win) && !flow->round.slow && nn_is_tried(flow, ack))
		nn_flow_slow_start(flow, ack);
}

nn_inline void netnice_on_round_end(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
				    const struct nn_siblings *siblings)
{
	bool congested = netnice_congested(&flow->round, p);

	netnice_of(flow)->service = nn_service_bound(flow, ack, netnice_of(flow)->service);
	netnice_on_round(flow, p, ack, siblings);
	nn_forget();
	netnice_share(flow, ack, siblings, congested);
	nn_forget();
	nn_count_sub_packet_rounds(flow);
	nn_round_begin(&flow->round, ack->delivered, ack->now_us);
	nn_come_back(flow, p, ack);
}

#endif
