/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The decision of netnice: the report of a round in, a window out, for the levels 0, 1 and 2. It knows no ACK and no clock.
 *
 * Model: TCP Nice (Venkataramani, Kokku, Dahlin, OSDI 2002) on TCP Vegas (Brakmo, Peterson, JSAC 1995).
 *   RISING    W nears the window that last filled the path; doubles if none is known.
 *   STEADY    Vegas. After six clear rounds a probe: W grows by an eighth a round.
 *   WAITING   One round: its segments left before the cut, or before the timeout.
 *
 *   congested: more than `fraction` of the round's segments waited longer than the limit.
 *     The queue is the flow's own in a probe, in the first slow start, or if it is short in a first such round: drain.
 *     Otherwise it is another flow's: W <- W/2, or less as the queue is longer.
 *
 * Deviations from TCP Nice:
 * - The limit is a part of the base RTT, or of the queue at a loss. It is never below the time of own segments or timer noise.
 * - W returns to a remembered window in a few rounds, faster than Reno grows. A drain writes that memory; a loss, and
 *   congestion during a return, halve it.
 * - Siblings keep alpha to beta segments queued together. A flow above their mean gives up a part of the excess.
 * - The queue is that of the forward path. W covers the queue of the reverse path.
 * - A loss without a queue may be a policer's: police.h.
 * Parameters: threshold, fraction; alpha in 1/16 segment; band_packets in 1/16 packet time; queue_floor.
 */
#ifndef NN_DECIDE_H
#define NN_DECIDE_H

#include "police.h"

#define NN_QUIET 3u /* clear rounds before W returns; twice as many before a probe, for pages to end. */
#define NN_OWN_SHORT 8u /* packet times. Less is below level 0's limit, and may be level 1's or 2's own queue. */
#define NN_PROBE 8u /* a probe adds this part of W each round. Of four that were tried, the best beside documents. */
#define NN_EXCESS 8u /* part of the excess above the siblings' mean that a flow gives up each round. */

/* Of siblings one with more than `above` gives up a part of what it has above their mean. */
nn_inline void nn_even_out(const struct nn_report *r, struct nn_window *win, u32 above)
{
	if (r->siblings > 1 && r->mean && win->w > above)
		nn_window_set(win, win->w - (win->w - r->mean) / NN_EXCESS);
}

/* Below one segment growth needs a short queue, or one that is the siblings' own. */
nn_inline bool nn_has_room(const struct nn_report *r, u32 w)
{
	return w >= NN_ONE || r->queue <= nn_max(r->limit / 2, nn_explained(r, nn_max(w, r->mean)));
}

/* The flow's own queue: W <- what the path carries without it. */
nn_inline void nn_drain(struct nn_state *m, const struct nn_report *r, struct nn_window *win, u32 floor_us)
{
	u32 empty = nn_max(r->base + r->reverse + floor_us, 1);
	u64 held = ((u64)r->delivered << NN_SHIFT) * empty / nn_max(r->us, empty);

	held = held > 2 * NN_ONE ? held : 2 * NN_ONE;
	nn_shrink(win, held < win->w ? (u32)held : win->w);
	m->full = win->w;
	m->probing = 0;
	m->phase = NN_WAITING;
}

/* Own queue: drain. Another's: W/2 at the limit, and as much less as the queue is longer. */
nn_inline void nn_back_off(struct nn_state *m, const struct nn_report *r, struct nn_window *win, u32 floor_us)
{
	u32 queue = nn_max(nn_max(r->queue, r->limit), 1);
	bool shorter = r->queue < nn_max(NN_OWN_SHORT * r->packet, 4 * floor_us);

	m->quiet = 0;
	if (win->w >= NN_WAIT_LEAST)
		nn_police_end(m, win);
	if (m->returning && !win->policed && m->full != NN_NEVER)
		m->full /= 2;
	m->returning = 0;
	nn_even_out(r, win, r->mean);
	if (m->probing || (shorter && !m->drained))
		nn_drain(m, r, win, floor_us);
	else
		nn_shrink(win, (u32)((u64)win->w * r->limit / queue / 2));
	m->drained = 1;
	m->phase = win->w < NN_WAIT_LEAST ? NN_STEADY : NN_WAITING;
}

