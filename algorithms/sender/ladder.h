/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Levels below TCP Nice: netnice1 is invisible to netnice (level 0), netnice2 to netnice1, and both to everybody else.
 *
 * TCP Nicer's levels (nicer.h) are told apart by RTT over base RTT. That ruler is too coarse: 20 % of a base RTT is more
 * than a whole level above keeps queued. Here a level is told by what it leaves in the bottleneck's queue, in packets:
 *
 *   foreground   fills the buffer
 *   netnice      keeps one to three packets always, because Vegas steers for them
 *   netnice1     touches its band (5/8 packet or 0.6 ms) once a sawtooth and empties the queue in between
 *   netnice2     touches a smaller band (1/4 packet or 0.5 ms) more rarely still
 *
 * and each takes a queue above its band that does not go away for a higher level's.
 *
 *   queue        a round's smallest RTT less the base, less one packet: the second half of the flow's own pair
 *   within it    W += add; after quiet_rounds without a queue, doubling up to 1/16 of the pipe
 *   above it     a soft cut: the own share of that queue exactly, and 2^-soft_shift more, twice as much each time; then
 *                wait for the round that shows it. Flows of one level cut together, so the queue is gone then. If it
 *                is there after soft_cuts, whoever fills it does not cut: W *= keep, every time
 *   W < 1        one pair of segments a time. Above the band W *= keep, else, after quiet_pairs, W *= climb. So W rises
 *                only where more than p pairs meet no queue, p = log(1/keep) / log(climb/keep): 3/5 for netnice1, 3/4 for
 *                netnice2, and three in a row. A level above keeps it below that, an idle path does not
 *
 * Sibling flows add together as one flow would. In each round a flow above their mean gives a part of the difference back.
 * Otherwise the first flow keeps the path: a new flow can hardly tell its own level from the one above. Known miss: no window is
 * raised, and a new flow gets little (nicer-together, lbe-latecomer).
 *
 * Crowds. Many flows of a host with a segment or two each meet each other's pairs, as often as those busy the path, and
 * fled from themselves: 16 flows got a quarter of 10 Mbit/s. Each knows how much of the path they use together, so up to
 * 5/8 of it a short queue met that often is theirs, and they grow. A level above is met always. Not on a path that holds
 * fewer than 20 segments: there the level above has no more than a few of its own, and would flee from the crowd.
 *
 * Below one segment a flow looks for jitter and for a longer way: ladder/look.h.
 *
 * The packet time is the smallest spacing of ACKs a segment in full windows, if the ACKs are no closer than their
 * segments left: what bunches on the way back tells nothing. Noise hides up to half of its spread of it. Where it is too
 * small, so is the band, which errs on the side of yielding.
 */
#ifndef NN_LADDER_H
#define NN_LADDER_H

#include "ladder/look.h"

/* least: the floor, 1/128 and 1/256; gap: ms between the pairs of a host's flows below W = 1 */
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
	P(max_gap, 2000)                                                                                               \
	P(peer_gap, gap)                                                                                               \
	P(force_window, 0)

#define LADDER1_PARAMS(P) LADDER_PARAMS(P, 10, 600, 512, 1024, 4096, 5, 4, 8, 3, 4, 32, 1000)
#define LADDER2_PARAMS(P) LADDER_PARAMS(P, 4, 500, 512, 128, 512, 4, 2, 16, 3, 2, 16, 2000)

NN_CORE_GOES_ON_AS_RENO(ladder)

enum { ladder_has_siblings = 1 };

nn_inline void ladder_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	nn_flow_init(flow, p, now_us, delivered, srtt_us);
	nn_window_set(&flow->win, p[NN_P_start_window]);
	ladder_forget(ladder_of(flow));
	ladder_of(flow)->since_us = now_us;
	ladder_of(flow)->look_apart = 1;
}

/* Each cut in a row is twice the last. */
nn_inline u32 ladder_shift(const struct ladder *own, nn_params p)
{
	u32 shift = nn_lesser(p[NN_P_soft_shift], 31);

	return nn_greater(nn_sub_saturating(shift, own->strikes), 1);
}

