/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Minimum and maximum without a branch, for what is rarely done and has many: each branch doubles the paths that the
 * kernel's verifier follows. On the way of every packet nn_min() and nn_max() are cheaper.
 */
#ifndef NN_VERIFIER_H
#define NN_VERIFIER_H

#include "types.h"

/* All ones if a < b, else zero. */
nn_inline u64 nn_less(u32 a, u32 b)
{
	u64 apart = (u64)a - b;

#ifdef __bpf__
	__asm__ volatile("" : "+r"(apart)); /* or clang makes a branch of it */
#endif
	return (u64)((s64)apart >> 63);
}

nn_inline u32 nn_lesser(u32 a, u32 b)
{
	return b ^ ((a ^ b) & (u32)nn_less(a, b));
}

nn_inline u32 nn_greater(u32 a, u32 b)
{
	return a ^ ((a ^ b) & (u32)nn_less(a, b));
}

/* a - b, not below zero. */
nn_inline u32 nn_beyond(u32 a, u32 b)
{
	return nn_greater(a, b) - b;
}

#endif
