/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a window to what a sender can do: segments in flight and a pacing rate.
 *
 *   W >= 2   cwnd = W, paced a little faster than W/srtt: the window limits, not the pacing. That spreads a round's
 *            segments. TCP Nice, section 2.3, hopes for better samples from that. Its prototype does not pace: `unpaced`.
 *   W < 2    pairs: two segments, then nothing for 2/W round trips. TCP Nice, section 2.3: "a window of 1/16 means that
 *            the flow sends out two packets after waiting for 32 smoothed round-trip times". Single segments would
 *            meet delayed ACKs, which spoil the RTT. cwnd stays above a pair: pacing alone is the window here. Where a
 *            segment takes as long as such a delay counts, a flow may ask for single ones (`single`).
 *
 * Deviation, on by default, off with max_gap = 0: a flow is never silent for longer than max_gap. A silent flow gets no
 * sample, and a lone backup should see within a second that the path is free. The paper's least window of 1/48 protects
 * against many flows. So the gap is max_gap times the number of siblings below one segment. Together they send one pair
 * in max_gap.
 *
 * Recovery. A sender's pacing deadline is set when it sends and cannot be shortened. After a pair at W = 1/48 it lies 96
 * round trips ahead. The pair's own ACK may show one round trip later that the path is free. Then the core asks the
 * shim to send without regard to the deadline (`now`). Until the deadline has passed Linux stamps segments with the deadline
 * instead of the time, so the kernel's RTT samples are worthless. The core takes its own, one a round: the time
 * from the round's first ACK to the first ACK of a segment sent after it. Not on long paths: wrong stamps hold Linux's RTO
 * at its minimum of 200 ms, and the true RTT must stay below that.
 */
#ifndef NN_PACE_H
#define NN_PACE_H

#include "../common/division.h"
#include "../common/flow.h"

#define NN_PAIR 2u /* segments: what a receiver that delays ACKs acknowledges at once */
#define NN_HASTE_RTT_US 100000u /* half of Linux's least RTO */
#define NN_US_PER_S 1000000ull

/*
 * What a window is spread over. After a timeout nothing of the flow is queued, and retransmissions give no RTT sample. With
 * the RTT of the deep queue before, the next segment would wait until the next timeout.
 */
nn_inline u32 nn_pacing_rtt(const struct nn_flow *flow)
{
	return nn_max(flow->recovery == NN_TIMEOUT ? flow->rtt.min : flow->rtt.smoothed, 1);
}

/* Segments that leave together below two. */
nn_inline u32 nn_together(const struct nn_flow *flow)
{
	return flow->win.single ? 1 : NN_PAIR;
}

/* How long a flow below one segment waits between two pairs, us. */
nn_inline u64 nn_pair_gap(const struct nn_flow *flow, nn_params p, u32 w)
{
	u64 gap = (u64)nn_together(flow) * nn_pacing_rtt(flow) * NN_ONE / w;
	u64 longest = (u64)p[NN_P_max_gap] * nn_max(flow->win.asking, 1) * 1000; /* 0: none is too long */

	return !longest || w >= NN_ONE || p[NN_P_force_window] || gap < longest ? gap : longest;
}

/* Bytes per second that put `window` of `mss` into `us`. */
nn_inline u64 nn_rate(u64 bytes, u64 us)
{
	u64 rate = bytes * NN_US_PER_S / (us ? us : 1);

	return rate ? rate : 1;
}

/* Out of line, for eBPF's stack. */
nn_rare u64 nn_rate_below_two(const struct nn_flow *flow, nn_params p, u32 mss, u32 w)
{
	return nn_rate((u64)nn_together(flow) * nn_max(mss, 1), nn_pair_gap(flow, p, w));
}

/* Of two segments or more, while nothing is missing. */
nn_inline void nn_pace_window(const struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 w,
			      struct nn_send *send)
{
	u64 rate = nn_rate((u64)w * nn_max(ack->mss, 1) >> NN_SHIFT, nn_pacing_rtt(flow));

	send->cwnd = w >> NN_SHIFT;
	/* A round over 5/6 of its time, as Linux's tcp_pacing_ca_ratio of 120 %; slow start: over half of it. */
	send->rate = nn_in_slow_start(&flow->win) ? 2 * rate : rate + nn_fifth(rate);
	if (nn_unlikely(p[NN_P_unpaced]))
		send->now = !ack->held_us; /* what leaves before a deadline is stamped with it */
}

nn_inline void nn_pace(const struct nn_flow *flow, nn_params p, const struct nn_ack *ack, struct nn_send *send)
{
	u32 w = p[NN_P_force_window] ? p[NN_P_force_window] : flow->win.w;

	send->now = flow->rtt_source == NN_RTT_OF_ROUND;
	if (w < NN_PAIR * NN_ONE) {
		/* the next pair may leave before a slow ACK of the last one is in */
		send->cwnd = flow->recovery == NN_TIMEOUT ? 1 : 2 * nn_together(flow);
		send->rate = nn_rate_below_two(flow, p, ack->mss, w);
		if (send->now)
			send->cwnd = NN_PAIR;
		return;
	}
	nn_pace_window(flow, p, ack, w, send);
	/* PRR's bound (RFC 6937, 3): a hole in the window is no licence to send a burst. */
	if (flow->recovery == NN_REDUCED)
		send->cwnd = nn_min(send->cwnd, nn_add_saturating(ack->in_flight, nn_max(ack->acked, 1)));
}

/* From now on the kernel stamps segments with the time; those in flight still carry the deadline. */
nn_inline void nn_rtt_source_returns(struct nn_flow *flow, const struct nn_ack *ack)
{
	flow->rtt_source = NN_RTT_UNKNOWN;
	flow->drained = ack->delivered;
}

/* The RTT that this ACK tells, us; 0: none. Replaces the kernel's while that is of a deadline. */
nn_inline u32 nn_trusted_rtt(struct nn_flow *flow, const struct nn_ack *ack)
{
	if (flow->rtt_source == NN_RTT_UNKNOWN && nn_reached(ack->sent_delivered, flow->drained))
		flow->rtt_source = NN_RTT_OF_KERNEL;
	if (flow->rtt_source == NN_RTT_OF_KERNEL)
		return ack->rtt_us;
	if (flow->rtt_source == NN_RTT_UNKNOWN)
		return 0;
	if (!ack->held_us) { /* the round may have been longer than its RTT: a pause */
		nn_rtt_source_returns(flow, ack);
		return 0;
	}
	if (ack->flags & NN_RETRANSMITTED || !nn_round_over(&flow->round, ack))
		return 0;
	return ack->now_us - flow->round.start_us;
}

/* The window has grown though a deadline of poorer times still stands; or it has shrunk again and must wait for it. */
nn_inline void nn_come_back(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 srtt = flow->rtt.smoothed;

	if (flow->rtt_source == NN_RTT_OF_ROUND && nn_is_sub_packet(flow))
		nn_rtt_source_returns(flow, ack);
	else if (flow->rtt_source == NN_RTT_OF_KERNEL && !nn_is_sub_packet(flow) && !p[NN_P_force_window] &&
		 srtt < NN_HASTE_RTT_US && ack->held_us > srtt)
		flow->rtt_source = NN_RTT_OF_ROUND;
}

#endif
