/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a flow of the ladder (ladder.h) knows of its path: a packet's time at the bottleneck, what the path holds without a
 * queue, how much delays move by themselves, and whether a queue is that of its siblings. No decisions.
 */
#ifndef NN_LADDER_PATH_H
#define NN_LADDER_PATH_H

#include "../../pacing/flight.h"
#include "../../estimate/base_rtt.h"
#include "../../estimate/jitter.h"
#include "../../siblings/siblings.h"

struct ladder {
	u32 packet; /* time of a full segment at the bottleneck, 1/16 us; 0: not known yet */
	u32 prior_rtt; /* of the last ACK, us; 0: none */
	u32 noise; /* how far apart the RTTs of a round are without a queue, us: jitter.h */
	u32 low; /* smallest RTT of `pairs`, us */
	u32 since_us; /* when the flow fell below one segment, or looked last */
	u16 spread; /* of the RTTs of `pairs`, us */
	u8 prior_acked; /* of the last ACK */
	u8 hold : 1; /* this round's samples left before the last decision */
	u8 pairs : 7; /* rounds below one segment that `low` and `spread` tell of */
	u8 quiet; /* rounds in a row with an empty queue */
	u8 strikes; /* decisions in a row above the band */
	u8 met; /* how often the last rounds met a queue above the band, 1/256 */
	u8 look : 2; /* enum ladder_look */
	u8 look_apart : 6; /* longest silences between two looks */
};

/* The rounds of a look, in the order of their coming. */
enum ladder_look { LADDER_NO_LOOK, LADDER_FULL, LADDER_WIDE, LADDER_PAIR };

#define LADDER_LOOK 20u /* segments: rounds are not cut sharply, and the look wants 8 samples of pairs */
#define LADDER_FAST_US 4000u /* packet time, us: 3 Mbit/s; slower, a band of some packets is wider than jitter */
#define LADDER_FEW (4 * NN_ONE) /* above, ACKs time the segments, and siblings do not meet by chance */
#define LADDER_CROWD                                                                                                   \
	4u /* packets: what siblings queue by chance up to LADDER_BUSY; more is somebody who fills the path */
#define LADDER_BUSY 160u /* of 256; busier, siblings hide a level above, and it cannot come back */
#define LADDER_DOUBT 64u /* of 256: two standard deviations of `met` */
#define LADDER_HEARD 2u /* samples: fewer have no spread */

NN_CORE_STATE(ladder, ladder_of)

nn_inline void ladder_forget(struct ladder *own)
{
	own->low = NN_NEVER;
	own->spread = 1; /* low + spread, the highest, is zero then */
	own->pairs = 0;
}

/* The queue that this level may keep, us. */
nn_inline u32 ladder_band(struct nn_flow *flow, nn_params p)
{
	u32 us = (u64)ladder_of(flow)->packet * nn_min(p[NN_P_band_packets], 4096) >> 8; /* packet: below 2^26 */

	return nn_min(nn_max(us, p[NN_P_band_us]), NN_NEVER / 8);
}

/* Smallest spacing of ACKs a packet: full windows leave the bottleneck back to back. */
nn_inline void ladder_packet(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt)
{
	struct ladder *own = ladder_of(flow);
	u32 gap = ack->now_us - flow->last_us;
	bool usable = ack->delivered < 12 || (nn_min(ack->acked, own->prior_acked) >= 2 && flow->win.w >= 4 * NN_ONE);
	bool spaced = own->prior_rtt && rtt >= own->prior_rtt; /* ACKs no closer than their segments left */

	if (ack->acked) {
		if (usable && spaced && gap && gap < 4000000 &&
		    (!own->packet || gap * 16 < (u64)own->packet * ack->acked)) /* it divides only to learn */
			own->packet = nn_max(gap * 16 / ack->acked, 1);
		own->prior_acked = nn_min(ack->acked, 255);
		own->prior_rtt = rtt;
	}
}

