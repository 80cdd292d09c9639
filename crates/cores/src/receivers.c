/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The inline receiver cores as functions that another language can call. */
#include "common/clock.h"
#include "receiver/receiver.h"
#include "receiver/sample.h"
#include "receiver/wish.h"

void nn_host_arrival(struct nn_receiver *flow, struct nn_receiver_siblings *siblings, nn_receiver_params p, u32 chosen,
		     const struct nn_segment *seg)
{
	struct nn_downloads downloads = { .of = { *siblings } }; /* of user 0, whose place is the first */

	nn_receiver_arrival(flow, &downloads, p, chosen, seg);
	*siblings = downloads.of[0];
}

u32 nn_host_share(struct nn_receiver *flow, struct nn_group *group, u32 rate, u32 now_us)
{
	return nn_receiver_share(flow, group, rate, now_us);
}

u32 nn_host_ack(struct nn_receiver *flow, const struct nn_leaving *ack)
{
	return nn_receiver_ack(flow, ack);
}

bool nn_host_sample(struct nn_counted *last, const struct nn_noted *tcp, struct nn_segment *seg)
{
	return nn_sample(last, tcp, seg);
}

bool nn_host_tell(struct nn_receiver *flow, u32 window)
{
	return nn_tell(flow, window);
}

u32 nn_host_microseconds(struct nn_millisecond *last, u64 ns)
{
	return nn_microseconds(last, ns);
}

void nn_host_join(struct nn_receiver *flow, u32 acked)
{
	nn_receiver_join(flow, acked);
}

u64 nn_host_thousandth(u64 n)
{
	return nn_thousandth(n);
}

u64 nn_host_fifth(u64 n)
{
	return nn_fifth(n);
}

u32 nn_host_wished(u32 wish)
{
	return nn_wished_by_application(wish);
}

u32 nn_host_clamp_of(u32 window, u32 own)
{
	return nn_clamp_of(window, own);
}

u32 nn_host_own_clamp(u32 clamp, u32 buffer)
{
	return nn_own_clamp(clamp, buffer);
}

bool nn_host_limits_scale(u32 own)
{
	return nn_limits_scale(own);
}

bool nn_host_may_stop(u32 wish, bool of_cgroup)
{
	return nn_application_may_stop(wish, of_cgroup);
}

/* What a test may look at: bytes, microseconds. */
struct nn_host_look {
	u32 window, target, estimate, floor;
	u32 queue, tick;
	u32 edge, rounds;
	u32 lost; /* holes seen in the round */
	u32 policy, aggressive, pivs, thresh; /* Vulture's */
	s32 skew; /* what our clock gains on the peer's: 2^-24 */
};

struct nn_host_look nn_host_look(struct nn_receiver *flow)
{
	const struct vulture *vulture = vulture_of(flow);

	return (struct nn_host_look){
		.window = flow->window,
		.target = flow->target,
		.estimate = flow->estimate,
		.floor = flow->floor,
		.queue = flow->delay.queue,
		.tick = flow->delay.tick,
		.edge = flow->edge,
		.rounds = flow->rounds,
		.lost = flow->round.lost,
		.policy = vulture->policy,
		.aggressive = vulture->aggressive,
		.pivs = vulture->count,
		.thresh = vulture->thresh,
		.skew = flow->delay.skew.rate,
	};
}
