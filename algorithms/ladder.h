/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Levels below TCP Nice: nice1 is invisible to nice (level 0), nice2 to nice1, and both to everybody else.
 *
 * TCP Nicer's levels (nicer.h) are told apart by RTT over base RTT. That ruler is too coarse: 20 % of a base RTT is more
 * than a whole level above keeps queued. Here a level is told by what it leaves in the bottleneck's queue, in packets:
 *
 *   foreground   fills the buffer
 *   nice         keeps one to three packets always, because Vegas steers for them
 *   nice1        touches its band (5/8 packet or 0.6 ms) once a sawtooth and empties the queue in between
 *   nice2        touches a smaller band (1/4 packet or 0.5 ms) more rarely still
 *
 * and each takes a queue above its band that does not go away for a higher level's.
 *
 *   queue        a round's smallest RTT less the base, less one packet: the second half of the flow's own pair
 *   within it    W += add; after quiet_rounds without a queue, doubling up to 1/16 of the pipe
 *   above it     a soft cut: the own share of that queue exactly, and 2^-soft_shift more, twice as much each time; then
 *                wait for the round that shows it. Flows of one level cut together, so the queue is gone then. If it
 *                is there after soft_cuts, whoever fills it does not cut: W *= keep, every time
 *   W < 1        one pair of segments a time. Above the band W *= keep, else, after quiet_pairs, W *= climb. So W rises
 *                only where more than p pairs meet no queue, p = log(1/keep) / log(climb/keep): 3/5 for nice1, 3/4 for
 *                nice2, and three in a row. A level above keeps it below that, an idle path does not
 *
 * Kin. Flows of one host, level and destination are one aggregate: they add as one flow would, and each round each moves
 * a quarter of the way to their mean, which keeps their sum. Without that the first flow holds the path, for what a
 * late comer sees of its own level hardly differs from what it sees of the one above. Here ends this preset: flows of
 * one level on different hosts are invisible to higher levels, but not fair to each other.
 *
 * The packet time is the smallest spacing of ACKs a segment in full windows. Compressed ACKs make it too small and
 * with it the band, which errs on the side of yielding.
 */
#ifndef NN_LADDER_H
#define NN_LADDER_H

#include "flight.h"

/* least: the floor, 1/128 and 1/256; gap: ms between the pairs of a host's starving flows */
#define LADDER_PARAMS(P, packets, us, keep_part, increase, start, shift, soft, rounds, clear, climb_factor, least,     \
		      gap)                                                                                             \
	P(band_packets, packets)                                                                                       \
	P(band_us, us)                                                                                                 \
	P(keep, keep_part)                                                                                             \
	P(add, increase)                                                                                               \
	P(start_window, start)                                                                                         \
	P(soft_shift, shift)                                                                                           \
	P(soft_cuts, soft)                                                                                             \
	P(quiet_rounds, rounds)                                                                                        \
	P(quiet_pairs, clear)                                                                                          \
	P(climb, climb_factor)                                                                                         \
	P(min_window, least)                                                                                           \
	P(initial_window, 2)                                                                                           \
	P(estimator, NN_RTT_ROBUST)                                                                                    \
	P(max_gap, 2000)                                                                                               \
	P(peer_gap, gap)                                                                                               \
	P(force_window, 0)

#define LADDER1_PARAMS(P) LADDER_PARAMS(P, 10, 600, 512, 1024, 4096, 5, 4, 8, 3, 4, 32, 1000)
#define LADDER2_PARAMS(P) LADDER_PARAMS(P, 4, 500, 512, 128, 512, 4, 2, 16, 3, 2, 16, 2000)

struct ladder {
	u32 packet; /* time of a full segment at the bottleneck, 1/16 us; 0: not known yet */
	u32 prior_acked; /* of the last ACK */
	u8 hold; /* this round's samples left before the last decision */
	u8 quiet; /* rounds in a row with an empty queue */
	u8 strikes; /* decisions in a row above the band */
};

NN_CORE_STATE(ladder, ladder_of)

nn_inline void ladder_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	nn_flow_init(flow, p, now_us, delivered, srtt_us);
	nn_window_set(&flow->win, p[NN_P_start_window]);
}

/* The queue that this level may keep, us. */
nn_inline u32 ladder_band(struct nn_flow *flow, nn_params p)
{
	u64 us = (u64)ladder_of(flow)->packet * (u64)p[NN_P_band_packets] >> 8;

	us = us > p[NN_P_band_us] ? us : p[NN_P_band_us];
	return us < NN_NEVER / 8 ? (u32)us : NN_NEVER / 8;
}

/* Smallest spacing of ACKs a packet: full windows leave the bottleneck back to back. */
nn_inline void ladder_packet(struct nn_flow *flow, const struct nn_ack *ack)
{
	struct ladder *own = ladder_of(flow);
	u32 gap = ack->now_us - flow->last_us;
	u32 usable = (ack->delivered < 12) || (ack->acked >= 2 && own->prior_acked >= 2 && flow->win.w >= 4 * NN_ONE);

	if (ack->acked) {
		if (usable && gap && gap < 4000000) {
			gap = gap * 16 / ack->acked;
			if (!own->packet || gap < own->packet)
				own->packet = nn_max(gap, 1);
		}
		own->prior_acked = ack->acked;
	}
}

