/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The queueing delay of the forward path, for a sender. Congestion on the reverse path is not its own, and no reason to
 * yield.
 *
 *   above   one-way delay over the least one seen (peer_clock.h): the queue towards the peer, up to a tick too long
 *   queue   the lesser of `above` and of what the RTT exceeds its base by, `both`; if they are near, `both`
 *
 * So it is never more than the RTT shows. A peer without timestamps, or with a random clock, only loses this estimate.
 * Where no ACK waits, it equals what the RTT shows, however coarse the clock: at 1 Gbit/s a tick is 83 segments of queue.
 * An `above` of more than the RTT allows is the clocks' drift, and moves the base. If it is far more, the clock has jumped,
 * and is measured afresh. Clocks that count in more than a millisecond are too coarse to show a queue.
 */
#ifndef NN_FORWARD_DELAY_H
#define NN_FORWARD_DELAY_H

#include "peer_clock.h"

#define NN_FORWARD_TICK_US 1000u
/*
 * One tick of the clock, and half a tick for interrupts that delay an ACK. It must stay below the threshold: 30 % of a buffer of
 * 8 ms is 2.4 ms (tests/system/test_siblings.py, 150 Mbit/s).
 */
#define NN_FORWARD_NEAR_US 1500u

/* Until the clock is known, where its measurement began; then the base, in the same place: see nn_forward_queue(). */
struct nn_forward {
	union {
		struct nn_peer peer;
		struct {
			u32 base; /* least one-way delay, us, up to a constant; wraps */
			u32 tick_us;
		};
	};
};

/* The clock is measured afresh. */
nn_inline void nn_forward_forget(struct nn_forward *forward)
{
	forward->peer.stamp = 0;
}

/*
 * Is the peer's clock known now? It is measured from a segment that met no queue in either direction: its delay is the base.
 * That is the last one by which the base RTT fell, since a fall calls nn_forward_forget(). Otherwise a queue that was there
 * from the start would stay in one base and not in the other. Times are those when segments left, not when their ACKs came:
 * the queueing delay of ACKs may change by a second in a second.
 */
nn_rare bool nn_forward_begin(struct nn_forward *forward, const struct nn_ack *ack, u32 rtt_us, u32 base_us)
{
	struct nn_ack sent = *ack;
	u32 began = forward->peer.stamp, tick;

	sent.now_us -= rtt_us;
	tick = nn_peer_tick(&forward->peer, &sent);
	if (forward->peer.stamp != began && rtt_us - base_us > NN_FORWARD_TICK_US)
		nn_forward_forget(forward);
	if (!tick || tick > NN_FORWARD_TICK_US)
		return false;
	forward->base = tick * forward->peer.stamp - forward->peer.since_us;
	forward->tick_us = tick;
	return true;
}

/* While the clock is not known: is it too early to ask? nn_forward_begin() would find the same, at length. */
nn_inline bool nn_forward_waits(const struct nn_forward *forward, const struct nn_ack *ack, u32 rtt_us)
{
	return forward->peer.stamp && ack->now_us - rtt_us - forward->peer.since_us < NN_TICK_LEAST_US;
}

/* The queue on the way there, us. `known`: is the peer's clock? */
nn_inline u32 nn_forward_queue(struct nn_forward *forward, bool *known, const struct nn_ack *ack, u32 rtt_us,
			       u32 base_us)
{
	u32 both = rtt_us - base_us, above;

	if (nn_unlikely(!*known)) {
		*known = nn_forward_begin(forward, ack, rtt_us, base_us);
		return both;
	}
	above = nn_one_way(forward->tick_us, ack, rtt_us) - forward->base;
	if (nn_likely(above <= both))
		return both - above > NN_FORWARD_NEAR_US ? above : both;
	if (nn_unlikely(nn_clock_jumped(forward->tick_us, above, both, base_us))) {
		*known = false;
		nn_forward_forget(forward);
	} else if ((s32)above < 0) {
		forward->base += above;
		return 0;
	} else if (above > both + forward->tick_us) {
		forward->base += above - both - forward->tick_us;
	}
	return both;
}

#endif
