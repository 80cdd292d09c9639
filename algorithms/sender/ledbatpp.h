/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus, section 4), which mends LEDBAT's late comers and its drifting base.
 *
 *   queue       RTT now, less its base of the last ten minutes; target 60 ms
 *   gain        1 / min(16, ceil(2 target / base))
 *   per RTT     queue <= target: W += gain;  otherwise: W += max(gain - W (queue / target - 1), -W/2)
 *   slow start  W += gain a segment acknowledged; the first one ends at 3/4 of the target
 *   slowdown    W = 2 for two round trips, then slow start to where it was.
 *               The first: two round trips after the first slow start. The next: nine times the length of the last later.
 *
 *     starting --queue, loss--> steady --due--> held --2 RTT--> ramp --W = ssthresh--> steady
 *
 * While all flows that share a path are slow together, each sees the true base. The base that a flow alone has forgotten
 * comes back.
 *
 * Deviations:
 * - The changes are made by every ACK in proportion to what it acknowledges.
 * - A loss while held is one of the window before: it halves that window, not the two segments.
 * - The delay of a lone segment may contain a delayed ACK and is not used.
 * - The history has eight spans of 75 s (delay_history.h). A slowdown is due after ten minutes at the latest.
 */
#ifndef NN_LEDBATPP_H
#define NN_LEDBATPP_H

#include "ledbat.h"

#define LEDBATPP_PARAMS(P)                                                                                             \
	P(target, 60)                                                                                                  \
	P(slow_start_exit, 75)                                                                                         \
	P(slowdown, 9)                                                                                                 \
	P(min_window, 8192)                                                                                            \
	P(force_window, 0)

#define LEDBATPP_LEAST_GAIN 16
#define LEDBATPP_HOLD 2 /* round trips */
#define LEDBATPP_LONGEST_US 600000000u

enum ledbatpp_phase { LEDBATPP_STARTING, LEDBATPP_STEADY, LEDBATPP_HELD, LEDBATPP_RAMP };

struct ledbatpp {
	struct nn_history history; /* of RTTs; its phase is ours */
	u32 at_us; /* steady: when the next slowdown is due; held, ramp: when this one began */
};

NN_CORE_STATE(ledbatpp, ledbatpp_of)
NN_CORE_GOES_ON_AS_RENO(ledbatpp)
NN_CORE_ALONE(ledbatpp)

nn_inline void ledbatpp_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	nn_flow_init(flow, p, now_us, delivered, srtt_us);
}

nn_inline void ledbatpp_on_recovery(struct nn_flow *flow, u32 state)
{
	struct nn_window *win = &flow->win;
	u32 held = win->ssthresh;
	bool again = flow->recovery != NN_OPEN;

	nn_flow_recovery(flow, state);
	if (state == NN_REDUCED && !again && ledbatpp_of(flow)->history.phase == LEDBATPP_HELD)
		win->ssthresh = nn_max(held / 2, win->floor);
}

/* 1/gain. */
nn_inline u32 ledbatpp_divisor(u32 target_us, u32 base_us)
{
	u32 ratio = (2 * target_us + base_us - 1) / base_us;

	return nn_min(nn_max(ratio, 1), LEDBATPP_LEAST_GAIN);
}

nn_inline void ledbatpp_steady(struct ledbatpp *pp, u32 now_us, u64 wait_us)
{
	pp->history.phase = LEDBATPP_STEADY;
	pp->at_us = now_us + (wait_us < LEDBATPP_LONGEST_US ? (u32)wait_us : LEDBATPP_LONGEST_US);
}

nn_inline void ledbatpp_hold(struct ledbatpp *pp, struct nn_window *win, u32 now_us)
{
	pp->history.phase = LEDBATPP_HELD;
	pp->at_us = now_us;
	win->ssthresh = nn_in_slow_start(win) ? win->ssthresh : win->w;
	nn_window_set(win, 0);
}

/* From phase to phase. */
nn_inline void ledbatpp_advance(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct ledbatpp *pp = ledbatpp_of(flow);
	u32 now = ack->now_us, since = now - pp->at_us;
	u64 hold = (u64)LEDBATPP_HOLD * flow->rtt.smoothed;
	bool slow = nn_in_slow_start(&flow->win);

	switch (pp->history.phase) {
	case LEDBATPP_STARTING:
		if (!slow)
			ledbatpp_steady(pp, now, hold);
		break;
	case LEDBATPP_STEADY:
		if (p[NN_P_slowdown] && nn_reached(now, pp->at_us) && flow->recovery == NN_OPEN)
			ledbatpp_hold(pp, &flow->win, now);
		break;
	case LEDBATPP_HELD:
		if (since >= hold)
			pp->history.phase = LEDBATPP_RAMP;
		break;
	case LEDBATPP_RAMP:
		if (!slow)
			ledbatpp_steady(pp, now, (u64)p[NN_P_slowdown] * since);
		break;
	}
}

nn_inline void ledbatpp_steer(struct nn_flow *flow, const struct nn_ack *ack, u32 target, u32 queue, u32 divisor)
{
	struct nn_window *win = &flow->win;
	u8 *carry = &ledbatpp_of(flow)->history.carry;
	u64 up = ledbat_step(win, ack) / divisor, whole = ledbat_acked(ack) << (NN_SHIFT + LEDBAT_CARRY), down;

	if (queue > target) {
		down = whole * (queue - target) / target;
		down = down > up ? down - up : 0;
		ledbat_shrink(win, carry, down < whole / 2 ? down : whole / 2);
	} else if (nn_may_grow(flow, ack)) {
		ledbat_grow(win, carry, up);
	}
	ledbat_trim(flow, ack);
}

nn_inline void ledbatpp_slow_start(struct nn_flow *flow, const struct nn_ack *ack, u32 divisor)
{
	u64 w = flow->win.w + (ledbat_acked(ack) << NN_SHIFT) / divisor;

	nn_window_set(&flow->win, w < flow->win.ssthresh ? w : flow->win.ssthresh);
}

nn_inline void ledbatpp_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct nn_history *history = &ledbatpp_of(flow)->history;
	u32 rtt = ledbat_rtt(flow, ack), target = ledbat_target_us(p), queue, divisor;

	if (!rtt)
		return;
	if (!history->span)
		nn_history_begin(history, rtt);
	queue = nn_history_queue(history, ack->now_us, rtt);
	divisor = ledbatpp_divisor(target, ((u32)nn_history_base(history) + 1) << NN_DELAY_SHIFT); /* rounded up */
	if (history->phase == LEDBATPP_STARTING && ledbat_fills(p, target, queue) && nn_in_slow_start(&flow->win))
		nn_shrink(&flow->win, flow->win.w);
	ledbatpp_advance(flow, p, ack);
	if (history->phase == LEDBATPP_HELD)
		return;
	if (!nn_in_slow_start(&flow->win))
		ledbatpp_steer(flow, ack, target, queue, divisor);
	else if (nn_is_tried(flow, ack))
		ledbatpp_slow_start(flow, ack, divisor);
}

#endif
