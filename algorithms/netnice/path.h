/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path estimates beside the base RTT: the service time of a packet at the bottleneck, and trials of a longer route. A queue
 * that stands still may be one.
 *
 *   packet   spacing of arrivals whose segments left together (packet pair: Keshav, SIGCOMM 1991). Two thirds have more.
 *   route    still for 12 rounds and 5 s --> trial: the queue is added to the base.
 *            trial --3 congested rounds--> refuted, and patience doubles; --16 clear rounds--> proved.
 */
#ifndef NN_PATH_H
#define NN_PATH_H

#include "../common/verifier.h"

#define NN_SPACING_MOST_US 4000000u /* longer gaps are pauses */
#define NN_TRIAL_SHIFT 6 /* bits: delays in 64 us */
#define NN_SINCE_SHIFT 14 /* bits: times in 16 ms, which wrap after 18 minutes */
#define NN_TRIAL_STILL 12u
#define NN_TRIAL_STILL_US 5000000u /* the queue of a CUBIC flow on today's paths stands still for less */
#define NN_TRIAL_ROUNDS 16u /* clear rounds that prove a longer route: growth from one segment to thousands takes 12 */
#define NN_DOUBTS 3u /* congested rounds that refute it: a return may overshoot twice */

enum nn_verdict { NN_TRIAL_SAME, NN_TRIAL_TRIED, NN_TRIAL_REFUTED };

struct nn_trial {
	u16 since; /* since when the queue stands still, 2^14 us */
	u16 low, high; /* it lay between them, 64 us; `low` is the part of the base that is on trial */
	u8 still : 4; /* rounds that it stood still */
	u8 left : 4; /* clear rounds that the trial still takes; 0: there is none */
	u8 doubts : 2; /* congested rounds of it */
	u8 patience : 3; /* the next waits NN_TRIAL_STILL_US << patience: 10 minutes at most */
	u8 verdict : 2; /* enum nn_verdict: of this round */
};

/*
 * Service time after a sample, in the unit of `spacing`; 0: unknown. `apart`: us by which the two segments left apart.
 * A third of the pairs came closer, as arrivals jitter; what came between two segments makes a spacing too long.
 */
nn_inline u32 nn_packet_after(u32 packet, u32 spacing, u32 apart_us, u32 gap_us, u32 segments)
{
	bool together = apart_us + gap_us / 4 <= gap_us / 2; /* within a quarter of the gap, early or late: wraps */

	if (!together || !spacing || gap_us >= NN_SPACING_MOST_US)
		return packet;
	spacing = nn_max(spacing / segments, 1);
	if (!packet)
		return spacing;
	return spacing < packet ? nn_max(packet - (packet / 16 + 1), spacing) : packet + packet / 32 + 1;
}

nn_inline bool nn_trial_stands(struct nn_trial *trial, u32 now_us, u32 queue_us, u32 width_us)
{
	u32 queue = nn_min(queue_us >> NN_TRIAL_SHIFT, 0xffff); /* no path is longer by four seconds */

	trial->low = (u16)nn_min(trial->low, queue);
	trial->high = (u16)nn_max(trial->high, queue);
	if (!trial->still || queue == 0xffff || (u32)(trial->high - trial->low) > width_us >> NN_TRIAL_SHIFT) {
		trial->low = trial->high = (u16)queue;
		trial->since = (u16)(now_us >> NN_SINCE_SHIFT);
		trial->still = 1;
		return false;
	}
	trial->still = nn_min(trial->still + 1u, 15);
	return trial->still >= NN_TRIAL_STILL &&
	       (u32)(u16)((now_us >> NN_SINCE_SHIFT) - trial->since) << NN_SINCE_SHIFT >= NN_TRIAL_STILL_US
												  << trial->patience;
}

/*
 * A judged round met at least `queue_us`; the flow's own segments explain `own_us` of it. TRIED: the caller adds `longer` to
 * its base; REFUTED: it takes `longer` back.
 */
nn_inline void nn_trial_round(struct nn_trial *trial, u32 now_us, u32 queue_us, u32 own_us, u32 width_us,
			      bool congested)
{
	if (queue_us <= own_us)
		trial->still = 0;
	if (trial->left) {
		if (congested && ++trial->doubts >= NN_DOUBTS) {
			trial->patience = nn_min(trial->patience + 1u, 7);
			trial->left = trial->still = 0;
			trial->verdict = NN_TRIAL_REFUTED;
		} else if (!congested && !--trial->left)
			trial->patience = 0;
	} else if (queue_us > own_us && nn_trial_stands(trial, now_us, queue_us, width_us)) {
		trial->left = NN_TRIAL_ROUNDS - 1;
		trial->doubts = 0;
		trial->still = 0;
		trial->verdict = NN_TRIAL_TRIED;
	}
}

nn_inline u32 nn_trial_longer_us(const struct nn_trial *trial)
{
	return (u32)trial->low << NN_TRIAL_SHIFT;
}

/* The base fell by so many us while a part of it was on trial: a part of that is refuted. */
nn_inline void nn_trial_shorten(struct nn_trial *trial, u32 us)
{
	if (!trial->left)
		return;
	trial->low = (u16)nn_sub_saturating(trial->low, us >> NN_TRIAL_SHIFT);
	if (!trial->low)
		trial->left = trial->still = 0;
}

#endif