/* A step of a return, or of the first slow start. False: W is where it was to go. */
nn_inline bool nn_rise(struct nn_state *m, struct nn_window *win, u32 target)
{
	if (m->full == NN_NEVER)
		m->probing = 2;
	else
		m->returning = 3;
	win->ssthresh = nn_add_saturating(win->w, nn_min(win->w, nn_sub_saturating(target, win->w)));
	return win->ssthresh > win->w + NN_ONE / 2;
}

/* Vegas for all siblings, which together add no more packets a round than the limit bears; and probes. */
nn_inline void nn_hold(struct nn_state *m, const struct nn_report *r, struct nn_window *win, nn_params p, u64 queued)
{
	u32 alpha = nn_alpha(p), beta = alpha + alpha / 2;
	u32 step = nn_min(NN_ONE, (p[NN_P_band_packets] << (NN_SHIFT - 4)) / r->siblings);

	if (m->quiet >= 2 * NN_QUIET && win->w >= NN_ONE) {
		nn_window_set(win, win->w + nn_max(win->w / NN_PROBE, NN_ONE));
		m->probing = 3;
	} else if (queued < alpha && nn_has_room(r, win->w)) {
		nn_window_set(win, win->w + (win->w < r->mean ? NN_ONE : step));
	} else if (queued > beta && win->w > 2 * NN_ONE) {
		nn_window_set(win,
			      nn_max(nn_sub_saturating(win->w, (u32)((queued - beta) / 8 / r->siblings)), 2 * NN_ONE));
	}
	win->ssthresh = win->w;
}

/* A clear round that used W. */
nn_inline void nn_grow(struct nn_state *m, const struct nn_report *r, struct nn_window *win, nn_params p)
{
	u32 alpha = nn_alpha(p), beta = alpha + alpha / 2, floor_us = p[NN_P_queue_floor];
	u64 queued = r->queue > floor_us ? nn_queued(r, win->w) : 0;
	bool first = m->full == NN_NEVER;
	u32 target = first ? NN_NEVER : m->full / 8 * 7;

	nn_even_out(r, win, r->mean + NN_ONE);
	nn_forget();
	m->quiet = r->slow || queued >= alpha ? 0 : nn_min(m->quiet + 1u, 15);
	if (m->probing && queued > (first ? (u64)alpha / 2 * r->siblings : beta)) {
		nn_drain(m, r, win, floor_us);
		m->quiet = 0;
		return;
	}
	if (m->phase == NN_RISING && queued > (u64)alpha / 2 * r->siblings)
		m->phase = NN_STEADY;
	if (win->policed) {
		nn_police_clear(m, r, win);
		return;
	}
	nn_forget();
	m->probing -= m->probing > 0;
	m->returning -= m->returning > 0;
	if (m->phase == NN_STEADY && m->quiet >= NN_QUIET && win->w < target && win->w >= NN_ONE)
		m->phase = NN_RISING;
	if (m->phase == NN_RISING && nn_rise(m, win, target))
		return;
	m->phase = NN_STEADY;
	nn_hold(m, r, win, p, queued);
}

/* The round is over: `w` is the window for the next, and within it W may follow what is acknowledged up to `ssthresh`. */
nn_inline void nn_decide_round(struct nn_state *m, const struct nn_report *r, struct nn_window *win, nn_params p)
{
	if (m->unqueued && nn_police_round(m, r, win))
		return;
	if (m->phase == NN_WAITING) {
		m->phase = win->w < win->ssthresh ? NN_RISING : NN_STEADY;
	} else if (r->longer) {
		m->phase = NN_RISING;
		win->ssthresh = 2 * nn_max(win->w, NN_ONE);
	} else if (nn_is_congested(p, r)) {
		nn_back_off(m, r, win, p[NN_P_queue_floor]);
	} else if (r->seen) {
		m->drained = 0;
		if (r->limited)
			nn_grow(m, r, win, p);
	}
}

/* A segment was lost, or marked: Reno's answer is the adapter's (common/flow.h). `unqueued`: there was no queue. */
nn_inline void nn_state_lost(struct nn_state *m, const struct nn_window *win, bool timeout, bool unqueued)
{
	m->quiet = 0;
	if (nn_police_lost(m, win, unqueued))
		return;
	m->full = nn_min(m->full, win->w / 2);
	m->phase = timeout ? NN_WAITING : NN_STEADY;
	m->probing = 0;
}

#endif
