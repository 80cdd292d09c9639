/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP Nice (Venkataramani, Kokku, Dahlin, OSDI 2002), sections 2.2 and 2.3.
 *
 *   per ACK     a segment is slow if its RTT > (1 - t) minRTT + t maxRTT: the queue exceeds t of the buffer
 *   per round   slow segments > f W:  W <- W/2, down to 1/48;  otherwise Vegas
 *   W < 1       a pair of segments every 2/W round trips (pace.h)
 *   loss        Reno's rules
 *
 * Deviations, each off with the parameter in brackets:
 * - Segments are counted, not ACKs: with delayed ACKs an ACK count never reaches f W. The paper counts packets too; its
 *   W is here the segments of the round that had an RTT, which is W in every round that was full.
 * - Slow start pauses in a round that saw a slow segment; the paper says nothing of it. It ends with a congested one or
 *   at Vegas' gamma, and then the window drains: it becomes what the path delivered, times the base RTT. The queue is the
 *   flow's own work, and half of a doubled window may be as far below the path as it was above it. The next round tells
 *   only of segments sent before, so it is not judged.
 * - Below one segment the threshold is starved_threshold. Few go ahead on one lucky pair, and a flow that did meets the
 *   lower threshold at once; with one for both, the lower keeps many flows from what pages leave between them, and the
 *   higher lets those stay that started beside a long transfer and never saw the path empty.
 * - Coming back (quiet_rounds = 0). Vegas adds one segment a round, 33 rounds to a path of 33 segments. After quiet_rounds
 *   without a queue the window grows by a quarter a round up to where it last filled the path, after twice as many
 *   beyond that, but never past what Reno would have; it leaves that growth as it leaves slow start.
 * - Vegas counts what is queued from the least RTT of a pair. A small lone segment, a handshake's or a greeting's, is
 *   faster by what two full ones take on the wire, and Vegas took that for two segments queued: three quarters of a path.
 * - Flows of one host to one place keep alpha to beta segments queued together (shared). Each for itself, eight of them
 *   fill the buffer to the threshold and halve at once: 84 % of an idle link, together 97 %. alpha is 2 for that: what
 *   many keep in common one burst of pages takes away.
 * - They also share alike (shared): of 16 at 100 Mbit/s one had nearly all, of 64 too in every second run. Once each knows
 *   the path and few starve, or a crowd has a pair for each, each moves to their mean every round. So they congest together
 *   too, and to halve all of them for a queue that is theirs empties the path: the first congested round drains, the next
 *   halves.
 * - A round after a halving is not judged: its segments left before (estimator = 0 judges each, as the paper).
 * - Queueing below queue_floor (1 ms) is not congestion, whatever t says: on a LAN it is timer noise.
 * - A queue of own_queue segments is not either: below some 4 Mbit/s (at 40 ms) t of the buffer is less than what Vegas
 *   keeps there, and a flow that flees from itself gets half of an idle 1 Mbit/s. Eight are beta, a pair, and what a
 *   level below asks with; of four, 19 flows of netnice1 left half. After a loss it is a pair's: such a buffer may be no
 *   longer than that queue, and a transfer that shares it needs the rest.
 * - A base as old as rtt.h's window is looked for again (estimator = 0). Vegas' queue never empties, so after ten minutes
 *   it was the base, and Vegas kept one more on top of it, and so on: twice the queue after half an hour. Once in that
 *   window the flow goes down to a quarter of its window for two rounds, and back. The host's clock says when, so that
 *   its flows look together, and each sees past the others.
 * - A lone segment's RTT may contain a delayed ACK: it sets minRTT but neither maxRTT nor the congestion count.
 * - Below one segment the worst of some pairs replaces a larger maxRTT (estimator = 0): what they meet is others' queue, and
 *   a late comer, whose first guess of maxRTT was twice a long queue, would take too much of it for none. One that still
 *   guesses takes what another of the host has measured on the way to the same place: without it 8 uploads that start
 *   beside a download cost that 2.3 % of their first 15 s but three, with it 1.7 %.
 * - max_gap (pace.h) bounds the silence between pairs.
 */
#ifndef NN_NETNICE_H
#define NN_NETNICE_H

#include "../pacing/flight.h"
#include "vegas.h"
#include "../estimate/service_time.h"

