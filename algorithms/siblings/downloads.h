/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a user's downloads know of each other: their number and mean window. Is another one at its least window, too? Did
 * one find a policer? They are all downloads of a user on a host, from any server: most often they share the host's own
 * line. A download counts in a half second in which it ends a round. Written without a lock: a lost update is a late one.
 */
#ifndef NN_SIBLINGS_DOWNLOADS_H
#define NN_SIBLINGS_DOWNLOADS_H

#include "../receiver/flow.h"

#define NN_SIBLING_US 1000000 /* a window below a segment shows a sign of life every 0.2 to 0.5 s */
#define NN_APART_US 100000 /* processors may see two arrivals in another order */
#define NN_COUNT_US 500000 /* they are counted anew so often: several rounds of most, and few have ended meanwhile */

struct nn_receiver_siblings {
	u32 user, space; /* whose they are, in which network namespace */
	u32 numbers; /* given to flows */
	u32 last; /* the flow that was last at its least window */
	u32 last_us; /* when */
	u32 other_us; /* when another one was, before it */
	u32 count; /* goes on by one with each time they are counted */
	u32 count_us; /* when that began */
	u32 counted; /* so far */
	u32 flows; /* the last time */
	u64 windows; /* bytes: the sum so far. */
	u32 window; /* bytes: the mean of the last time */
	u32 policed; /* the count in which a flow last was policed, and NN_POLICED_COUNTS; 0: none was */
};

#define NN_POLICED_COUNTS 24u /* for which what one flow found holds for its siblings: twelve seconds */
#define NN_OWNERS 64u /* users who download at a time */
#define NN_OWNER_WAYS 4u
#define NN_OWNER_US (4 * NN_COUNT_US) /* a user not counted for so long downloads nothing */

/* Zero at first. */
struct nn_downloads {
	struct nn_receiver_siblings of[NN_OWNERS];
};

/* Those of a user; null: there are too many users, and a flow then knows of none. */
nn_rare struct nn_receiver_siblings *nn_downloads_of(struct nn_downloads *all, const struct nn_receiver *flow,
						     u32 now_us)
{
	u32 first = (flow->user ^ flow->space * 0x9e3779b1u) * 2654435761u >> 26;
	struct nn_receiver_siblings *spare = 0;

	for (u32 i = 0; i < NN_OWNER_WAYS; i++) {
		struct nn_receiver_siblings *one = &all->of[(first + i) % NN_OWNERS];

		if (one->user == flow->user && one->space == flow->space)
			return one;
		if ((s32)(now_us - one->count_us) > (s32)NN_OWNER_US || !(one->flows | one->counted))
			spare = one;
	}
	if (spare)
		*spare = (struct nn_receiver_siblings){ .user = flow->user, .space = flow->space, .count_us = now_us };
	return spare;
}

/* A round is over: the flow is counted, and learns what was found before. */
nn_rare void nn_siblings_count(struct nn_receiver *flow, struct nn_receiver_siblings *siblings, u32 now_us)
{
	if ((s32)(now_us - siblings->count_us) > NN_COUNT_US) { /* an arrival may be backdated */
		siblings->flows = siblings->counted;
		siblings->window = siblings->counted ? (u32)(siblings->windows / siblings->counted) : 0;
		siblings->counted = 0;
		siblings->windows = 0;
		siblings->count_us = now_us;
		siblings->count++;
	}
	if (flow->count != siblings->count) {
		flow->count = siblings->count;
		siblings->counted++;
		siblings->windows += flow->target;
	}
	flow->siblings = nn_max(siblings->flows, siblings->counted);
	flow->siblings_window = siblings->window;
	if (flow->policed)
		siblings->policed = siblings->count + NN_POLICED_COUNTS;
	flow->sibling_policed = siblings->policed > siblings->count;
}

/* A round at the least window is over: is another flow of this host at its least window, too? */
nn_rare void nn_meet(struct nn_receiver *flow, struct nn_receiver_siblings *siblings, u32 now_us)
{
	if (!flow->number)
		flow->number = ++siblings->numbers;
	if (siblings->last != flow->number) {
		siblings->other_us = siblings->last_us;
		siblings->last = flow->number;
	}
	siblings->last_us = now_us;
	flow->sibling_low = now_us - siblings->other_us + NN_APART_US < NN_SIBLING_US + NN_APART_US;
}

#endif
