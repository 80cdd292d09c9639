/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every receiver core remembers of a flow.
 *
 * round     the time from an ACK to the first data that it triggered: TSecr reaches the clock at the round's start;
 *           without timestamps, from the ACK that grants more than was granted at the round's start, to what passes that
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
#define NN_ROUNDED 256 /* bytes: a window scale of 8, of receive buffers of up to 16 MB */
#define NN_ROUNDED_MOST 1024 /* where a segment is still more */

struct nn_arrivals {
	u32 start_us;
	u32 stamped; /* it is measured by timestamps */
	u32 lost; /* new holes in the sequence */
	u32 mark; /* ends when the echoed clock (or the sequence) reaches this */
	u64 bytes;
	u64 queue_sum; /* us x segments */
	u32 segments;
	u32 queue_min; /* us; NN_NEVER: no sample */
	u32 queue_max;
	u32 rtt_min;
};

struct nn_sent_ack {
	u32 clock, bytes;
};

/* What the flows of one host know of each other. Written without a lock: a lost update is a late one. */
struct nn_receiver_kin {
	u32 numbers; /* given to flows */
	u32 last; /* the flow that was last at its floor */
	u32 last_us; /* when */
	u32 other_us; /* when another one was, before it */
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
	u32 newest; /* stamp of the highest sequence number seen */
	u32 held; /* rounds of the slowdown with two segments */
	u8 slow_start, slowdown, planned;
	u8 less; /* enum nn_less */
	u8 resent; /* the round has a retransmission */
	u8 hold; /* rounds still to ignore: their data left before the last decision */
};

struct nn_tide {
	u32 previous, previous_tsval; /* queue and stamp of the last arrival */
	u32 step_base, step_count; /* a jump of delay that may be a stranger's */
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
	u32 low, high; /* us: between them lay the least queues of the last `still` congested rounds */
	u32 still;
	u32 patience; /* rounds a delay stands still before it is tried as the path's */
	u32 trying; /* clear rounds that the trial still takes; 0: there is none */
	u32 base, base_rtt; /* before it */
	u8 doubling; /* enum nn_growth */
	u8 persisted;
	u8 less; /* enum nn_less */
	u8 doubts; /* rounds of the trial that met a queue, perhaps our own */
};

/*
 * Of the window, without timestamps. A round is timed from the ACK that first grants more than its mark: while a window
 * shrinks, the edge stands still for a round trip, and what reaches it was let go by an ACK long ago.
 */
enum nn_granted { NN_GRANTED_NOTHING, NN_GRANTED_MARK, NN_GRANTED_MORE };

/*
 * Ordered by who writes it: arrivals and ACKs may be on different processors, between which a line of cache that both
 * write would wander. First what is seldom written, then what every arrival writes; what ACKs write is at the end.
 */
struct nn_receiver {
	u32 target; /* bytes */
	u32 haste; /* bytes the window may grow for each byte acknowledged, at least 1 */
	u32 head; /* of `acks` */
	u8 algorithm; /* row of table.h, plus one; 0: none, the kernel's own window */
	u8 plain; /* an arrival with a timestamp is like the one before: see receiver.h */
	u8 low; /* it is at its floor */
	u8 company; /* and so was another of its host when its last round there ended */
	u32 number; /* tells it from its kin; 0: it was never there */
	u8 seen; /* a segment has arrived */
	u8 watched; /* rounds still to see before it yields */
	u32 mss; /* largest payload of one segment seen */
	u32 floor; /* bytes */
	u32 start_us; /* first arrival */
	u8 granted; /* enum nn_granted */
	struct nn_arrivals round;
	u32 rounds;
	u32 next; /* highest sequence number seen, plus one */
	u32 estimate; /* bytes: the sender's window */
	u32 echoed; /* no ACK of `acks` is older than this echo of our clock */
	struct nn_delay delay;
	union {
		struct nn_tide tide;
		struct nn_vulture vulture;
		struct nn_rledbat rledbat;
	};
	struct nn_sent_ack acks[NN_ACKS];
	u32 tail; /* of `acks` */
	u32 acked; /* newest acknowledgement sent */
	u32 window; /* bytes */
	u32 edge; /* right edge granted, at most */
	u32 rounded; /* bytes: to multiples of this the kernel rounds windows up, at most */
	u32 told; /* window that the kernel was told last, bytes; 0: none */
	u32 told_at; /* the acknowledgement then sent */
};