#define NETNICE_PARAMS(P)                                                                                              \
	P(threshold, 28)                                                                                               \
	P(starved_threshold, 40)                                                                                       \
	P(fraction, 50)                                                                                                \
	P(alpha, 2)                                                                                                    \
	P(beta, 3)                                                                                                     \
	P(shared, 1)                                                                                                   \
	P(gamma, 1)                                                                                                    \
	P(min_window, 85)                                                                                              \
	P(initial_window, 2)                                                                                           \
	P(queue_floor, 1000)                                                                                           \
	P(own_queue, 8)                                                                                                \
	P(estimator, NN_RTT_ROBUST)                                                                                    \
	P(quiet_rounds, 3)                                                                                             \
	P(max_gap, 400)                                                                                                \
	P(peer_gap, 70)                                                                                                \
	P(endurance, 6)                                                                                                \
	P(force_window, 0)

/* The paper's own choices: the row `nice`. */
#define NICE_PARAMS(P)                                                                                                 \
	P(threshold, 10)                                                                                               \
	P(starved_threshold, 10)                                                                                       \
	P(fraction, 50)                                                                                                \
	P(alpha, 1)                                                                                                    \
	P(beta, 3)                                                                                                     \
	P(shared, 0)                                                                                                   \
	P(gamma, 1)                                                                                                    \
	P(min_window, 85)                                                                                              \
	P(initial_window, 2)                                                                                           \
	P(queue_floor, 0)                                                                                              \
	P(own_queue, 0)                                                                                                \
	P(estimator, NN_RTT_RUNNING)                                                                                   \
	P(quiet_rounds, 0)                                                                                             \
	P(max_gap, 0)                                                                                                  \
	P(peer_gap, 0)                                                                                                 \
	P(endurance, 0)                                                                                                \
	P(force_window, 0)

#define NETNICE_ANY 0xffffu /* a capacity that is not known, or does not matter */
#define NETNICE_LONGEST ((1u << 24) - 1) /* us */
#define NETNICE_OWN_QUEUE 64u /* the parameter's range */
#define NETNICE_LOOK_SHIFT                                                                                             \
	28u /* us: every 268 s, once at least in NN_RTT_WINDOW_US; it divides the clock, which wraps */
#define NETNICE_LOOK_ROUNDS 2u /* in the first the queue empties, in the second a pair meets none */
#define NETNICE_WAIT (4 * NN_ONE) /* below, a round has too few segments for one to be left out */
#define NETNICE_CROWD 31u /* flows: fewer all find their part, and find it again sooner if nobody waits for others */
#define NETNICE_STEP 4u /* the hurried growth: a quarter of the window, so two rounds of it overshoot by half at most */

struct netnice {
	struct nn_window reno; /* what Reno would have: growth in a hurry stays below it */
	struct nn_worst worst;
	u32 pair_rtt : 24; /* the least RTT of a segment that was not alone, us; 0: none yet */
	u32 wire : 8; /* what a segment takes on it (service_time.h) */
	u16 capacity; /* the window that last filled the path without a queue, segments */
	u8 quiet; /* rounds in a row without a queue */
	u8 lossy : 1; /* a loss was seen: the buffer may be as short as the own queue */
	u8 looking : 2; /* rounds left of a look for the base */
	u8 hurried : 3; /* so many rounds tell of a window that grew faster than Vegas' */
	u8 hold : 1; /* this round's segments left before the last cut */
	u8 drained : 1; /* the last congestion was taken for the queue of this flow's kin */
};

NN_CORE_STATE(netnice, netnice_of)

nn_inline void netnice_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	nn_flow_init(flow, p, now_us, delivered, srtt_us);
	netnice_of(flow)->reno = flow->win;
	netnice_of(flow)->reno.floor = NN_ONE;
}

nn_inline void netnice_on_recovery(struct nn_flow *flow, nn_params p, u32 state)
{
	nn_reno_answer(&netnice_of(flow)->reno, flow->recovery, state);
	if (state != NN_OPEN) {
		netnice_of(flow)->lossy = 1;
		netnice_of(flow)->looking = 0; /* what was before it, the loss has answered */
	}
	nn_flow_recovery(flow, p, state);
}

/* How long a queue of its own a flow bears, us. */
nn_inline u32 netnice_own_queue(struct nn_flow *flow, nn_params p)
{
	return nn_wire_us(netnice_of(flow)->wire) *
	       nn_min(p[NN_P_own_queue], netnice_of(flow)->lossy ? NN_PAIR : NETNICE_OWN_QUEUE);
}

/* Did a segment of this RTT meet congestion? */
nn_inline bool netnice_is_slow(struct nn_flow *flow, nn_params p, u32 rtt)
{
	u32 least = p[NN_P_queue_floor], percent;

	if (nn_unlikely(nn_wire_is_slow(netnice_of(flow)->wire)))
		least = nn_max(least, netnice_own_queue(flow, p));
	if (!nn_rtt_is_above(&flow->rtt, least, rtt))
		return false;
	percent = nn_is_starving(flow) ? p[NN_P_starved_threshold] : p[NN_P_threshold];
	return nn_rtt_is_slow(&flow->rtt, p[NN_P_estimator], percent, rtt);
}