/* The round's queue beyond the flow's own pair, us. */
nn_inline u32 ladder_queue(struct nn_flow *flow)
{
	u32 base = nn_add_saturating(flow->rtt.min, ladder_of(flow)->packet >> 4);

	return flow->round.min_rtt > base ? flow->round.min_rtt - base : 0;
}

/* What the path holds without a queue, 1/4096 segment. */
nn_inline u64 ladder_pipe(struct nn_flow *flow)
{
	return ((u64)flow->rtt.min << (NN_SHIFT + 4)) / nn_max(ladder_of(flow)->packet, 1);
}

/* Each cut in a row is twice the last. */
nn_inline u32 ladder_shift(const struct ladder *own, nn_params p)
{
	u32 shift = nn_min(p[NN_P_soft_shift], 31);

	return shift > own->strikes ? shift - own->strikes : 1;
}

/* Softly while the queue can be one's own level's, hard when that has not helped. */
nn_inline void ladder_cut(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 queue)
{
	struct ladder *own = ladder_of(flow);
	u64 bdp = (u64)flow->win.w * flow->rtt.min / nn_max(flow->rtt.min + queue, 1);

	if (nn_in_slow_start(&flow->win))
		bdp = bdp * 2 / 3; /* W has grown by half since that segment left */
	else if (own->strikes < p[NN_P_soft_cuts] &&
		 (!nn_is_starving(flow) || (u64)flow->win.w * ack->kin >= ladder_pipe(flow) / 2))
		bdp -= bdp >> (ladder_shift(own, p));
	else
		bdp = bdp * p[NN_P_keep] / NN_ONE;
	own->quiet = 0;
	own->hold = 1;
	if (own->strikes < 255)
		own->strikes++;
	nn_shrink(&flow->win, bdp);
}

/* What a round adds: the same for every flow of the path, whatever its window, so that they converge. */
nn_inline u64 ladder_step(struct nn_flow *flow, nn_params p, u32 kin)
{
	struct ladder *own = ladder_of(flow);
	u64 least = p[NN_P_add] / nn_max(kin, 1), most = ladder_pipe(flow) / 16 / nn_max(kin, 1), step = least;

	if (own->quiet > p[NN_P_quiet_rounds])
		step <<= nn_min(own->quiet - p[NN_P_quiet_rounds], 20);
	if (step > most)
		step = most > least ? most : least;
	return step < flow->win.w ? step : flow->win.w;
}

/* Decides once per round. */
nn_inline void ladder_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 queue, u32 band)
{
	struct ladder *own = ladder_of(flow);

	if (own->hold && flow->win.w >= 2 * NN_ONE) {
		own->hold = 0;
		return;
	}
	if (queue > band) {
		ladder_cut(flow, p, ack, queue);
		return;
	}
	own->strikes = 0;
	if (queue > band / 4)
		own->quiet = 0;
	else if (own->quiet < 64)
		own->quiet++;
	if (!nn_is_tried(flow, ack))
		return;
	if (nn_is_starving(flow)) {
		if (own->quiet >= p[NN_P_quiet_pairs])
			nn_window_set(&flow->win, nn_min(flow->win.w * p[NN_P_climb], NN_ONE));
		return;
	}
	if (!nn_in_slow_start(&flow->win)) {
		nn_window_set(&flow->win, flow->win.w + ladder_step(flow, p, ack->kin));
		flow->win.ssthresh = flow->win.w;
	}
}

/* Kin share what they have. */
nn_inline void ladder_share(struct nn_flow *flow, const struct nn_ack *ack)
{
	u32 w = flow->win.w;

	if (ack->kin < 2)
		return;
	if (w > ack->kin_window)
		nn_shrink(&flow->win, w - (w - ack->kin_window) / 4);
	else
		nn_shrink(&flow->win, w + (ack->kin_window - w) / 4);
}

nn_inline void ladder_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack), band;
	bool lone = ack->flags & NN_LONE;

	ladder_packet(flow, ack);
	band = ladder_band(flow, p);
	if (rtt) {
		nn_rtt_sample(&flow->rtt, p[NN_P_estimator], ack->now_us, rtt, lone);
		if (!lone)
			nn_round_count(&flow->round, ack, rtt,
				       rtt - flow->rtt.min > band + (ladder_of(flow)->packet >> 4));
	}
	if (nn_in_slow_start(&flow->win)) {
		if (flow->round.slow >= nn_max(4, flow->win.w >> (NN_SHIFT + 3)))
			ladder_cut(flow, p, ack, ladder_queue(flow));
		else if (!nn_is_starving(flow) && nn_is_tried(flow, ack))
			nn_slow_start(&flow->win, ack->acked / 2 + (ack->acked & 1));
	}
	if (nn_round_over(&flow->round, ack)) {
		if (flow->round.seen && flow->recovery == NN_OPEN)
			ladder_on_round(flow, p, ack, ladder_queue(flow), band);
		ladder_share(flow, ack);
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
		nn_come_back(flow, p, ack);
	}
}

nn_inline void ladder_on_recovery(struct nn_flow *flow, nn_params p, u32 state)
{
	u32 before = flow->recovery;

	nn_flow_recovery(flow, p, state);
	if (state != NN_OPEN && before == NN_OPEN)
		nn_shrink(&flow->win, flow->win.w / 8);
}

#endif
