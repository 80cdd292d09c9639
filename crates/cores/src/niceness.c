/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The decisions of algorithms/niceness/ as functions that another language can call. */
#include "niceness/call.h"

bool nn_test_lowers(u32 now, u32 wanted)
{
	return nn_niceness_lowers(now, wanted);
}

bool nn_test_speaks(u32 niceness, u32 rank)
{
	return nn_niceness_speaks(niceness, rank);
}

bool nn_test_is_call(u32 offset)
{
	return nn_is_call(offset);
}

/* The verdict in the upper half, its bits in the lower. */
u64 nn_test_answer(u32 offset, u32 now, bool owner, bool root)
{
	struct nn_caller caller = { .owner = owner, .root = root };
	struct nn_answer answer = nn_answer(nn_call_of(offset), now, caller);

	return (u64)answer.verdict << 32 | answer.bits;
}
