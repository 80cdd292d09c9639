/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The network niceness of a process, as nice(1) has it for the CPU. Children inherit it and exec keeps it. Every user may
 * raise the niceness of own processes; only root may lower one.
 *
 * It is a word of bits, and raising only adds bits. So two raises at once cannot lower it, and it needs no lock. The highest
 * level counts. A process without a word is in the foreground.
 */
#ifndef NN_NICENESS_H
#define NN_NICENESS_H

#include "../common/types.h"

enum nn_niceness_bit {
	NN_NICENESS_LEVEL_0 = 1 << 0, /* yields to the foreground */
	NN_NICENESS_LEVEL_1 = 1 << 1, /* and to level 0 */
	NN_NICENESS_LEVEL_2 = 1 << 2, /* and to levels 0 and 1 */
	NN_NICENESS_SENDS = 1 << 3, /* what it sends yields */
	NN_NICENESS_RECEIVES = 1 << 4, /* what it receives yields */
	NN_NICENESS_UNMARKED = 1 << 5, /* without DSCP LE on its packets */
	NN_NICENESS_NO_QUIC = 1 << 6, /* does without QUIC, so that it uses TCP, which yields */
	NN_NICENESS_ALONE = 1 << 7, /* programs that it starts are in the foreground: alone.h */
	NN_NICENESS_UNTIL_EXEC = 1 << 8, /* a child of such a process, which has executed nothing yet */
};

#define NN_NICENESS_LEVELS (NN_NICENESS_LEVEL_0 | NN_NICENESS_LEVEL_1 | NN_NICENESS_LEVEL_2)
#define NN_NICENESS_DIRECTIONS (NN_NICENESS_SENDS | NN_NICENESS_RECEIVES)
#define NN_NICENESS_ALL (NN_NICENESS_LEVELS | NN_NICENESS_DIRECTIONS | NN_NICENESS_UNMARKED)
#define NN_NICENESS_WORD (NN_NICENESS_ALL | NN_NICENESS_NO_QUIC | NN_NICENESS_ALONE)

/* One more than the level; 0: foreground. */
nn_inline u32 nn_niceness_rank(u32 niceness)
{
	return niceness & NN_NICENESS_LEVEL_2 ? 3 : niceness & NN_NICENESS_LEVEL_1 ? 2 : niceness & NN_NICENESS_LEVEL_0;
}

/* Does a process' own niceness speak for a connection that sends, and yields at `rank` because its cgroup said so? */
nn_inline bool nn_niceness_speaks(u32 niceness, u32 rank)
{
	return niceness & NN_NICENESS_SENDS && nn_niceness_rank(niceness) && nn_niceness_rank(niceness) >= rank;
}

/* Does a connection in use, which yields at `now`, stay as it is when it was to be of `wanted`? */
nn_inline bool nn_niceness_stays(u32 now, u32 wanted, bool only_nicer)
{
	return only_nicer && wanted < now;
}

/* Does a connection get that rank's congestion control? Not if it returns to the foreground and its program chose another. */
nn_inline bool nn_niceness_turns(u32 now, u32 wanted)
{
	return wanted || now;
}

/*
 * SO_PRIORITY of a socket that leaves its level: what it had, unless its program has set another since. Without root, marking
 * leaves 0.
 */
nn_inline u32 nn_niceness_priority(u32 now, u32 had, u32 marked)
{
	return now == marked || !now ? had : now;
}

/* Can it be asked for? 0, the foreground, can. */
nn_inline bool nn_niceness_valid(u32 wanted)
{
	return !wanted ||
	       (!(wanted & ~(u32)NN_NICENESS_ALL) && wanted & NN_NICENESS_LEVELS && wanted & NN_NICENESS_DIRECTIONS);
}

/* Would a process with `now` yield less with `wanted`, to other traffic or in a direction? */
nn_inline bool nn_niceness_lowers(u32 now, u32 wanted)
{
	return nn_niceness_rank(wanted) < nn_niceness_rank(now) || now & ~wanted & NN_NICENESS_DIRECTIONS;
}

/*
 * The bits to add if niceness is only raised, as for a command that netnice starts. Directions add up, and so does the ban
 * of QUIC. A level below the present one changes nothing else.
 */
nn_inline u32 nn_niceness_added(u32 now, u32 wanted)
{
	return nn_niceness_rank(wanted) < nn_niceness_rank(now)
		       ? wanted & (NN_NICENESS_DIRECTIONS | NN_NICENESS_NO_QUIC)
		       : wanted;
}

/* HTTP/3's port, of UDP. What else runs over QUIC has ports of its own, and no TCP to fall back to. */
#define NN_QUIC_PORT 443

nn_inline bool nn_niceness_refuses_quic(u32 niceness)
{
	return niceness & NN_NICENESS_NO_QUIC;
}

#endif