nn_inline void netnice_on_rtt(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 rtt)
{
	struct netnice *own = netnice_of(flow);
	bool lone = ack->flags & NN_LONE;

	nn_rtt_sample(&flow->rtt, p[NN_P_estimator], ack->now_us, rtt, lone);
	if (lone)
		return;
	if (nn_unlikely(!own->pair_rtt || rtt < own->pair_rtt))
		own->pair_rtt = nn_min(rtt, NETNICE_LONGEST);
	if (nn_unlikely(nn_is_starving(flow)))
		nn_rtt_worst(&flow->rtt, p[NN_P_estimator], &own->worst, rtt);
	nn_round_count(&flow->round, ack, rtt, netnice_is_slow(flow, p, rtt));
}

/* Did more than `fraction` of the round's segments meet congestion? */
nn_inline bool netnice_congested(const struct nn_round *round, nn_params p)
{
	return round->slow && (u64)round->slow * 100 > (u64)round->seen * p[NN_P_fraction];
}

/* The queue is the flow's own: down to what the path carries without one. */
nn_inline void netnice_drain(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct netnice *own = netnice_of(flow);
	u64 delivered = (u64)(ack->delivered - flow->round.end) << NN_SHIFT;
	u32 empty = nn_add_saturating(flow->rtt.min, p[NN_P_queue_floor]);
	u64 bdp = delivered * empty / nn_max(ack->now_us - flow->round.start_us, nn_max(empty, 1));

	nn_shrink(&flow->win, bdp < flow->win.w ? (u32)bdp : flow->win.w);
	own->capacity = nn_min(flow->win.w >> NN_SHIFT, NETNICE_ANY);
	own->hurried = 0;
	own->hold = 1;
}

/* Slow start ended early: gamma is a pair of segments at half a path, and a base that was measured with a small one. */
nn_inline void netnice_expect_more(struct netnice *own, nn_params p)
{
	own->capacity = NETNICE_ANY;
	own->quiet = p[NN_P_quiet_rounds];
}

nn_inline bool netnice_may_hurry(struct nn_flow *flow, nn_params p)
{
	struct netnice *own = netnice_of(flow);
	u32 rounds = (flow->win.w >> NN_SHIFT < own->capacity ? 1 : 2) * p[NN_P_quiet_rounds];

	return rounds && own->quiet >= rounds && !nn_is_starving(flow) && flow->win.w < own->reno.w;
}

nn_inline void netnice_hurry(struct nn_flow *flow, const struct nn_ack *ack)
{
	struct netnice *own = netnice_of(flow);
	u64 step = (u64)vegas_increase(flow, ack) * nn_max(flow->win.w / NETNICE_STEP, NN_ONE) >> NN_SHIFT;

	nn_window_set(&flow->win, nn_min(flow->win.w + step, own->reno.w));
	own->hurried = 2;
}

/* Among how many flows alpha and beta are shared; in slow start a flow has not found its part yet. */
nn_inline u32 netnice_sharing(const struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	return p[NN_P_shared] && !nn_in_slow_start(&flow->win) ? nn_max(ack->kin, 1) : 1;
}

/* Is it time to look for the base, and is it older than a window? */
nn_inline bool netnice_may_look(const struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	return (flow->round.start_us ^ ack->now_us) >> NETNICE_LOOK_SHIFT && p[NN_P_estimator] == NN_RTT_ROBUST &&
	       flow->rtt.recent_min > flow->rtt.min && flow->win.w > NN_PAIR * NN_ONE && !nn_in_slow_start(&flow->win);
}

nn_inline void netnice_begin_look(struct nn_flow *flow)
{
	flow->win.prior_w = flow->win.w;
	nn_shrink(&flow->win, nn_max(flow->win.w / 4, NN_PAIR * NN_ONE));
	netnice_of(flow)->looking = NETNICE_LOOK_ROUNDS;
}

/* A round of a look is over. Back after the last, unless others are there. */
nn_inline void netnice_look(struct nn_flow *flow, bool congested)
{
	if (!--netnice_of(flow)->looking && !congested)
		nn_undo(&flow->win);
}

