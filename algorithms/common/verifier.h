/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel's verifier needs. It follows each path of a program, and each branch doubles them:
 *
 * - nn_less() and what is made of it have none, for what is rarely done and has many. On the way of every packet nn_min()
 *   and nn_max() are cheaper.
 * - nn_forget() is where the paths of a rare decision meet. Their values are read from memory again. Values in
 *   registers differ from path to path, and the verifier would follow the rest once for each path.
 */
#ifndef NN_VERIFIER_H
#define NN_VERIFIER_H

#include "types.h"

#ifdef __bpf__
#define nn_forget() __asm__ volatile("" ::: "memory")
#else
#define nn_forget() ((void)0)
#endif

/* All ones if a < b, else zero. */
nn_inline u64 nn_less(u32 a, u32 b)
{
	u64 apart = (u64)a - b;

#ifdef __bpf__
	__asm__ volatile("" : "+r"(apart)); /* or clang makes a branch of it */
#endif
	return (u64)((s64)apart >> 63);
}

nn_inline u32 nn_greater(u32 a, u32 b)
{
	return a ^ ((a ^ b) & (u32)nn_less(a, b));
}

/* a - b, not below zero. */
nn_inline u32 nn_sub_saturating(u32 a, u32 b)
{
	return nn_greater(a, b) - b;
}

#endif
