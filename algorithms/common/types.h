/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Integer names for the cores in each place that compiles them: the eBPF object (vmlinux.h), the kernel module
 * (linux/types.h) and host programs (stdint.h). A core includes nothing else.
 */
#ifndef NN_TYPES_H
#define NN_TYPES_H

#if !defined(__VMLINUX_H__) && !defined(__KERNEL__)
#include <stdbool.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#endif

/*
 * nn_rare: not on every packet's way. In eBPF such functions stay out of line, so that the code that each packet runs
 * fills few lines of the instruction cache.
 */
#ifdef __bpf__
#define nn_inline static inline __attribute__((always_inline))
#define nn_rare static __attribute__((noinline, unused))
#else
#define nn_inline static inline __attribute__((unused))
#define nn_rare static inline __attribute__((unused))
#endif
#define nn_unlikely(x) __builtin_expect(!!(x), 0)
#define nn_likely(x) __builtin_expect(!!(x), 1)

#define NN_NEVER ((u32)~0u)

nn_inline u32 nn_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

nn_inline u32 nn_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

nn_inline u32 nn_add_saturating(u32 a, u32 b)
{
	u64 sum = (u64)a + b;

	return sum < NN_NEVER ? (u32)sum : NN_NEVER;
}

/* Is sequence-like counter `a` at or past `b`? Both wrap. */
nn_inline bool nn_reached(u32 a, u32 b)
{
	return (s32)(a - b) >= 0;
}

#endif
