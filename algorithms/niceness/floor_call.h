/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A floor is a rate: while a process and what it starts have less together, they do not yield (../siblings/group.h).
 * The call is a read of the sysctl kernel/domainname, as call.h has it for kernel/ostype:
 *
 *   31 30  29 28  27 .. 0
 *    0  1  verb   number
 *
 * A process asks for a floor before it becomes nice. Afterwards only root may give it one, as it then yields less.
 */
#ifndef NN_FLOOR_CALL_H
#define NN_FLOOR_CALL_H

#include "call.h"

#define NN_FLOOR_FILE "kernel/domainname"
#define NN_FLOOR_BITS 28
#define NN_FLOOR_MOST ((1u << NN_FLOOR_BITS) - 1) /* kbit/s: 268 Gbit/s */

enum nn_floor_verb {
	NN_FLOOR_BEGIN, /* number: kbit/s that the caller and what it starts have together; 0: none from now on */
	NN_FLOOR_ASK, /* number: a process, as numbered in the caller's namespace. The answer is nn_share_encoded() of it */
	NN_FLOOR_GIVE, /* number: a process that gets the caller's own floor */
};

struct nn_floor_call {
	u32 verb, number;
};

nn_inline struct nn_floor_call nn_floor_call_of(u32 offset)
{
	struct nn_floor_call call = {
		.verb = offset >> NN_FLOOR_BITS & 3,
		.number = offset & NN_FLOOR_MOST,
	};

	return call;
}

/* May the caller give a process with this niceness a floor? */
nn_inline bool nn_floor_may_begin(u32 now, struct nn_caller caller)
{
	return caller.root || (caller.owner && !nn_niceness_rank(now));
}

#endif