/* Softly while the queue can be one's own level's, hard when that has not helped. `flows`: one's own and its siblings. */
nn_inline void ladder_cut(struct nn_flow *flow, nn_params p, u32 flows, u32 queue)
{
	struct ladder *own = ladder_of(flow);
	u64 bdp = (u64)flow->win.w * flow->rtt.min / nn_greater(flow->rtt.min + queue, 1);

	if (nn_in_slow_start(&flow->win))
		bdp = bdp * 2 / 3; /* W has grown by half since that segment left */
	else if (own->strikes < p[NN_P_soft_cuts] &&
		 (!nn_is_sub_packet(flow) || (u64)flow->win.w * flows >= ladder_pipe(flow) / 2))
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
nn_inline u64 ladder_step(struct nn_flow *flow, nn_params p, u32 flows)
{
	struct ladder *own = ladder_of(flow);
	u64 least = p[NN_P_add] / nn_greater(flows, 1), most = ladder_pipe(flow) / 16 / nn_greater(flows, 1),
	    step = least;

	if (own->quiet > p[NN_P_quiet_rounds])
		step <<= nn_lesser(own->quiet - p[NN_P_quiet_rounds], 20);
	if (step > most)
		step = most > least ? most : least;
	return step < flow->win.w ? step : flow->win.w;
}

/* Decides once per round. */
nn_inline void ladder_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
			       const struct nn_siblings *siblings, u32 queue, u32 band)
{
	struct ladder *own = ladder_of(flow);
	bool looked = own->look;
	u32 calm, likely;

	if (own->look > LADDER_FULL) {
		own->look--;
		nn_shrink(&flow->win, LADDER_LOOK * NN_ONE);
		return;
	}
	own->look = LADDER_NO_LOOK;
	ladder_listen(flow, queue, band, looked);
	likely = nn_jitter_allowance(own->noise, &flow->round, NN_JITTER_LIKELY);
	calm = band / 4 + likely;
	band = nn_greater(band, nn_jitter_allowance(own->noise, &flow->round, NN_JITTER_SURELY));
	if (own->hold && flow->win.w >= 2 * NN_ONE) {
		own->hold = 0;
		return;
	}
	if (queue > band && looked) {
		nn_shrink(&flow->win, 0);
		return;
	}
	if (ladder_met_siblings(flow, siblings, queue, band)) {
		own->strikes = 0;
		if (nn_is_tried(flow, ack))
			nn_window_set(&flow->win, flow->win.w + flow->win.w / 2); /* as in slow start */
		return;
	}
	if (queue > band) {
		ladder_cut(flow, p, siblings->flows, nn_sub_saturating(queue, likely));
		return;
	}
	own->strikes = 0;
	if (queue > calm)
		own->quiet = 0;
	else if (own->quiet < 64)
		own->quiet++;
	if (own->quiet > p[NN_P_quiet_rounds] && !nn_is_sub_packet(flow))
		own->look_apart = 1;
	if (!nn_is_tried(flow, ack))
		return;
	if (nn_is_sub_packet(flow)) {
		if (own->quiet >= p[NN_P_quiet_pairs])
			nn_window_set(&flow->win, nn_lesser(flow->win.w * p[NN_P_climb], NN_ONE));
		return;
	}
	if (!nn_in_slow_start(&flow->win)) {
		nn_window_set(&flow->win, flow->win.w + ladder_step(flow, p, siblings->flows));
		flow->win.ssthresh = flow->win.w;
	}
}

nn_inline void ladder_on_round_end(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
				   const struct nn_siblings *siblings)
{
	struct ladder *own = ladder_of(flow);
	u32 band = ladder_band(flow, p);
	bool looked = own->look;

	if (flow->round.seen && flow->recovery == NN_OPEN) {
		ladder_on_round(flow, p, ack, siblings, ladder_queue(flow), band);
		if (nn_is_sub_packet(flow)) {
			ladder_take_stock(flow, p, ack, siblings, band);
		} else {
			own->since_us = ack->now_us;
			ladder_forget(own);
		}
	}
	if (!own->look && siblings->flows > 1)
		nn_share(&flow->win, siblings->window);
	nn_round_begin(&flow->round, ack->delivered, ack->now_us);
	if (!own->look && !looked)
		nn_come_back(flow, p, ack);
}

nn_inline void ladder_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack), band;
	bool lone = ack->flags & NN_LONE;

	ladder_packet(flow, ack, rtt);
	band = ladder_band(flow, p);
	if (rtt) {
		nn_base_rtt_sample(&flow->rtt, ack->now_us, rtt);
		if (lone) {
			nn_rtt_smooth_lone(&flow->rtt, rtt);
		} else {
			nn_rtt_smooth(&flow->rtt, rtt);
			nn_round_count(&flow->round, ack, rtt, ladder_is_slow(flow, band, rtt));
		}
	}
	if (nn_in_slow_start(&flow->win)) {
		if (flow->round.slow >= nn_max(4, flow->win.w >> (NN_SHIFT + 3)))
			ladder_cut(flow, p, 1, ladder_queue(flow)); /* out of slow start, whoever is there */
		else if (!nn_is_sub_packet(flow) && nn_is_tried(flow, ack))
			nn_slow_start(&flow->win, ack->acked / 2 + (ack->acked & 1));
	}
}

nn_inline void ladder_on_recovery(struct nn_flow *flow, u32 state)
{
	u32 before = flow->recovery;

	nn_flow_recovery(flow, state);
	if (state != NN_OPEN)
		ladder_of(flow)->look = LADDER_NO_LOOK;
	if (state != NN_OPEN && before == NN_OPEN)
		nn_shrink(&flow->win, flow->win.w / 8);
}

#endif