/* What the flow's own pair adds, us: a packet. Noise makes ACKs' spacing too small by up to half of its spread. */
nn_inline u32 ladder_pair(struct nn_flow *flow)
{
	u32 most = ((u64)flow->rtt.min << NN_SHIFT) / nn_greater(flow->win.w, NN_ONE);

	return nn_greater(ladder_of(flow)->packet >> 4, nn_lesser(ladder_of(flow)->noise / 2, most));
}

/*
 * Is the queue of this segment more than the level may keep, the noise, and the flow's own pair? ladder_pair() without a
 * division: this is on the way of every ACK.
 */
nn_inline bool ladder_is_slow(struct nn_flow *flow, u32 band, u32 rtt)
{
	struct ladder *own = ladder_of(flow);
	u32 queue = rtt - flow->rtt.min, bear = nn_max(band, own->noise);

	if (queue <= bear + (own->packet >> 4))
		return false;
	queue -= bear;
	return queue > own->noise / 2 || (u64)queue * nn_max(flow->win.w, NN_ONE) > (u64)flow->rtt.min << NN_SHIFT;
}

/* The round's queue beyond the flow's own pair, us. */
nn_inline u32 ladder_queue(struct nn_flow *flow)
{
	u32 base = nn_add_saturating(flow->rtt.min, ladder_pair(flow));

	return nn_sub_saturating(flow->round.min_rtt, base);
}

/* What the path holds without a queue, 1/4096 segment. */
nn_inline u64 ladder_pipe(struct nn_flow *flow)
{
	return ((u64)flow->rtt.min << NN_SHIFT) / nn_greater(ladder_pair(flow), 1);
}

/* A round that has touched the base tells the noise by its other samples; any round tells what it is not more than. */
nn_inline void ladder_listen(struct nn_flow *flow, u32 queue, u32 band, bool looked)
{
	struct ladder *own = ladder_of(flow);
	u32 samples = nn_round_samples(&flow->round), noise = nn_jitter_of_round(&flow->round, flow->rtt.min), most;

	if (samples >= LADDER_HEARD) {
		most = (u64)noise * (samples + 1) / (samples - 1); /* of so many, spread evenly */
		own->noise -= nn_sub_saturating(own->noise, most) / 4;
	}
	if (samples >= NN_JITTER_SAMPLES &&
	    queue <= nn_greater(band, nn_jitter_allowance(noise, &flow->round, NN_JITTER_SURELY)))
		own->noise += nn_sub_saturating(noise, own->noise) >> !looked;
}

/* How much of the path the host's flows of this level use, 1/256. */
nn_inline u32 ladder_load(struct nn_flow *flow, const struct nn_siblings *siblings)
{
	u64 pipe = ladder_pipe(flow), used = (u64)flow->win.w * siblings->flows;

	return used < pipe ? (u32)((used << 8) / pipe) : 256;
}

/* Is the path known to be fast, and to hold a look's segments? A slow one seems to if others' queue is in its base. */
nn_inline bool ladder_is_wide(struct nn_flow *flow)
{
	u32 packet = ladder_of(flow)->packet;

	return packet && packet >> 4 <= LADDER_FAST_US && ladder_pipe(flow) >= LADDER_LOOK * NN_ONE;
}

/* Is the queue one of siblings, met by chance? */
nn_inline bool ladder_met_siblings(struct nn_flow *flow, const struct nn_siblings *siblings, u32 queue, u32 band)
{
	struct ladder *own = ladder_of(flow);
	u32 load;

	own->met = own->met - own->met / 8 + (queue > band ? 31 : 0);
	if (queue <= band || queue > band + LADDER_CROWD * ladder_pair(flow) || siblings->flows < 2 ||
	    flow->win.w >= LADDER_FEW || !ladder_is_wide(flow))
		return false;
	load = ladder_load(flow, siblings);
	return load < LADDER_BUSY && own->met <= load + LADDER_DOUBT;
}

#endif
