/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goes into a core and what comes out. A core has no clock and no socket: all that it may know is here, and what its
 * siblings do (siblings.h).
 */
#ifndef NN_SAMPLE_H
#define NN_SAMPLE_H

#include "types.h"

enum nn_ack_flags {
	NN_APP_LIMITED = 1 << 0, /* the sender ran out of data: the window was not what held it back */
	NN_LONE = 1 << 1, /* the RTT is of a segment that flew alone: a delayed ACK may be in it */
	NN_RETRANSMITTED = 1 << 2, /* among the segments was one that had been sent before: it tells no time (Karn) */
	NN_DELAYED = 1 << 3, /* the kernel takes this for a delayed ACK; connection.h has drawn the conclusion */
};

/* Facts about one ACK. */

struct nn_ack {
	u32 now_us; /* time of the ACK, microseconds, wraps */
	u32 delivered; /* segments delivered so far in this connection, this ACK's included, wraps */
	u32 sent_delivered; /* `delivered` as it was when the newest segment acknowledged here was sent */
	u32 acked; /* segments this ACK newly delivered (cumulatively or by SACK) */
	u32 lost; /* segments presumed lost and not yet delivered */
	u32 rtt_us; /* round-trip time of the newest of them; 0: no valid sample */
	u32 in_flight; /* segments in the network after this ACK */
	u32 mss; /* payload bytes of a full segment */
	u32 held_us; /* how far ahead the sender's pacing deadline lies, if it can be disregarded; else 0 */
	u32 flags; /* enum nn_ack_flags */
	u32 peer_stamp; /* the TSval that came with the ACK (RFC 7323), in the peer's ticks, wraps; 0: none */
};

/* The sender's loss recovery, in the kernel's terms (RFC 5681, RFC 6675, RFC 3168). */
enum nn_recovery {
	NN_OPEN, /* nothing is missing */
	NN_REDUCED, /* fast recovery, or an ECN mark was echoed: one reduction per window of data */
	NN_TIMEOUT, /* the retransmission timer fired: start again from one segment */
};

/* What a core wants the sender to do until the next ACK. */
struct nn_send {
	u64 rate; /* pacing, payload bytes per second, at least 1 */
	u32 cwnd; /* segments that may be in flight, at least 1 */
	bool now; /* send without waiting for a pacing deadline set when the window was smaller */
};

#endif
