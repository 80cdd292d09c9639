/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * LEDBAT's memory of delays (RFC 6817, 2.4.2 and 3.4). The base is the least of the last ten minutes. The present delay is
 * the least of the last four samples. The difference is the queue.
 *
 * Delays are kept in 1024 us, modulo 2^16: 67 s. The targets they are held against are 60 ms and more. Deviation: eight
 * spans of 75 s instead of ten of 60, to fit a connection's private memory.
 */
#ifndef NN_DELAY_HISTORY_H
#define NN_DELAY_HISTORY_H

#include "../common/types.h"

#define NN_DELAY_SHIFT 10
#define NN_SPANS 8
#define NN_SPAN_US 75000000u
#define NN_NO_SPAN 63 /* more than there are */
#define NN_FILTER 4 /* CURRENT_FILTER: samples */

struct nn_history {
	u16 least[NN_SPANS]; /* smallest delay of each span, the current one first */
	u16 recent[NN_FILTER - 1]; /* the samples before this one */
	u8 span : 6; /* number of the current span, from 1; 0: not begun */
	u8 phase : 2; /* the owner's */
	u8 carry; /* the owner's: 1/256 of the window's unit */
};

nn_inline u16 nn_earlier(u16 a, u16 b)
{
	return (u16)(a - b) & 0x8000 ? a : b;
}

/* Begins with a base. */
nn_inline void nn_history_begin(struct nn_history *history, u32 base_us)
{
	for (int i = 0; i < NN_SPANS; i++)
		history->least[i] = (u16)(base_us >> NN_DELAY_SHIFT);
	for (int i = 0; i < NN_FILTER - 1; i++)
		history->recent[i] = history->least[0];
	history->span = NN_NO_SPAN;
}

/* The smallest delay of the last ten minutes, in 1024 us. */
nn_inline u16 nn_history_base(const struct nn_history *history)
{
	u16 base = history->least[0];

	for (int i = 1; i < NN_SPANS; i++)
		base = nn_earlier(history->least[i], base);
	return base;
}

/* How far a delay lies above the base, us, signed. */
nn_inline u32 nn_history_above(const struct nn_history *history, u32 delay_us)
{
	u16 above = (u16)(delay_us >> NN_DELAY_SHIFT) - nn_history_base(history);

	return above & 0x8000 ? 0 - ((u32)(u16)(0 - above) << NN_DELAY_SHIFT) : (u32)above << NN_DELAY_SHIFT;
}

/* Takes a sample in and tells the queueing delay, us. */
nn_inline u32 nn_history_queue(struct nn_history *history, u32 now_us, u32 delay_us)
{
	u16 delay = (u16)(delay_us >> NN_DELAY_SHIFT), now = delay, base;
	u8 span = now_us / NN_SPAN_US + 1; /* at most 58; once in 71 minutes, when now_us wraps, a span is short */

	if (span != history->span)
		for (int i = NN_SPANS - 1; i > 0; i--)
			history->least[i] = history->least[i - 1];
	history->least[0] = history->span == span ? nn_earlier(delay, history->least[0]) : delay;
	history->span = span;
	for (int i = NN_FILTER - 2; i >= 0; i--) {
		now = nn_earlier(history->recent[i], now);
		history->recent[i] = i ? history->recent[i - 1] : delay;
	}
	base = nn_history_base(history);
	return (u32)(u16)(now - base) << NN_DELAY_SHIFT;
}

#endif
