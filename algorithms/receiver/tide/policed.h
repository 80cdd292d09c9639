/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A policer before a download: what ../../netnice/police.h decides, in bytes. There the sender's window falls by itself after
 * a loss, and comes back as fast as its congestion control likes; BBR's does not fall. The granted window is what holds both.
 */
#ifndef NN_TIDE_POLICED_H
#define NN_TIDE_POLICED_H

#include "../../netnice/police.h"
#include "fall.h"

/* A segment at least, as `floor` says; below one a window that no segment fits into. */
nn_inline void tide_grant(struct nn_receiver *flow)
{
	struct tide *t = tide_of(flow);
	u32 w = nn_in_slow_start(&t->win) ? t->win.ssthresh : t->win.w, before = flow->target;

	flow->low = w < NN_ONE;
	if (flow->low)
		flow->target = nn_min(NN_PAUSE_LEAST, flow->floor);
	else
		nn_set_target(flow, (u64)w * flow->mss >> NN_SHIFT);
	if (flow->target < before)
		tide_cut(t);
}

/* The round lost segments, and none of it met a queue. */
nn_inline void tide_lost(struct nn_receiver *flow, u32 lost)
{
	struct tide *t = tide_of(flow);
	u32 used = nn_add_saturating(flow->round.bytes, lost * flow->mss);

	t->win.prior_w = t->win.w = nn_window_of_bytes(flow, nn_min(used, flow->target));
	t->win.ssthresh = t->win.w;
	nn_police_lost(&t->police, &t->win, true);
}

/* A queue: TIDE goes on from here. */
nn_inline void tide_unpoliced(struct nn_receiver *flow)
{
	struct tide *t = tide_of(flow);

	nn_police_end(&t->police, &t->win);
	flow->policed = 0;
	t->police.unqueued = 0;
	t->memory.full = flow->target;
	tide_enter(flow, TIDE_CREEPING);
}

/* A round is over. True: what lost is a policer, and the window is decided. */
nn_rare bool tide_policed(struct nn_receiver *flow, u32 now_us)
{
	struct tide *t = tide_of(flow);
	const struct nn_receiver_round *round = &flow->round;
	struct nn_report *r = &t->report;
	bool queue = round->queue_max >= nn_min(flow->delay.base.rtt_min / NN_UNQUEUED, t->target);

	if (t->hold || t->cut == NN_CUT_TOLD)
		return false;
	r->lost = round->missing / nn_max(flow->mss, 1);
	if (r->lost && !queue)
		tide_lost(flow, r->lost);
	else if (round->queue_min > t->target && t->win.policed)
		tide_unpoliced(flow);
	if (!t->win.policed && !t->police.unqueued)
		return false;
	r->us = nn_max(now_us - round->start_us, 1);
	r->base = flow->delay.base.rtt_min;
	r->delivered = round->segments;
	r->siblings = nn_max(flow->siblings, 1);
	r->mean = nn_window_of_bytes(flow, flow->siblings_window);
	r->policed = flow->sibling_policed;
	nn_forget();
	if (t->police.unqueued ? !nn_police_round(&t->police, r, &t->win) : nn_unused(flow))
		return t->win.policed;
	nn_forget();
	t->win.w = nn_in_slow_start(&t->win) ? t->win.ssthresh : t->win.w;
	if (!r->lost)
		nn_police_clear(&t->police, r, &t->win);
	nn_forget();
	flow->policed = 1;
	tide_grant(flow);
	return true;
}

#endif
