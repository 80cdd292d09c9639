/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * LEDBAT (RFC 6817), sections 2.4 and 3.
 *
 *   queue       one-way delay now, less its base of the last ten minutes
 *   per ACK     W += gain (target - queue) / target * acked / W, gain = 1: at most Reno's growth
 *   slow start  as Reno's, left when the queue exceeds slow_start_exit of the target
 *   loss        Reno's rules; W >= 2
 *
 * Limits, the RFC's too. A second flow that starts when the first has filled the queue to the target takes that queue for
 * its base. A flow alone for more than ten minutes takes its own. ledbatpp.h mends both.
 *
 * Deviations:
 * - TCP timestamps carry the one-way delay. So it is known in the peer's ticks, and from the second second on
 *   (peer_clock.h). Until then, and with peers without a usable clock, the queue is RTT - base RTT.
 * - A clock that shows more than the RTT can is measured afresh (peer_clock.h). With a random or jumping one LEDBAT sees the
 *   queue of the reverse path too, and goes on.
 * - When a clock comes into use, all of the RTT's queue counts as the forward path's. A flow in slow start must not take
 *   its own queue for the base.
 * - ALLOWED_INCREASE, the part of a window above the flight, is a quarter and three segments instead of one segment. A
 *   flight that leaves paced and in bursts is that much smaller than its window.
 * - The delay of a lone segment may contain a delayed ACK and is not used.
 * - The history has eight spans of 75 s (delay_history.h); the congestion timeout is TCP's own RTO.
 */
#ifndef NN_LEDBAT_H
#define NN_LEDBAT_H

#include "../common/verifier.h"
#include "../pacing/flight.h"
#include "../estimate/rtt.h"
#include "../estimate/delay_history.h"
#include "../estimate/peer_clock.h"

#define LEDBAT_PARAMS(P)                                                                                               \
	P(target, 100)                                                                                                 \
	P(slow_start_exit, 90)                                                                                         \
	P(min_window, 8192)                                                                                            \
	P(force_window, 0)

#define LEDBAT_CARRY 8

NN_CORE_AS_RENO(ledbat)

struct ledbat {
	union {
		struct nn_peer peer; /* until the tick is known */
		struct nn_history history; /* of one-way delays, from then on; carry always */
	};
	u16 tick_us; /* the peer's; 0: not known */
};

NN_CORE_STATE(ledbat, ledbat_of)

nn_inline u32 ledbat_target_us(nn_params p)
{
	return nn_min(nn_max(p[NN_P_target], 1), 1000) * 1000;
}

/* Queueing delay towards the peer, us. */
nn_inline u32 ledbat_queue(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt)
{
	struct ledbat *ledbat = ledbat_of(flow);
	u32 both_ways = rtt - flow->rtt.min, delay;

	if (!ledbat->tick_us) {
		ledbat->tick_us = nn_peer_tick(&ledbat->peer, ack);
		if (ledbat->tick_us)
			nn_history_begin(&ledbat->history, nn_one_way(ledbat->tick_us, ack, rtt) - both_ways);
		return both_ways;
	}
	if (!ack->peer_stamp)
		return both_ways;
	delay = nn_one_way(ledbat->tick_us, ack, rtt);
	if (nn_clock_jumped(ledbat->tick_us, nn_history_above(&ledbat->history, delay), both_ways, flow->rtt.min)) {
		ledbat->tick_us = 0;
		ledbat->peer.stamp = 0;
		return both_ways;
	}
	return nn_history_queue(&ledbat->history, ack->now_us, delay);
}

/* Segments this ACK acknowledged, as far as arithmetic goes. */
nn_inline u64 ledbat_acked(const struct nn_ack *ack)
{
	return nn_min(ack->acked, 1u << 20);
}

/* What Reno would add for this ACK, in 2^-20 segment: a part of that is less than a wide window's unit. */
nn_inline u64 ledbat_step(const struct nn_window *win, const struct nn_ack *ack)
{
	return (ledbat_acked(ack) << (2 * NN_SHIFT + LEDBAT_CARRY)) / win->w;
}

/* Gives up what is not used: the receiver's window or the application is the limit then. */
nn_inline void ledbat_trim(struct nn_flow *flow, const struct nn_ack *ack)
{
	u64 most = nn_window_of_flight(ack);

	if (flow->recovery == NN_OPEN && flow->win.w > most)
		nn_shrink(&flow->win, (u32)most);
}

nn_inline void ledbat_grow(struct nn_window *win, u8 *carry, u64 step)
{
	nn_window_set(win, win->w + ((step + *carry) >> LEDBAT_CARRY));
	*carry = (u8)(step + *carry);
}

nn_inline void ledbat_shrink(struct nn_window *win, u8 *carry, u64 step)
{
	u64 down = (step + 255 - *carry) >> LEDBAT_CARRY;

	*carry = (u8)(*carry - step);
	nn_shrink(win, down < win->w ? win->w - (u32)down : 0);
}

/* Towards the target, in proportion to the distance. */
nn_inline void ledbat_steer(struct nn_flow *flow, const struct nn_ack *ack, u32 target, u32 queue)
{
	struct nn_window *win = &flow->win;
	u8 *carry = &ledbat_of(flow)->history.carry;
	u64 step = ledbat_step(win, ack);

	if (queue > target)
		ledbat_shrink(win, carry, step * (queue - target) / target);
	else if (nn_may_grow(flow, ack))
		ledbat_grow(win, carry, step * (target - queue) / target);
	ledbat_trim(flow, ack);
}

nn_inline bool ledbat_fills(nn_params p, u32 target, u32 queue)
{
	return (u64)queue * 100 > (u64)target * p[NN_P_slow_start_exit];
}

/* Counts the round and takes the RTT in, us; 0: this ACK tells no delay to steer by. */
nn_inline u32 ledbat_rtt(struct nn_flow *flow, const struct nn_ack *ack)
{
	bool lone = ack->flags & NN_LONE;
	u32 rtt = nn_trusted_rtt(flow, ack);

	if (nn_round_over(&flow->round, ack))
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
	if (rtt)
		nn_base_rtt_sample(&flow->rtt, ack->now_us, rtt);
	nn_forget();
	if (lone || !rtt)
		return 0;
	nn_rtt_smooth(&flow->rtt, rtt);
	return rtt;
}

nn_inline void ledbat_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = ledbat_rtt(flow, ack), target = ledbat_target_us(p), queue;

	if (!rtt)
		return;
	queue = ledbat_queue(flow, ack, rtt);
	if (nn_in_slow_start(&flow->win) && ledbat_fills(p, target, queue))
		nn_shrink(&flow->win, flow->win.w);
	if (!nn_in_slow_start(&flow->win))
		ledbat_steer(flow, ack, target, queue);
	else if (nn_is_tried(flow, ack))
		nn_flow_slow_start(flow, ack);
}

#endif
