/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A group: connections of a command, or of a unit, that have a rate together. Below it they are foreground.
 *
 * Model: Proteus-H (Meng, Schapira, Godfrey, Schapiro, SIGCOMM 2020), a scavenger above a threshold and a primary below it.
 * Here the threshold is a window. Delay takes no window below the connection's share of the rate. Below it, W grows by a
 * segment a round or more, and a loss leaves seven tenths, as CUBIC has it. Between other flows' bursts a paced flow loses
 * oftener than they do. So with a segment a round, it had .35 of 5 Mbit/s beside eight of CUBIC's, now .87.
 *
 *   flows   counted are those that end a round in a turn of one second
 *   share   rate / flows, times `more`
 *   more    grows while the group has less than its rate: others of it may want less, or segments are lost. At most what
 *           gives one connection the whole rate, and a quarter more
 *
 * Written without a lock, as siblings.h is.
 */
#ifndef NN_GROUP_H
#define NN_GROUP_H

#include "../common/flow.h"

#define NN_GROUP_SHIFT 20 /* bits of us: a turn of 1 s. A round of most paths is shorter */
#define NN_MORE_ONE 256u
#define NN_MISSING 8u /* a round takes this part of what is missing of a share, or a segment */

struct nn_group {
	u32 turn;
	u32 flows, flows_before; /* counted in it, and in the turn before */
	u32 more; /* 1/256 */
	u32 over; /* kbit that it had beyond its rate, and that count for the next turn */
	u64 bytes; /* delivered in the turn */
};

/* Another turn: what the group has had says how much of the rate is to be kept for it. */
nn_inline void nn_group_turn(struct nn_group *group, u32 rate, u32 turn)
{
	u32 flows = nn_max(nn_max(group->flows, group->flows_before), 1);
	u64 had = (group->bytes * 1000 >> (NN_GROUP_SHIFT - 3)) + group->over, more = group->more;
	bool next = turn - group->turn == 1;

	more = had > rate / 2 ? more * rate / had : 2 * more;
	if (had < rate / 4 * 3ull)
		more = nn_max((u32)more, NN_MORE_ONE);
	group->more = next ? nn_max(nn_min((u32)more, flows * NN_MORE_ONE * 5 / 4), 1) : NN_MORE_ONE;
	group->flows_before = next ? group->flows : 0;
	group->flows = 0;
	group->over = had > rate ? nn_min((u32)(had - rate), rate / 2) : 0;
	group->bytes = 0;
	group->turn = turn;
}

/* A connection ends a round with so many bytes. Of `rate`, what it is to have at least: both kbit/s; 0: none. */
nn_inline u32 nn_group_share(struct nn_group *group, u32 rate, u32 start_us, u32 now_us, u32 bytes)
{
	u32 turn = now_us >> NN_GROUP_SHIFT;
	u64 share;

	if (!rate)
		return 0;
	if (turn != group->turn)
		nn_group_turn(group, rate, turn);
	group->flows += start_us >> NN_GROUP_SHIFT != turn;
	group->bytes += bytes;
	share = (u64)rate * group->more / (nn_max(nn_max(group->flows, group->flows_before), 1) * NN_MORE_ONE);
	return nn_max(share < rate + rate / 4 ? (u32)share : rate + rate / 4, 1);
}

/* What a share fills in a round trip, bytes. */
nn_inline u64 nn_share_bytes(u32 share, u32 rtt_us)
{
	return (u64)share * rtt_us / 8000;
}

/* A sender has a byte for its share: that of its highest bit and the three below, so at most an eighth less. */
nn_inline u8 nn_share_encoded(u32 share)
{
	u32 high = 0;

	for (u32 bits = 16; bits; bits /= 2)
		high += bits * !!(share >> (high + bits));
	return share ? (u8)(1 + (high << 3 | (share << 3 >> high & 7))) : 0;
}

nn_inline u32 nn_share_decoded(u8 code)
{
	return code ? (8 + ((code - 1u) & 7)) << ((code - 1u) >> 3) >> 3 : 0;
}

/* A sender's round of so many bytes is over: the share that it has from the next on. */
nn_inline u32 nn_take_share(struct nn_flow *flow, struct nn_group *group, u32 rate, u32 start_us, u32 bytes)
{
	u32 share = nn_group_share(group, rate, start_us, flow->round.start_us, bytes);

	flow->share = nn_share_encoded(share + share / 16); /* to the nearest */
	return flow->share;
}

/*
 * A sender's round is over, in which W was `before`: W is not below its share, or comes nearer to it. A loss leaves as much
 * of it as CUBIC's.
 */
nn_inline void nn_keep_share(struct nn_flow *flow, u32 before, u32 mss)
{
	struct nn_window *win = &flow->win;
	u64 least, grown = before;

	if (nn_likely(!flow->share))
		return;
	least = (nn_share_bytes(nn_share_decoded(flow->share), flow->rtt.smoothed) << NN_SHIFT) / nn_max(mss, 1);
	if (flow->recovery == NN_OPEN)
		grown += least > before + NN_MISSING * NN_ONE ? (least - before) / NN_MISSING : NN_ONE;
	else if (flow->recovery == NN_REDUCED)
		grown = nn_max(before, win->prior_w / 10 * 7);
	least = least < grown ? least : grown;
	if (win->w >= least)
		return;
	nn_window_set(win, least);
	win->ssthresh = nn_max(win->ssthresh, win->w);
}

#endif
