/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Delay that is no queue: radio, power saving and busy hosts move each RTT by itself, by more than a level's band.
 *
 *   noise       how far apart the RTTs of a round lie that has touched the base: between the two there was no queue. It
 *               follows the rounds of many samples only, down as fast as up: bursts of others are in some rounds, jitter
 *               is in all of them. On a steady path it is a packet time: a segment alone is faster than a pair
 *   allowance   the smallest of n samples of such noise lies noise / (n + 1) above the base on average. Full windows
 *               have many samples and lose nothing of their sight; a pair has one, and may be off by all of the noise
 */
#ifndef NN_JITTER_H
#define NN_JITTER_H

#include "../common/verifier.h"
#include "../common/flow.h"

#define NN_JITTER_SAMPLES 8u /* a round of fewer is a poor picture: the smallest of 8 lies a ninth up on average */
#define NN_JITTER_LIKELY 2u /* means: of a quiet path's rounds 6 of 7 are below */
#define NN_JITTER_SURELY 5u /* means: a quiet path's round is above once in 150; each such costs a cut */
#define NN_JITTER_PART 4u /* of the base: more than a quarter of it is a queue, like worst_rtt.h's buffer */

/* ACKs with a sample in this round, about: each tells of a pair. */
nn_inline u32 nn_round_samples(const struct nn_round *round)
{
	return round->seen / 2;
}

/* `means` times what the noise adds to the smallest of a round's RTTs on average, us; never more than all of it. */
nn_inline u32 nn_jitter_allowance(u32 noise_us, const struct nn_round *round, u32 means)
{
	u32 samples = nn_greater(nn_round_samples(round), 1);

	return nn_lesser(noise_us, noise_us / (samples + 1) * means);
}

/* How far apart the round's RTTs are, us. */
nn_inline u32 nn_jitter_of_round(const struct nn_round *round, u32 base_us)
{
	return nn_lesser(round->max_rtt - round->min_rtt, base_us / NN_JITTER_PART);
}

#endif
