/* SPDX-License-Identifier: GPL-2.0 */
/* What the receiver shims keep, and who watches them reads: the loader, the lab's guest. */
#ifndef NN_RECEIVER_STATE_H
#define NN_RECEIVER_STATE_H

#include "../../algorithms/common/clock.h"
#include "../../algorithms/receiver/flow.h"

struct connection {
	struct nn_millisecond arrived; /* the last arrival */
	u32 offset; /* our TSval less our milliseconds */
	u8 clock_known;
	struct nn_receiver flow;
	struct nn_millisecond left; /* the last ACK */
};

/* Events since loading. */
struct receiver_counters {
	u64 connections; /* that became background */
	u64 segments; /* that arrived on them, as on the wire */
	u64 unstamped; /* of them, those without a timestamp */
	u64 clamp_failed; /* windows that the kernel refused */
	u64 adopted; /* of the connections, those that were in use already */
};

#endif
