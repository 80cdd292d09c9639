/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every receiver core remembers of a flow.
 *
 * round     the time from an ACK to the first data that it triggered: TSecr reaches the clock at the round's start;
 *           without timestamps, the sequence reaches the right edge granted at the round's start
 * window    what is advertised. It follows `target` by at most the bytes that an ACK acknowledges (Vulture, algorithm 5),
 *           so the right edge never moves left and a growing window never makes the sender burst
 * estimate  the sender's window: bytes received less those acknowledged before the ACK that triggered the newest
 *           arrival (Vulture, algorithm 6). A background flow that was foreground until now starts from it
 */
#ifndef NN_RECEIVER_FLOW_H
#define NN_RECEIVER_FLOW_H

#include "delay.h"

#define NN_RECEIVER_MOST (1u << 29) /* bytes: half of what TCP can scale to */
#define NN_ACKS 128 /* remembered; each covers all ACKs of one clock tick */
#define NN_ACKS_A_SEGMENT 8

struct nn_arrivals {
	u32 mark; /* ends when the echoed clock (or the sequence) reaches this */
	u32 start_us;
	u32 bytes;
	u32 segments;
	u32 lost; /* new holes in the sequence */
	u32 queue_min; /* us; NN_NEVER: no sample */
	u32 queue_max;
	u32 rtt_min;
	u32 stamped; /* it is measured by timestamps */
	u64 queue_sum; /* us x segments */
};

struct nn_acks {
	u32 clock[NN_ACKS], bytes[NN_ACKS];
	u32 head, tail;
};

#define NN_PIVS 128
struct nn_vulture {
	u32 tsval[NN_PIVS], arrival[NN_PIVS]; /* packetQue: us, rounded down to the quantum */
	u32 head, tail;
	u32 tick; /* of the clock they were sent by, us; 0: it is ours */
	u32 positive, count; /* PIVs of the round */
	u32 high[2], low[2]; /* of them, by the thresholds of conservative and aggressive mode */
	s32 sum;
	u32 thresh; /* rwndThresh, bytes */
	u8 wait; /* no analysis until data comes that reflects the last policy */
	u8 policy, aggressive; /* last decisions, for whoever watches */
};

struct nn_rledbat {
	u32 ssthresh; /* bytes */
	u32 slow_us; /* when the slowdown began */
	u32 next_us; /* when the next begins */
	u32 credit; /* bytes of growth not yet worth a segment */
	u8 slow_start, slowdown, planned;
};

struct nn_tide {
	u32 full; /* window that filled the path without a queue, when it was last seen full; NN_NEVER: never */
	u32 peak; /* its slowly decaying maximum: to where a return may double */
	u32 clear[2]; /* target in the last clear round, and in the one before: what the path was seen to hold */
	u32 rate_max; /* bytes a millisecond, decaying */
	u32 stride; /* segments of growth a round */
	u32 quiet; /* rounds of growth in a row */
	u32 hold; /* rounds still to ignore: their data left before the last decision */
	u32 ebbing; /* rounds at the floor */
	u32 settled; /* clear rounds since the return reached the window remembered */
	u32 drains; /* rounds since a drain began; 0: none is under way */
	u32 last_queue; /* us, of the last congested round */
	u32 step_base, step_count; /* a jump of delay that may be a stranger's */
	u32 previous, previous_tsval; /* queue and stamp of the last arrival */
	u8 doubling, yielding, persisted;
};

struct nn_receiver {
	u32 window, target; /* bytes */
	u32 estimate; /* bytes: the sender's window */
	u32 mss; /* largest payload of one segment seen */
	u32 floor; /* bytes */
	u32 haste; /* bytes the window may grow for each byte acknowledged, at least 1 */
	u32 next; /* highest sequence number seen, plus one */
	u32 acked; /* newest acknowledgement sent */
	u32 edge; /* right edge granted */
	u32 start_us; /* first arrival */
	u32 rounds;
	struct nn_delay delay;
	struct nn_arrivals round;
	u8 algorithm; /* row of table.h, plus one; 0: none, the kernel's own window */
	u8 seen; /* a segment has arrived */
	u8 granted; /* `edge` is ours: rounds without timestamps can be measured */
	union {
		struct nn_vulture vulture;
		struct nn_rledbat rledbat;
		struct nn_tide tide;
	};
	struct nn_acks acks;
};

/* What the core learns of one arrival before its algorithm decides. */
struct nn_arrival {
	u32 queue; /* us */
	u32 rtt; /* us, 0: none */
	bool hole; /* something before it is missing, and was not known to be */
	bool round; /* it ends the round */
};