/* What the core learns of one arrival before its algorithm decides. */
struct nn_arrival {
	u32 queue; /* us */
	u32 rtt; /* us, 0: none */
	bool hole; /* something before it is missing, and was not known to be */
	bool round; /* it ends the round */
};

nn_inline void nn_round_set(struct nn_receiver *flow, u32 mark, u32 now_us, bool stamped)
{
	struct nn_arrivals *round = &flow->round;

	round->mark = mark;
	round->start_us = now_us;
	round->stamped = stamped;
	round->bytes = 0;
	round->segments = 0;
	round->lost = 0;
	round->queue_min = NN_NEVER;
	round->queue_max = 0;
	round->queue_sum = 0;
	round->rtt_min = NN_NEVER;
	if (!stamped)
		flow->granted = nn_min(flow->granted, NN_GRANTED_MARK);
	flow->rounds++;
}

nn_inline u32 nn_round_mark(const struct nn_receiver *flow, const struct nn_segment *seg)
{
	return seg->stamped ? seg->clock : flow->edge;
}

nn_rare void nn_round_begin(struct nn_receiver *flow, u32 mark, u32 now_us, bool stamped)
{
	nn_round_set(flow, mark, now_us, stamped);
}

nn_inline void nn_round_start(struct nn_receiver *flow, const struct nn_segment *seg)
{
	nn_round_begin(flow, nn_round_mark(flow, seg), seg->now_us, seg->stamped != 0);
}

nn_inline void nn_set_target(struct nn_receiver *flow, u64 bytes)
{
	u32 most = bytes > NN_RECEIVER_MOST ? NN_RECEIVER_MOST : (u32)bytes;

	flow->target = nn_max(most, flow->floor);
}

/* Algorithm 6: forget the ACKs that are older than the one which triggered this arrival. */
nn_rare void nn_forget_acks(struct nn_receiver *flow, u32 tsecr)
{
#pragma clang loop unroll(disable) /* short code: most find one ACK or none */
	for (int i = 0; i < NN_ACKS_A_SEGMENT; i++) {
		const struct nn_sent_ack *oldest = &flow->acks[flow->head % NN_ACKS];

		if (flow->head == flow->tail || (s32)(tsecr - oldest->clock) <= 0) {
			flow->echoed = tsecr;
			return;
		}
		flow->estimate -= nn_min(oldest->bytes, flow->estimate);
		flow->head++;
	}
}

nn_inline void nn_estimate(struct nn_receiver *flow, const struct nn_segment *seg)
{
	flow->estimate = nn_min(flow->estimate + seg->bytes, NN_RECEIVER_MOST);
	if (nn_unlikely(seg->tsecr != flow->echoed)) /* an ACK sent since is not older than an echo */
		nn_forget_acks(flow, seg->tsecr);
}

nn_rare void nn_append_ack(struct nn_receiver *flow, u32 clock, u32 bytes)
{
	struct nn_sent_ack *ack;

	if (flow->tail - flow->head >= NN_ACKS) {
		flow->acks[(flow->tail - 1) % NN_ACKS].bytes += bytes;
		return;
	}
	ack = &flow->acks[flow->tail % NN_ACKS];
	ack->clock = clock;
	ack->bytes = bytes;
	flow->tail++;
}

nn_inline void nn_remember_ack(struct nn_receiver *flow, u32 clock, u32 bytes)
{
	struct nn_sent_ack *newest = &flow->acks[(flow->tail - 1) % NN_ACKS];

	if (nn_likely(newest->clock == clock && flow->head != flow->tail))
		newest->bytes += bytes;
	else
		nn_append_ack(flow, clock, bytes);
}

/* The round-trip time that this arrival shows, us; 0: none. */
nn_inline u32 nn_arrival_rtt(const struct nn_receiver *flow, const struct nn_segment *seg, bool round)
{
	s32 rtt = seg->stamped ? (s32)(seg->clock - seg->tsecr) : round ? (s32)(seg->now_us - flow->round.start_us) : 0;

	return rtt > 0 ? (u32)rtt : 0;
}

nn_rare void nn_first_arrival(struct nn_receiver *flow, const struct nn_segment *seg)
{
	flow->seen = 1;
	flow->next = seg->seq;
	flow->start_us = seg->now_us;
	flow->rounded = NN_ROUNDED;
	nn_delay_init(&flow->delay);
	nn_round_start(flow, seg);
}

/* Largest payload of a segment, in a joined one that has `bytes`. */
nn_rare u32 nn_larger(u32 mss, u32 bytes, u32 segments)
{
	return nn_max(mss, nn_min(bytes / nn_max(segments, 1), 65535));
}

