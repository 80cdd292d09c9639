/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goes into a receiver core and what comes out: arriving segment -> core -> window to advertise -> shim.
 * A core has no clock and no socket; everything it may know of the sender is in this structure.
 */
#ifndef NN_SEGMENT_H
#define NN_SEGMENT_H

#include "../common/types.h"

/*
 * Facts about an arrival. Segments that the network card or GRO joined (45 of 1448 bytes at most) arrive as one, when the
 * last of them is there. They carry one timestamp: Linux joins none whose timestamps differ. Lost are the times of all but
 * the last, and with them the shortest delay of a burst.
 *
 * - The delay it shows is too long by the time that the burst took to come in, at most as long as the card waits. If bursts are alike, base and sample share that error. If not, it looks like so much queue. TIDE's target of 4 ms
 *   is above what cards and their polls wait, 0.02 to 0.2 ms.
 * - Sums count segments, not arrivals. A round needs one arrival, so that it is as long as before.
 * - A jump between neighbours (TIDE's step) takes four arrivals: it is seen later, if the round does not end before.
 */
struct nn_segment {
	u32 now_us; /* time of arrival, microseconds, wraps */
	u32 seq; /* its first sequence number */
	u32 bytes; /* payload, 1 to 65535 */
	u32 segments; /* as many as crossed the wire, at least 1 */
	u32 stamped; /* 0: no timestamp option (RFC 7323), or our own clock is not known yet */
	u32 tsval; /* the sender's clock when it sent, in its ticks */
	u32 tsecr; /* our clock as the sender echoes it, microseconds of a whole tick */
	u32 clock; /* our clock now, in the same count as tsecr: what an ACK sent now would carry */
};

/* Facts about an ACK that is about to leave. */
struct nn_leaving {
	u32 ack; /* the next sequence number expected */
	u32 clock; /* as in nn_segment */
	u32 now_us; /* microseconds, wraps */
};

#endif