nn_inline void nn_round_start(struct nn_receiver *flow, const struct nn_segment *seg)
{
	struct nn_arrivals *round = &flow->round;

	round->mark = seg->stamped ? seg->clock : flow->edge;
	round->start_us = seg->now_us;
	round->stamped = seg->stamped != 0;
	round->bytes = 0;
	round->segments = 0;
	round->lost = 0;
	round->queue_min = NN_NEVER;
	round->queue_max = 0;
	round->queue_sum = 0;
	round->rtt_min = NN_NEVER;
	flow->rounds++;
}

nn_inline void nn_set_target(struct nn_receiver *flow, u64 bytes)
{
	u32 most = bytes > NN_RECEIVER_MOST ? NN_RECEIVER_MOST : (u32)bytes;

	flow->target = nn_max(most, flow->floor);
}

/* Algorithm 6: forget the ACKs that are older than the one which triggered this arrival. */
nn_inline void nn_estimate(struct nn_receiver *flow, const struct nn_segment *seg)
{
	struct nn_acks *acks = &flow->acks;

	flow->estimate = nn_min(flow->estimate + seg->bytes, NN_RECEIVER_MOST);
	for (int i = 0; i < NN_ACKS_A_SEGMENT && acks->head != acks->tail; i++) {
		u32 at = acks->head % NN_ACKS;

		if ((s32)(seg->tsecr - acks->clock[at]) <= 0)
			break;
		flow->estimate -= nn_min(acks->bytes[at], flow->estimate);
		acks->head++;
	}
}

nn_inline void nn_remember_ack(struct nn_acks *acks, u32 clock, u32 bytes)
{
	u32 newest = (acks->tail - 1) % NN_ACKS;

	if (acks->head != acks->tail && (acks->clock[newest] == clock || acks->tail - acks->head >= NN_ACKS)) {
		acks->bytes[newest] += bytes;
		return;
	}
	acks->clock[acks->tail % NN_ACKS] = clock;
	acks->bytes[acks->tail % NN_ACKS] = bytes;
	acks->tail++;
}

/* The round-trip time that this arrival shows, us; 0: none. */
nn_inline u32 nn_arrival_rtt(const struct nn_receiver *flow, const struct nn_segment *seg, bool round)
{
	s32 rtt = seg->stamped ? (s32)(seg->clock - seg->tsecr) : round ? (s32)(seg->now_us - flow->round.start_us) : 0;

	return rtt > 0 ? (u32)rtt : 0;
}

/* Bookkeeping of one arrival, the same for every algorithm. */
nn_inline void nn_arrive(struct nn_receiver *flow, const struct nn_segment *seg, struct nn_arrival *out)
{
	struct nn_arrivals *round = &flow->round;
	u32 end = seg->seq + seg->bytes;

	if (!flow->seen) {
		flow->seen = 1;
		flow->next = seg->seq;
		flow->start_us = seg->now_us;
		nn_delay_init(&flow->delay);
		nn_round_start(flow, seg);
	}
	if ((seg->stamped != 0) != round->stamped)
		nn_round_start(flow,
			       seg); /* its mark counts something else: our clock was learnt, or a stamp is missing */
	out->hole = (s32)(seg->seq - flow->next) > 0;
	if (nn_reached(end, flow->next))
		flow->next = end;
	flow->mss = nn_max(flow->mss, nn_min(seg->bytes / nn_max(seg->segments, 1), 65535));
	out->round =
		seg->stamped ? nn_reached(seg->tsecr, round->mark) : flow->granted && nn_reached(seg->seq, round->mark);
	out->rtt = nn_arrival_rtt(flow, seg, out->round);
	round->bytes = nn_add_saturating(round->bytes, seg->bytes);
	round->segments = nn_add_saturating(round->segments, seg->segments);
	round->lost += out->hole;
	if (seg->stamped) {
		nn_estimate(flow, seg);
		out->queue = nn_delay_stamped(&flow->delay, seg, nn_max(out->rtt, 1));
	} else if (out->rtt) {
		flow->estimate = nn_min(round->bytes, NN_RECEIVER_MOST);
		out->queue = nn_delay_unstamped(&flow->delay, out->rtt);
	} else {
		out->queue = flow->delay.queue;
	}
	if (out->rtt)
		round->rtt_min = nn_min(round->rtt_min, out->rtt);
	round->queue_min = nn_min(round->queue_min, out->queue);
	round->queue_max = nn_max(round->queue_max, out->queue);
	round->queue_sum += (u64)out->queue * seg->segments;
}

/* Mean queue of the round, us. */
nn_inline u32 nn_round_queue(const struct nn_arrivals *round)
{
	u64 mean = round->segments ? round->queue_sum / round->segments : 0;

	return mean > NN_NEVER ? NN_NEVER : (u32)mean;
}

/* Is the sender, not the window, what limits this flow? Then growth has not been tried. */
nn_inline bool nn_unused(const struct nn_receiver *flow)
{
	return flow->target > (u64)flow->round.bytes * 2 + 4 * flow->mss;
}

#endif
