/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The inline receiver cores as functions that another language can call. */
#include "receiver.h"

void nn_host_arrival(struct nn_receiver *flow, nn_receiver_params p, u32 chosen, const struct nn_segment *seg)
{
	nn_receiver_arrival(flow, p, chosen, seg);
}

u32 nn_host_ack(struct nn_receiver *flow, const struct nn_leaving *ack)
{
	return nn_receiver_ack(flow, ack);
}

const u32 nn_host_size = sizeof(struct nn_receiver);

/* What a test may look at, in one order. */
void nn_host_look(const struct nn_receiver *flow, u32 *words)
{
	words[0] = flow->window;
	words[1] = flow->target;
	words[2] = flow->estimate;
	words[3] = flow->floor;
	words[4] = flow->delay.queue;
	words[5] = flow->delay.tick;
	words[6] = flow->edge;
	words[7] = flow->rounds;
	words[8] = flow->vulture.policy;
	words[9] = flow->vulture.aggressive;
	words[10] = flow->vulture.count;
	words[11] = flow->vulture.thresh;
}
