/* SPDX-License-Identifier: GPL-2.0 */
/* What the receiver shims keep, and the loader and the lab's guest read. */
#ifndef NN_RECEIVER_STATE_H
#define NN_RECEIVER_STATE_H

#include "../../algorithms/common/clock.h"
#include "../../algorithms/receiver/flow.h"
#include "../../algorithms/receiver/sample.h"

struct connection {
	u32 most; /* bytes: the application's own TCP_WINDOW_CLAMP, set before it connected or listened; 0: none. First:
		     the loader reads it */
	struct nn_counted counted;
	struct nn_receiver flow;
	struct nn_millisecond left; /* the last ACK */
};

#define NN_PROCESSORS 64 /* with counters of their own; the others share the last */

/* A line of cache: no other processor waits for it. */
struct receiver_arrivals {
	u64 segments; /* as on the wire */
	u64 unstamped; /* of them, those without a timestamp */
	u64 unused[6];
};

/* Events since loading. */
struct receiver_counters {
	u64 connections; /* that became background */
	u64 clamp_failed; /* windows that the kernel refused */
	u64 adopted; /* of the connections, those that were in use already */
	u64 refused; /* that do not yield: the kernel had no memory for them (net.core.optmem_max) */
	struct receiver_arrivals arrivals[NN_PROCESSORS]; /* on them, by processor */
};

#endif
