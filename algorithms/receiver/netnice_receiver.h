/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice as a receiver: the decision of its sender, from the same file (../netnice/receiver.h).
 *
 * Its parameters are those of a sender's row, with a lower threshold: a grant shows a round trip later than a window.
 */
#ifndef NN_NETNICE_RECEIVER_H
#define NN_NETNICE_RECEIVER_H

#include "../netnice/receiver.h"

#define NETNICE_RECEIVER_PARAMS(P)                                                                                     \
	P(floor, 1)                                                                                                    \
	P(initial, 10)                                                                                                 \
	P(skew, 0)                                                                                                     \
	P(at_least, 0)

/* Of the sender's parameters (../common/params.h). They cannot be set live. */
#define NETNICE_RECEIVER_ROW(P)                                                                                        \
	P(threshold, 8)                                                                                                \
	P(fraction, 90)                                                                                                \
	P(alpha, 16)                                                                                                   \
	P(band_packets, 48)                                                                                            \
	P(queue_floor, 1000)                                                                                           \
	P(min_window, 85)

static const u32 netnice_receiver_row[NN_PARAM_COUNT] = { NETNICE_RECEIVER_ROW(NN_PARAM_VALUE) };

nn_inline void netnice_receiver_on_start(struct nn_receiver *flow, nn_receiver_params p)
{
	(void)p;
	nn_reader_start(flow, netnice_receiver_row);
}

nn_inline void netnice_receiver_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
					   const struct nn_arrival *arrival)
{
	(void)p;
	nn_reader_arrival(flow, netnice_receiver_row, seg, arrival);
}

#endif
