/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the target to the window that is advertised (Vulture, algorithm 5). It follows the target by at most the bytes that
 * an ACK acknowledges. So the right edge never moves left, and a growing window never makes the sender burst.
 */
#ifndef NN_RECEIVER_WINDOW_H
#define NN_RECEIVER_WINDOW_H

#include "flow.h"

#define NN_TELLINGS_A_WINDOW 256

/*
 * A window is advertised in units of 2^scale bytes. The SYN fixes the scale, by the largest receive buffer of the host. For
 * 1 GiB a unit is 16 KiB: more than the two segments that each of sixteen downloads should have. 256 bytes allow windows of
 * 16 MiB: 1 Gbit/s at 130 ms (docs/research/downloads-paper.md, Window scale).
 */
#define NN_MOST_SCALE 8

/* Bytes: a socket with this clamp gets that scale, or the host's own if smaller. */
enum nn_most_clamp { NN_CLAMP_OF_SCALE = 65535 << NN_MOST_SCALE };

/* Bytes: a TCP_WINDOW_CLAMP that limits nothing. */
#define NN_UNCLAMPED (1u << 30)

/* Bytes: TCP_WINDOW_CLAMP is the lesser of the core's window and the application's own clamp; of each, 0 is none. */
nn_inline u32 nn_clamp_of(u32 window, u32 own)
{
	u32 most = own ? own : NN_UNCLAMPED;

	return window && window < most ? window : most;
}

/*
 * The application's own clamp of a connection in use, bytes; 0: none. The kernel's own clamp is half of the receive buffer
 * (TCP_DEFAULT_SCALING_RATIO) or, after the first segments, the payload's part of their memory: above a quarter.
 */
nn_inline u32 nn_own_clamp(u32 clamp, u32 buffer)
{
	return clamp < buffer / 4 ? clamp : 0;
}

/* May the scale exceed NN_MOST_SCALE with the application's own clamp `own`, 0: none? */
nn_inline bool nn_limits_scale(u32 own)
{
	return !own || own > NN_CLAMP_OF_SCALE;
}

/* Bytes that the window may grow on an ACK: as many as it acknowledges, or twice that where the core is sure. */
nn_inline u32 nn_grown(const struct nn_receiver *flow, u32 acked)
{
	return flow->growth > 1 ? nn_add_saturating(acked, acked) : acked;
}

/* The window comes nearer to its target. */
nn_rare void nn_follow(struct nn_receiver *flow, u32 acked)
{
	if (flow->window < flow->target)
		flow->window = nn_min(flow->target, nn_add_saturating(flow->window, nn_grown(flow, acked)));
	else
		flow->window = nn_max(flow->target, flow->window - nn_min(acked, flow->window));
}

/*
 * The right edge, at most: the kernel rounds windows up to its scale, and senders fill that too. While a window shrinks,
 * its edge stands still; but what is left of it is rounded up with every ACK.
 */
nn_inline void nn_advance(struct nn_receiver *flow, u32 acked, u32 now_us)
{
	u32 edge = flow->acked + flow->window + flow->rounded, crept = flow->edge + nn_min(acked, flow->rounded);

	if (nn_unlikely(flow->granted == NN_GRANTED_NOTHING)) {
		flow->round.mark = flow->round.stamped ? flow->round.mark : edge;
		flow->granted = NN_GRANTED_MARK;
	} else if ((s32)(edge - crept) <= 0) {
		edge = crept;
		if (flow->granted == NN_GRANTED_MARK && !flow->round.stamped)
			flow->round.mark = edge;
	} else if (nn_unlikely(flow->granted == NN_GRANTED_MARK)) {
		if (!flow->round.stamped)
			flow->round.start_us = now_us;
		flow->granted = NN_GRANTED_MORE;
	}
	flow->edge = edge;
}

/*
 * Is `window`, the one to advertise with the ACK just sent, to be set in the kernel? Yes if it changed, and whenever a 256th
 * of it was acknowledged. The kernel overwrites it without notice: when its receive buffer grows (tcp_rcv_space_adjust), when
 * segments turn out to be larger (tcp_measure_rcv_mss) and for SO_RCVLOWAT. From then on each segment that arrives may widen
 * the window by two (tcp_grow_window). So a window is never more than a 128th too wide. One of up to 512 segments is set with
 * every ACK. A 64th was tried: rLEDBAT at 10 Mbit/s then added 13 ms to another flow's round trip instead of 11.
 */
nn_inline bool nn_tell(struct nn_receiver *flow, u32 window)
{
	u32 told = flow->told;

	if (window == told && (!window || flow->acked - flow->told_at < window / NN_TELLINGS_A_WINDOW))
		return false;
	flow->told = window;
	flow->told_at = flow->acked;
	return true;
}

#endif
