/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A round of a receiver: the time from an ACK to the first data that it triggered. TSecr reaches the clock at the round's
 * start; without timestamps, what arrives passes what was granted at its start.
 */
#ifndef NN_RECEIVER_ROUND_H
#define NN_RECEIVER_ROUND_H

#include "../common/types.h"

struct nn_receiver_round {
	u32 start_us;
	u32 stamped; /* it is measured by timestamps */
	u32 lost; /* new holes in the sequence */
	u32 missing; /* bytes of them */
	u32 mark; /* ends when the echoed clock (or the sequence) reaches this */
	u64 bytes;
	u64 queue_sum; /* us x segments */
	u32 segments;
	u32 queue_min; /* us; NN_NEVER: no sample */
	u32 queue_max;
	u32 rtt_min;
};

nn_inline void nn_receiver_round_reset(struct nn_receiver_round *round, u32 mark, u32 now_us, bool stamped)
{
	round->mark = mark;
	round->start_us = now_us;
	round->stamped = stamped;
	round->bytes = 0;
	round->segments = 0;
	round->lost = 0;
	round->missing = 0;
	round->queue_min = NN_NEVER;
	round->queue_max = 0;
	round->queue_sum = 0;
	round->rtt_min = NN_NEVER;
}

/* An arrival of so many segments met a queue; `rtt` 0: it shows none. */
nn_inline void nn_receiver_round_count(struct nn_receiver_round *round, u32 queue, u32 rtt, u32 segments)
{
	if (rtt && rtt < round->rtt_min)
		round->rtt_min = rtt;
	if (queue < round->queue_min)
		round->queue_min = queue;
	if (queue > round->queue_max)
		round->queue_max = queue;
	round->queue_sum += (u64)queue * segments;
}

/* Mean queue of the round, us. */
nn_inline u32 nn_receiver_round_queue(const struct nn_receiver_round *round)
{
	u64 sum = round->queue_sum, mean = sum;

	if (round->segments > 1) /* on a link of less than a tick of our clock, a round is an arrival */
		mean = sum >> 32 ? sum / round->segments : (u32)sum / round->segments;

	return mean > NN_NEVER ? NN_NEVER : (u32)mean;
}

/* Bytes a millisecond, in a round of `us`. */
nn_rare u32 nn_receiver_round_rate(const struct nn_receiver_round *round, u32 us)
{
	return (u32)(round->bytes * 1000 / us);
}

#endif
