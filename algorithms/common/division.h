/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Divisions by a constant on the way of every packet, as multiplications. Compilers for eBPF do not turn 64-bit divisions
 * into them, and a division takes a processor up to 90 cycles.
 */
#ifndef NN_DIVISION_H
#define NN_DIVISION_H

#include "types.h"

/* n / 1000, exact below 4.3 x 10^17: thirteen years of nanoseconds. */
nn_inline u64 nn_thousandth(u64 n)
{
	u64 high = n >> 32, rest = high * 296 + (u32)n; /* 2^32 = 4294967 x 1000 + 296 */

	return high * 4294967 + ((rest >> 3) * 2199023256u >> 38); /* 2^38 / 125, rounded up */
}

/* n / 5, exact: only what has more than 32 bits, a rate above 34 Gbit/s, is divided. */
nn_inline u64 nn_fifth(u64 n)
{
	return nn_likely(!(n >> 32)) ? n * 3435973837u >> 34 : n / 5; /* 2^34 / 5, rounded up */
}

#endif
