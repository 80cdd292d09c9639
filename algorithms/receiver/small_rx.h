/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice's next receiver, to be tried: the decision of its sender.
 *
 * What arrives becomes a round's report in ../netnice/receiver.h.
 */
#ifndef NN_SMALL_RX_H
#define NN_SMALL_RX_H

#include "../netnice/receiver.h"

#define SMALL_RX_PARAMS(P)                                                                                             \
	P(floor, 1)                                                                                                    \
	P(initial, 10)                                                                                                 \
	P(skew, 0)

nn_inline void small_rx_on_start(struct nn_receiver *flow, nn_receiver_params p)
{
	(void)p;
	nn_reader_start(flow);
}

nn_inline void small_rx_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
				   const struct nn_arrival *arrival)
{
	(void)p;
	nn_reader_arrival(flow, seg, arrival);
}

#endif
