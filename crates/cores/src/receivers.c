/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The inline receiver cores as functions that another language can call. */
#include "../common/clock.h"
#include "receiver.h"
#include "wish.h"

void nn_host_arrival(struct nn_receiver *flow, struct nn_receiver_siblings *siblings, nn_receiver_params p, u32 chosen,
		     const struct nn_segment *seg)
{
	nn_receiver_arrival(flow, siblings, p, chosen, seg);
}

u32 nn_host_ack(struct nn_receiver *flow, const struct nn_leaving *ack)
{
	return nn_receiver_ack(flow, ack);
}

bool nn_host_tell(struct nn_receiver *flow, u32 window)
{
	return nn_tell(flow, window);
}

u32 nn_host_microseconds(u64 *millisecond, u64 ns)
{
	struct nn_millisecond last = { millisecond[0], (u32)millisecond[1] };
	u32 us = nn_microseconds(&last, ns);

	millisecond[0] = last.began;
	millisecond[1] = last.us;
	return us;
}

void nn_host_join(struct nn_receiver *flow, u32 acked)
{
	nn_receiver_join(flow, acked);
}

u64 nn_host_thousandth(u64 n)
{
	return nn_thousandth(n);
}

u32 nn_host_wished(u32 wish)
{
	return nn_wished_by_application(wish);
}

bool nn_host_may_stop(u32 wish, bool of_cgroup)
{
	return nn_application_may_stop(wish, of_cgroup);
}

const u32 nn_host_size = sizeof(struct nn_receiver);

/* What a test may look at, in one order. */
void nn_host_look(struct nn_receiver *flow, u32 *words)
{
	const struct vulture *vulture = vulture_of(flow);

	words[0] = flow->window;
	words[1] = flow->target;
	words[2] = flow->estimate;
	words[3] = flow->floor;
	words[4] = flow->delay.queue;
	words[5] = flow->delay.tick;
	words[6] = flow->edge;
	words[7] = flow->rounds;
	words[8] = vulture->policy;
	words[9] = vulture->aggressive;
	words[10] = vulture->count;
	words[11] = vulture->thresh;
	words[12] = (u32)flow->delay.skew.rate;
}