/* What begins with this arrival: the flow, or a round whose mark counts something else. */
nn_inline void nn_begin(struct nn_receiver *flow, const struct nn_segment *seg)
{
	if (!flow->seen)
		nn_first_arrival(flow, seg);
	/* our clock was learnt, or a stamp is missing */
	if ((seg->stamped != 0) != flow->round.stamped)
		nn_round_start(flow, seg);
}

/* Half of the least round trip is none: the kernel rounds to more than was believed. The round is timed again. */
nn_inline bool nn_too_short(struct nn_receiver *flow, u32 rtt)
{
	if (rtt >= flow->delay.rtt_min / 2 || flow->delay.rtt_min == NN_NEVER || flow->rounded >= NN_ROUNDED_MOST)
		return false;
	flow->rounded *= 2;
	flow->round.mark = flow->edge;
	flow->granted = NN_GRANTED_MARK;
	return true;
}

/* Bookkeeping of one arrival, the same for every algorithm. */
nn_inline void nn_arrive(struct nn_receiver *flow, const struct nn_segment *seg, struct nn_arrival *out)
{
	struct nn_arrivals *round = &flow->round;
	u32 end = seg->seq + seg->bytes;

	out->hole = (s32)(seg->seq - flow->next) > 0;
	if (nn_unlikely(out->hole))
		round->lost++;
	if (nn_likely(nn_reached(end, flow->next)))
		flow->next = end;
	if (nn_unlikely(seg->bytes > (u64)flow->mss * seg->segments)) /* spares most arrivals the division */
		flow->mss = nn_larger(flow->mss, seg->bytes, seg->segments);
	out->round = seg->stamped ? nn_reached(seg->tsecr, round->mark)
				  : flow->granted == NN_GRANTED_MORE && (s32)(end - round->mark) > 0;
	out->rtt = nn_arrival_rtt(flow, seg, out->round);
	round->bytes += seg->bytes;
	round->segments += seg->segments;
	if (seg->stamped) {
		nn_estimate(flow, seg);
		out->queue = nn_delay_stamped(&flow->delay, seg, nn_max(out->rtt, 1));
	} else {
		out->queue = flow->delay.queue;
		if (out->round && nn_too_short(flow, out->rtt))
			out->round = false;
		if (!out->round) { /* no sample */
			out->rtt = 0;
			return;
		}
		flow->estimate = round->bytes < NN_RECEIVER_MOST ? (u32)round->bytes : NN_RECEIVER_MOST;
		out->queue = nn_delay_unstamped(&flow->delay, seg->now_us, nn_max(out->rtt, 1));
		round->queue_sum = (u64)out->queue * (round->segments - seg->segments);
	}
	if (out->rtt && out->rtt < round->rtt_min)
		round->rtt_min = out->rtt;
	if (out->queue < round->queue_min)
		round->queue_min = out->queue;
	if (out->queue > round->queue_max)
		round->queue_max = out->queue;
	round->queue_sum += (u64)out->queue * seg->segments;
}

/* Mean queue of the round, us. */
nn_inline u32 nn_round_queue(const struct nn_arrivals *round)
{
	u64 sum = round->queue_sum, mean = sum;

	if (round->segments > 1) /* on a link of less than a tick of our clock, a round is an arrival */
		mean = sum >> 32 ? sum / round->segments : (u32)sum / round->segments;

	return mean > NN_NEVER ? NN_NEVER : (u32)mean;
}

/* Is the sender, not the window, what limits this flow? Then growth has not been tried. */
nn_inline bool nn_unused(const struct nn_receiver *flow)
{
	return flow->target > flow->round.bytes * 2 + 4 * flow->mss;
}

/* A flow's first decrease. Until it is seen in what comes, the sender lives on what the kernel had granted before. */
enum nn_less { NN_LESS_NEVER, NN_LESS_TOLD, NN_LESS_SEEN };

/* Is it still to be seen, after this round? In a tick of our clock more may come than the window lets go. */
nn_inline bool nn_unseen(const struct nn_receiver *flow, u8 *less)
{
	u64 most = flow->target + (u64)flow->target * NN_TICK_US / nn_max(flow->delay.rtt_min, 1) + 2 * flow->mss;

	if (*less == NN_LESS_TOLD && flow->round.bytes <= most)
		*less = NN_LESS_SEEN;
	return *less == NN_LESS_TOLD;
}

#endif
