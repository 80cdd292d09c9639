/* SPDX-License-Identifier: GPL-2.0 */
/* The congestion control of each level, by rank as nn_niceness_rank() counts them. */
#ifndef NN_POLICY_CONTROL_H
#define NN_POLICY_CONTROL_H

#include "mark.h"

static const char controls[4][16] = { "netnice", "netnice1", "netnice2" }; /* four, for the verifier */

static __always_inline const char *control_of(u32 rank)
{
	return controls[(rank - 1) & 3];
}

/* The rank at which a connection yields already; 0: it does not. `sk`: a socket, or what stands for it. */
static __always_inline u32 rank_of(void *sk)
{
	char now[16] = {};
	u32 rank = 0;

	if (bpf_getsockopt(sk, SOL_TCP, TCP_CONGESTION, now, sizeof(now)))
		return 0;
	for (u32 i = 0; i < 3; i++)
		if (!__builtin_memcmp(now, controls[i], sizeof(now)))
			rank = i + 1;
	return rank;
}

#endif
