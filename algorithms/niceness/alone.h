/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Only this program: a process that is nice alone. What it starts is in the foreground.
 *
 * Its children are nice until they execute a program: a program that divides its work by fork(2) yields with all of it.
 * Only a process of the foreground becomes nice alone, and any other raise has its children inherit from then on. So a
 * user cannot leave the background by it.
 */
#ifndef NN_ALONE_H
#define NN_ALONE_H

#include "niceness.h"

/* A child of such a process has the second bit, too. */
#define NN_NICENESS_OF_ONE (NN_NICENESS_ALONE | NN_NICENESS_UNTIL_EXEC)

/* What a raise takes away, that begins with NN_NICENESS_ALONE or with 0: both bits, or none. Without a branch, for eBPF. */
nn_inline u32 nn_niceness_ends(u32 begins)
{
	u32 ends = ~begins & NN_NICENESS_ALONE;

	return ends | ends << 1; /* NN_NICENESS_UNTIL_EXEC is the next bit */
}

/* A child's, by that of its parent. */
nn_inline u32 nn_niceness_of_child(u32 parent)
{
	return parent & NN_NICENESS_ALONE ? parent | NN_NICENESS_UNTIL_EXEC : parent;
}

/* Does a process with this niceness return to the foreground when it executes a program? */
nn_inline bool nn_niceness_ends_at_exec(u32 niceness)
{
	return niceness & NN_NICENESS_UNTIL_EXEC;
}

/* What two rules, or two parts of a niceness, say together; 0: it says nothing. Children inherit if either has them inherit. */
nn_inline u32 nn_niceness_of_rules(u32 one, u32 other)
{
	u32 alone = one & other & NN_NICENESS_OF_ONE;

	return one && other ? ((one | other) & ~(u32)NN_NICENESS_OF_ONE) | alone : one | other;
}

#endif
