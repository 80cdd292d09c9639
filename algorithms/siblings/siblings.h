/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The account of a host's sibling flows: those of one user, one algorithm, to one destination. They share its bottleneck.
 *
 *   flows        counted are those that end a round which their window limited. Not counted is a flow that is idle, in slow
 *                start, receiver-limited, application-limited, repairs a loss, or gets no ACKs
 *   how many     each is counted once in a turn of four seconds, and a flow that was silent for several turns once for each.
 *                The count is that of this turn or of the last, whichever is larger
 *   window       running mean of the segments in flight, over 66 ms or, if longer, one round of each flow
 *   asking       running mean over 1 s of the flows below one segment; a round weighs as long as it took
 *   place        found by a hash, and compared as a whole. A user holds one place of a set of four: a user's sockets, whatever
 *                they do, take no place from those of three others. A flow without a place counts itself alone
 *
 * Nothing is added that has to be taken back, so nothing is left behind by a flow that dies: its turn passes. The shim keeps
 * one struct nn_places for all algorithms, zero at first. All is written without a lock: a lost update is a late one.
 */
#ifndef NN_SIBLINGS_H
#define NN_SIBLINGS_H

#include "../pacing/flight.h"

#define NN_SETS 128u /* a power of two */
#define NN_WAYS 4u
#define NN_TURN_SHIFT 22 /* of a clock in us: a turn lasts 4.2 s, longer than most flows below one segment are silent */
#define NN_WINDOW_SHIFT 16 /* time constant of `window`, us: 66 ms. 1 s lags behind growth, and shrinks flows */
#define NN_ASKING_SHIFT 20 /* time constant of `asking`, us: 1 s, many rounds of a flow below one segment */
#define NN_POLICED_TURNS 3u /* for which what one flow found holds for its siblings */
#define NN_TURNS 1024u /* until that clock wraps */
#define NN_FLOW_TURNS 64u /* the same of a flow */

/* Where a flow goes, and whose it is. */
struct nn_destination {
	u32 network[2]; /* IPv6: the first 64 bits; IPv4, also of an IPv6 socket: 0 and the address */
	u32 user;
	u32 space; /* the network namespace */
	u32 algorithm;
};

struct nn_place {
	struct nn_destination of;
	u16 turn;
	u16 policed; /* the last turn in which one was, and 1; 0: none was */
	u16 flows, flows_before; /* counted in it, and in the turn before */
	u16 asking; /* running mean: 1/4096 of the flows that are below one segment */
	u32 window; /* running mean, 1/4096 segment */
};

struct nn_places {
	struct nn_place place[NN_SETS * NN_WAYS];
};

/* What a core is told of its siblings at the end of a round. */
struct nn_siblings {
	u32 flows; /* to the same destination, this one included */
	u32 window; /* their mean, 1/4096 segment */
	u32 asking; /* of them below one segment */
	bool policed; /* one of them was, in the last NN_POLICED_TURNS */
};

nn_inline u32 nn_turn(u32 now_us)
{
	return now_us >> NN_TURN_SHIFT;
}

/* Turns since a flow counted at this place. */
nn_inline u32 nn_turns_since(const struct nn_place *place, u32 turn)
{
	return (turn - place->turn) % NN_TURNS;
}

/* Knuth's multiplicative hash. */
nn_inline u32 nn_set_of(const struct nn_destination *to)
{
	u32 mixed = to->network[0] ^ to->network[1] * 0x9e3779b1u ^ to->space * 0x85ebca6bu ^ to->algorithm;

	return mixed * 2654435761u >> 16 & (NN_SETS - 1);
}

nn_inline bool nn_same_destination(const struct nn_destination *a, const struct nn_destination *b)
{
	return !((a->network[0] ^ b->network[0]) | (a->network[1] ^ b->network[1]) | (a->user ^ b->user) |
		 (a->space ^ b->space) | (a->algorithm ^ b->algorithm));
}

/*
 * The destination's place, or a free one: no flow has counted there for two turns. Null: all of its set are others', or one
 * is of the same user.
 */
