/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A congestion window finer than a segment, and Reno's rules on it (RFC 5681).
 *
 * Fixed point with 12 fractional bits. A step is 1/4096 of a segment, so that 1/48 (the paper's least window) is met
 * within 0.4 %. The largest window is 1,048,575 segments: 1.5 GB of 1448 bytes each.
 */
#ifndef NN_WINDOW_H
#define NN_WINDOW_H

#include "sample.h"

#define NN_SHIFT 12
#define NN_ONE (1u << NN_SHIFT)
#define NN_MAX_WINDOW NN_NEVER

struct nn_window {
	u32 w; /* 1/4096 segment */
	u32 ssthresh; /* 1/4096 segment; slow start below it */
	u32 prior_w; /* w before the last loss: restored if the loss proves false */
	u16 floor; /* smallest w, 1/4096 segment */
	u8 turn : 6; /* siblings.h: when the flow was counted */
	u8 single : 1; /* below two segments they leave one by one, not in pairs */
	u8 policed : 1; /* netnice/police.h: what is above a rate is lost without a queue */
	u8 asking; /* siblings.h: siblings below one segment */
};

nn_inline void nn_window_set(struct nn_window *win, u64 w)
{
	if (w > NN_MAX_WINDOW)
		w = NN_MAX_WINDOW;
	win->w = nn_max((u32)w, win->floor);
}

nn_inline bool nn_in_slow_start(const struct nn_window *win)
{
	return win->w < win->ssthresh;
}

/* Slow start: one segment per segment acknowledged, not past ssthresh. */
nn_inline void nn_slow_start(struct nn_window *win, u32 acked)
{
	u64 w = win->w + ((u64)acked << NN_SHIFT);

	nn_window_set(win, w < win->ssthresh ? w : win->ssthresh);
}

/* Reno's growth: slow start below ssthresh, else 1/W a segment, and one at most when a pair was more than a window. */
nn_inline void nn_reno_grow(struct nn_window *win, u32 acked)
{
	u64 segments = (u64)acked << NN_SHIFT;

	if (nn_in_slow_start(win))
		nn_slow_start(win, acked);
	else
		nn_window_set(win, win->w + (segments < win->w ? (segments << NN_SHIFT) / win->w : NN_ONE));
}

/* Down to `w`, and no slow start back up. */
nn_inline void nn_shrink(struct nn_window *win, u32 w)
{
	nn_window_set(win, w);
	win->ssthresh = win->w;
}

/* What fast recovery leaves: half of what was in flight (RFC 5681, 3.1). */
nn_inline u32 nn_half(const struct nn_window *win)
{
	return win->w >> 1;
}

nn_inline void nn_halve(struct nn_window *win)
{
	nn_shrink(win, nn_half(win));
}

/* Fast recovery or an ECN mark: once per window of data, the window halves (RFC 5681, 3.2; RFC 3168, 6.1.2). */
nn_inline void nn_reduce(struct nn_window *win)
{
	win->prior_w = win->w;
	nn_halve(win);
}

/*
 * Retransmission timeout: from one segment, slow start to half of what was in flight (RFC 5681, 3.1). RFC 5681 never
 * sets ssthresh below two segments; here that would lift a window below one, so half is half.
 */
nn_inline void nn_collapse(struct nn_window *win)
{
	win->prior_w = win->w;
	win->ssthresh = nn_half(win);
	nn_window_set(win, nn_min(win->ssthresh, NN_ONE));
}

/* The timer fired again: nothing more is known of the path, so ssthresh stays. */
nn_inline void nn_collapse_again(struct nn_window *win)
{
	nn_window_set(win, nn_min(win->w, NN_ONE));
}

/* The loss was none (RFC 4015): go back. */
nn_inline void nn_undo(struct nn_window *win)
{
	if (win->prior_w > win->w)
		win->w = win->prior_w;
	win->ssthresh = nn_max(win->ssthresh, win->w);
}

#endif