/* A round without congestion. */
nn_inline void netnice_grow(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct netnice *own = netnice_of(flow);
	u32 base = nn_in_slow_start(&flow->win) ? flow->rtt.min : nn_max(flow->rtt.min, own->pair_rtt);
	u32 flows = netnice_sharing(flow, p, ack);
	u64 diff = vegas_diff(flow, p, base) * flows;
	u32 most = nn_in_slow_start(&flow->win) ? p[NN_P_gamma] : p[NN_P_beta];

	own->quiet = flow->round.slow || diff >= (u64)p[NN_P_alpha] << NN_SHIFT ? 0 : nn_min(own->quiet + 1, 255);
	if ((nn_in_slow_start(&flow->win) || own->hurried) && diff > (u64)most << NN_SHIFT) {
		netnice_drain(flow, p, ack);
		if (diff <= (u64)p[NN_P_beta] << NN_SHIFT)
			netnice_expect_more(own, p);
		return;
	}
	own->hurried -= own->hurried > 0;
	if (nn_in_slow_start(&flow->win) || !nn_window_limits(&flow->win, ack))
		return;
	if (netnice_may_hurry(flow, p))
		netnice_hurry(flow, ack);
	else
		vegas_on_round(flow, p, ack, base, flows);
}

/*
 * All ones if nearly all flows of the host to that place have a window, or of a crowd what is a pair for each, and this one
 * knows the path: it is theirs to share. Else zero. Without a branch: each doubles what the verifier follows.
 */
nn_inline u32 netnice_shared(const struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u64 several = nn_less(1, ack->kin), ample = nn_less(NN_PAIR * NN_ONE, ack->kin_window);
	u64 most = (ample & nn_less(NETNICE_CROWD, ack->kin)) | ~nn_less(ack->kin, 4 * ack->starving);
	u64 knows = nn_less(NN_RTT_GUESS_US, ack->now_us - flow->rtt.window_us);

	return (u32)(several & most & knows) & nn_less(0, p[NN_P_shared]);
}

nn_inline void netnice_share(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 settled = ~nn_less(flow->win.w, flow->win.ssthresh) & ~nn_less(0, flow->recovery);

	if (netnice_shared(flow, p, ack) & settled & ~nn_less(0, netnice_of(flow)->looking))
		nn_share(&flow->win, ack->kin_window);
}

/* Is the queue the flow's own work, or for the first time in a row that of all that share? */
nn_inline bool netnice_may_drain(struct nn_flow *flow, u32 shared)
{
	return (netnice_of(flow)->hurried | (nn_less(flow->win.w, flow->win.ssthresh) & 1) | shared) != 0;
}

nn_inline void netnice_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct netnice *own = netnice_of(flow);
	bool held = own->hold, congested = netnice_congested(&flow->round, p);
	u32 shared;

	own->hold = 0;
	nn_rtt_hear(&flow->rtt, p[NN_P_estimator], &own->worst, ack->now_us, ack->kin_worst);
	if (congested)
		own->quiet = 0;
	own->drained &= congested | held;
	shared = netnice_shared(flow, p, ack) & (own->drained - 1u) & 1;
	if (nn_unlikely(own->looking))
		netnice_look(flow, congested);
	else if (congested && !held && netnice_may_drain(flow, shared)) {
		netnice_drain(flow, p, ack);
		own->drained |= shared;
	} else if (congested && !held) {
		nn_halve(&flow->win);
		own->hold = p[NN_P_estimator] & 1 & ~nn_less(flow->win.w, NETNICE_WAIT);
	} else if (!congested && flow->round.seen && flow->recovery == NN_OPEN && nn_may_grow(flow, ack)) {
		if (nn_unlikely(netnice_may_look(flow, p, ack)))
			netnice_begin_look(flow);
		else
			netnice_grow(flow, p, ack);
	}
}

nn_inline void netnice_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack), wire;

	wire = nn_wire(flow, ack, flow->stamps == NN_STAMPED ? rtt : 0, netnice_of(flow)->wire);
	if (nn_unlikely(wire != netnice_of(flow)->wire))
		netnice_of(flow)->wire = wire;
	if (rtt)
		netnice_on_rtt(flow, p, ack, rtt);
	if (nn_may_grow(flow, ack))
		nn_reno_grow(&netnice_of(flow)->reno, ack->acked);
	if (nn_in_slow_start(&flow->win) && !flow->round.slow && nn_may_grow(flow, ack))
		nn_flow_slow_start(flow, ack);
	if (nn_round_over(&flow->round, ack)) {
		nn_forget();
		netnice_on_round(flow, p, ack);
		nn_forget();
		netnice_share(flow, p, ack);
		nn_forget();
		nn_count_starved(flow);
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
		nn_come_back(flow, p, ack);
	}
}

#endif