nn_inline struct nn_place *nn_place_of(struct nn_places *places, const struct nn_destination *to, u32 turn)
{
	struct nn_place *set = &places->place[nn_set_of(to) * NN_WAYS], *spare = 0;
	bool owner = false;

	for (u32 i = 0; i < NN_WAYS; i++) {
		if (nn_same_destination(&set[i].of, to))
			return &set[i];
		if (nn_turns_since(&set[i], turn) > 1 || !(set[i].flows | set[i].flows_before))
			spare = &set[i];
		else
			owner |= set[i].of.user == to->user;
	}
	return owner ? 0 : spare;
}

/* A place for another destination, or a turn later. */
nn_inline void nn_place_turn(struct nn_place *place, const struct nn_destination *to, u32 turn)
{
	bool same = nn_same_destination(&place->of, to);

	if (same && place->turn == turn)
		return;
	same &= nn_turns_since(place, turn) == 1;
	place->flows_before = same ? place->flows : 0;
	place->asking = same ? place->asking : 0;
	place->window = same ? place->window : 0;
	place->policed = same ? place->policed : 0;
	place->flows = 0;
	place->of = *to;
	place->turn = turn;
}

/* Did its window limit the flow for the round that this ACK ends, with nothing missing? */
nn_inline bool nn_counts(const struct nn_flow *flow, const struct nn_ack *ack)
{
	return flow->recovery == NN_OPEN && !nn_in_slow_start(&flow->win) && nn_may_grow(flow, ack) &&
	       nn_window_limits(flow, ack);
}

/* Running mean over `all_us`, after one flow had `value` for `us`. */
nn_inline u32 nn_moved(u32 mean, u32 value, u64 all_us, u32 us)
{
	u64 all = all_us >> 10, part = nn_max(us >> 10, 1), most = part < all ? part : all;

	return value > mean ? mean + (u32)((value - mean) * most / all) : mean - (u32)((mean - value) * most / all);
}

nn_inline void nn_count(struct nn_place *place, struct nn_flow *flow, const struct nn_ack *ack)
{
	u64 flight = nn_flight(ack) << NN_SHIFT;
	u32 w = flight < flow->win.w ? (u32)flight : flow->win.w, n, turn = place->turn % NN_FLOW_TURNS;
	u32 us = ack->now_us - flow->round.start_us;

	if (flow->win.turn != turn) {
		flow->win.turn = turn;
		place->flows += nn_max((us + (1u << (NN_TURN_SHIFT - 1))) >> NN_TURN_SHIFT, 1);
	}
	n = nn_max(nn_max(place->flows, place->flows_before), 1);
	if (!place->window) {
		place->window = w;
		us = NN_NEVER; /* the first sample is the mean */
	}
	place->window = nn_moved(place->window, w, (u64)n << NN_WINDOW_SHIFT, nn_min(us, 1u << NN_WINDOW_SHIFT));
	place->asking =
		(u16)nn_moved(place->asking, nn_is_sub_packet(flow) ? NN_ONE : 0, (u64)n << NN_ASKING_SHIFT, us);
}

nn_inline void nn_place_round(struct nn_place *place, const struct nn_destination *to, struct nn_flow *flow,
			      const struct nn_ack *ack, struct nn_siblings *siblings)
{
	nn_place_turn(place, to, nn_turn(ack->now_us));
	if (nn_counts(flow, ack))
		nn_count(place, flow, ack);
	if (flow->win.policed)
		place->policed = (u16)(place->turn + 1);
	siblings->policed = place->policed && (place->turn + 1 - place->policed) % NN_TURNS < NN_POLICED_TURNS;
	siblings->flows = nn_max(nn_max(place->flows, place->flows_before), 1);
	siblings->asking = (siblings->flows * place->asking + NN_ONE / 2) >> NN_SHIFT;
	if (place->window)
		siblings->window = place->window;
}

/*
 * The flow has ended a round with data. Returns `asking`, at most 255. The result is needed: of a function without one the
 * verifier checks whatever its result register holds, and rejects a pointer to the stack.
 */
nn_rare u32 nn_siblings_round(struct nn_places *places, const struct nn_destination *to, struct nn_flow *flow,
			      const struct nn_ack *ack, struct nn_siblings *siblings)
{
	u32 turn = nn_turn(ack->now_us);
	struct nn_place *place = nn_place_of(places, to, turn);

	siblings->flows = 1;
	siblings->policed = false;
	siblings->window = flow->win.w;
	siblings->asking = nn_is_sub_packet(flow);
	if (place)
		nn_place_round(place, to, flow, ack, siblings);
	return nn_min(siblings->asking, 255);
}

#endif
