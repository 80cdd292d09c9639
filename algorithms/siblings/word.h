/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a host's flows to one place tell each other of it: how long the queue gets, as the last of them knew it that sent
 * next to nothing. The shim keeps a word a place; what is said, and for how long it counts, is decided here.
 */
#ifndef NN_WORD_H
#define NN_WORD_H

#include "../common/flow.h"

#define NN_WORD_US 4000000u /* longer than a flow below one segment is silent */

struct nn_word {
	u32 worst; /* RTT, us; 0: nobody told */
	u32 told_us;
};

nn_inline void nn_give_word(struct nn_word *word, const struct nn_flow *flow, u32 now_us)
{
	if (!nn_is_starving(flow))
		return;
	word->worst = flow->rtt.max;
	word->told_us = now_us;
}

/* The worst RTT that was told of late, us; 0: none. */
nn_inline u32 nn_take_word(const struct nn_word *word, u32 now_us)
{
	return now_us - word->told_us < NN_WORD_US ? word->worst : 0;
}

#endif
