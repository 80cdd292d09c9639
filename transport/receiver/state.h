/* SPDX-License-Identifier: GPL-2.0 */
/* What the receiver shims keep of a connection, and who watches them reads: the lab's guest. */
#ifndef NN_RECEIVER_STATE_H
#define NN_RECEIVER_STATE_H

#include "../../algorithms/receiver/clock.h"
#include "../../algorithms/receiver/flow.h"

struct connection {
	struct nn_millisecond arrived; /* the last arrival */
	u32 offset; /* our TSval less our milliseconds */
	u8 clock_known;
	struct nn_receiver flow;
	struct nn_millisecond left; /* the last ACK */
};

#endif
