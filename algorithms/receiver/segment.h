/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goes into a receiver core and what comes out: arriving segment -> core -> window to advertise -> shim.
 * A core has no clock and no socket; everything it may know of the sender is in this structure.
 */
#ifndef NN_SEGMENT_H
#define NN_SEGMENT_H

#include "../types.h"

/* Facts about an arrival. Segments that the network card or GRO joined arrive as one, at the time of the last. */
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
