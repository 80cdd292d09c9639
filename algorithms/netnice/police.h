/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A policer: what comes above its rate is lost at once, and nothing waits. No queue tells of other flows there, and what they
 * lose is not seen. Only the flow's own losses speak, so each is asked whose it was.
 *
 * Model: a token bucket (Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016). A full one lets a burst
 * pass; then a large part of a window is lost. Wi-Fi loses less at a time, and a short buffer shows a queue.
 *
 *   found    by a loss without a queue: of a quarter of W, and eight segments. Or by a sibling
 *   full     the rate: what was delivered in the round of a loss
 *   tried    W grew above what is known to pass, and was lost: it is 7/8 of `full`, and waits for 48 rounds
 *   untried  another flow came: W is `full` shifted by patience, for a time that doubles with it, and then returns
 *   clear    a wait is over: patience falls; then W is tried an eighth higher, and further each time that nothing is lost
 *   ended    by a queue: congestion, or a loss with one
 */
#ifndef NN_POLICE_H
#define NN_POLICE_H

#include "report.h"

#define NN_POLICED_LOST 8u /* segments, and this part of W: Wi-Fi's frames and a buffer of a quarter BDP lose less. */
#define NN_POLICED_PART 4u
#define NN_POLICED_ROUNDS 2u /* whose ends may show that: the loss is still being found out at the first. */
#define NN_POLICED_WAIT 3u /* rounds, doubled by patience, for each sibling: they return in turns. */
#define NN_POLICED_DOUBLINGS 4u /* of that wait between trials: 48 rounds, or a tenth of what others have is lost. */
#define NN_POLICED_STEP 2u /* what a loss adds to patience; a clear wait takes off one. */
#define NN_POLICED_PATIENCE 4u /* the most of it. With 7 W was back two minutes after the other flow's end. */
#define NN_UNQUEUED 8u /* part of the base below which a loss met no queue */
#define NN_POLICED_FULL (NN_ONE / 16) /* the least `full`. */

/* A segment is lost. True: at a policer, so the round's end tells whose it was. */
nn_inline bool nn_police_lost(struct nn_state *m, const struct nn_window *win, bool unqueued)
{
	if (!unqueued && !(win->policed && win->w < NN_WAIT_LEAST))
		return false;
	m->unqueued = NN_POLICED_ROUNDS;
	m->returning = 0;
	return win->policed;
}

/* A queue: what is lost is lost by it. */
nn_inline void nn_police_end(struct nn_state *m, struct nn_window *win)
{
	win->policed = 0;
	m->patience = 0;
	m->wait = 0;
}

nn_inline bool nn_police_found(const struct nn_report *r, const struct nn_window *win)
{
	return r->policed || (r->lost >= NN_POLICED_LOST && r->lost << NN_SHIFT >= win->prior_w / NN_POLICED_PART);
}

/* All siblings together return once in so many rounds. */
nn_inline void nn_police_wait(struct nn_state *m, const struct nn_report *r, u32 doublings)
{
	u32 flows = m->patience ? r->siblings : 1;

	m->wait = (u16)nn_min((u64)NN_POLICED_WAIT * flows << doublings, 0xfff);
}

/* Whose loss was it? `full` is what passed. */
nn_inline void nn_police_judge(struct nn_state *m, const struct nn_report *r, struct nn_window *win, bool first)
{
	u32 base = nn_max(r->base, 1);
	u64 held = ((u64)r->delivered << NN_SHIFT) * base / nn_max(r->us, base);
	bool tried = m->tried || first;

	if (tried || win->prior_w >= m->full / 8 * 7)
		m->full = (u32)nn_max(nn_min(held, first ? NN_NEVER - 1 : m->full), NN_POLICED_FULL);
	if (tried) {
		nn_shrink(win, m->full / 8 * 7);
		nn_police_wait(m, r, NN_POLICED_DOUBLINGS);
		m->tried = 1;
	} else {
		m->patience = nn_min(m->patience + NN_POLICED_STEP, NN_POLICED_PATIENCE);
		nn_shrink(win, m->full >> m->patience);
		nn_police_wait(m, r, m->patience);
	}
}

/* The end of a round since a loss without a queue. True: it was a policer's. */
nn_inline bool nn_police_round(struct nn_state *m, const struct nn_report *r, struct nn_window *win)
{
	bool first = !win->policed;

	m->unqueued--;
	if (first && !nn_police_found(r, win))
		return false;
	win->policed = 1;
	m->unqueued = 0;
	m->phase = NN_STEADY;
	nn_police_judge(m, r, win, first);
	return true;
}

/* W <- twice as much, or `target`. */
nn_inline void nn_police_return(struct nn_state *m, const struct nn_report *r, struct nn_window *win, u32 target)
{
	win->ssthresh = nn_add_saturating(win->w, nn_min(win->w, target - win->w));
	m->phase = NN_RISING;
	if (win->ssthresh > win->w + NN_ONE / 2)
		return;
	nn_window_set(win, target);
	win->ssthresh = win->w;
	m->phase = NN_STEADY;
	nn_police_wait(m, r, m->patience + 2);
}

/* A clear round: W waits, returns, or is tried. */
nn_inline void nn_police_clear(struct nn_state *m, const struct nn_report *r, struct nn_window *win)
{
	u32 target = m->full / 8 * 7;

	m->phase = NN_STEADY;
	win->ssthresh = win->w;
	if (r->siblings > 1 && win->w > r->mean + NN_ONE && !m->patience) {
		m->full = nn_min(m->full, win->w / 7 * 8);
		target = nn_min(target, win->w);
	}
	m->wait -= (u16)nn_min(m->wait, r->us / nn_max(r->base, 1) + 1);
	if (m->wait)
		return;
	if (win->w < target) {
		nn_police_return(m, r, win, target);
	} else if (m->patience) {
		m->patience--;
		nn_police_wait(m, r, m->patience + 2);
	} else if (m->tried) {
		m->tried = 0;
		m->full = nn_max(m->full, win->w / 7 * 8);
		nn_police_wait(m, r, NN_POLICED_DOUBLINGS);
	} else {
		nn_window_set(win, win->w + nn_max(win->w >> (3 - m->returning), 1));
		win->ssthresh = win->w;
		m->returning = nn_min(m->returning + 1u, 3);
		m->tried = 1;
		nn_police_wait(m, r, NN_POLICED_DOUBLINGS);
	}
}

#endif
