/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long the queue in front of us is, from the receiver's side alone.
 *
 * One-way delay: arrival time - TSval x tick. The sender's zero is unknown and cancels against the smallest value seen
 * (base). It sees only the direction of the data, and every segment is a sample. It has four weaknesses, each bounded:
 *   tick    the peer's clock ticks in 1 us, 1, 4, 10 or 100 ms: measured against ours over the first 200 ms
 *   drift   at 50 ppm the base is wrong by 5 ms after 100 s. What our clock gains is measured and subtracted (skew.h). The
 *           round-trip time needs only our own clock, and bounds the queue from above. A larger one-way delay moves the base
 *   random  a clock that gains more than a round trip is none, or has jumped. It has no tick then: the round-trip time alone
 *           counts, until 200 ms of it fit a usual tick
 *   route   a longer path looks like a queue for ever: the base forgets (base_delay.h)
 *
 * Without timestamps: the round-trip time, from an ACK that grants more to the first segment beyond the edge granted before.
 * That is one sample a round. It sees both directions. A sender that does not use the window makes it longer: such a flow
 * yields too much, not too little.
 */
#ifndef NN_DELAY_H
#define NN_DELAY_H

#include "../receiver/segment.h"
#include "base_delay.h"
#include "skew.h"
#include "tick.h"

#define NN_TICK_US 1000u /* Linux, the BSDs, Windows: until the peer's is known */
#define NN_TICK_PROBE_US 200000u

struct nn_delay {
	struct nn_base_delay base;
	u32 tick; /* the peer's, us; 0: it is not a clock */
	u32 first_tsval, first_us; /* to measure it */
	u32 rtt_last; /* without timestamps: of the last round */
	u32 queue; /* of the last arrival, us */
	u8 tick_known;
	u8 based;
	struct nn_skew skew;
};

nn_inline void nn_delay_init(struct nn_delay *d)
{
	d->tick = NN_TICK_US;
	d->based = 0;
	d->tick_known = 0;
	d->rtt_last = 0;
	d->queue = 0;
	d->first_us = 0;
	d->first_tsval = 0;
	nn_base_init(&d->base);
	nn_skew_init(&d->skew);
}

nn_rare void nn_delay_tick(struct nn_delay *d, u32 now_us, u32 tsval)
{
	u32 elapsed = now_us - d->first_us, ticks = tsval - d->first_tsval, us, tick;

	if (!ticks) { /* it stands still */
		d->tick = 0;
		return;
	}
	us = elapsed / ticks;
	tick = us < 100 ? 1 : us < 2500 ? 1000 : us < 7000 ? 4000 : us < 50000 ? 10000 : 100000;
	if (!d->tick && !nn_tick_fits(tick, ticks, elapsed)) {
		d->first_us = now_us;
		d->first_tsval = tsval;
		return;
	}
	nn_skew_init(&d->skew);
	if (!d->tick)
		nn_base_set(&d->base, now_us - tsval * tick - d->queue);
	else if (tick != NN_TICK_US)
		d->based = 0;
	d->tick = tick;
	d->tick_known = 1;
}

/* The peer's clock is none. */
nn_rare void nn_delay_distrust(struct nn_delay *d, u32 now_us, u32 tsval)
{
	d->tick = 0;
	d->tick_known = 0;
	d->first_us = now_us;
	d->first_tsval = tsval;
}

/* A span of the base is over, and one of the clocks' too. */
nn_rare void nn_delay_turn(struct nn_delay *d, u32 now_us, u32 owd)
{
	bool learnt = nn_skew_turn(&d->skew, now_us, d->base.rtt_min, d->tick);

	nn_base_rotate(&d->base, now_us, owd);
	if (learnt)
		nn_base_set(&d->base, d->skew.before.low);
}

/*
 * The queue that an arrival met, us, from a round trip alone. One that is too short (the kernel grants more than it was
 * told: nn_advance()) is believed when the next says the same.
 */
nn_inline u32 nn_delay_unstamped(struct nn_delay *d, u32 now_us, u32 rtt_us)
{
	if (nn_unlikely(d->base.rtt_min == NN_NEVER))
		d->base.since_us = now_us;
	else if (nn_unlikely(now_us - d->base.since_us >= NN_BASE_US))
		nn_base_rotate(&d->base, now_us, d->base.least);
	nn_base_rtt(&d->base, nn_max(rtt_us, d->rtt_last));
	d->rtt_last = rtt_us;
	return d->queue = rtt_us - nn_min(rtt_us, d->base.rtt_min);
}

/* The same of a stamped arrival. `rtt_us` is at most a tick of our own clock (1 ms) too long. */
nn_inline u32 nn_delay_stamped(struct nn_delay *d, const struct nn_segment *seg, u32 rtt_us)
{
	struct nn_base_delay *base = &d->base;
	u32 *low = &base->owd[base->current % NN_BASES], owd, most, queue;

	if (nn_unlikely(!d->based) && !d->tick_known && !d->first_us) {
		d->first_tsval = seg->tsval;
		d->first_us = seg->now_us;
	}
	if (nn_unlikely(!d->tick_known) && seg->now_us - d->first_us >= NN_TICK_PROBE_US)
		nn_delay_tick(d, seg->now_us, seg->tsval);
	nn_base_rtt(base, rtt_us);
	if (nn_unlikely(!d->tick))
		return nn_delay_unstamped(d, seg->now_us, rtt_us);
	owd = seg->now_us - seg->tsval * d->tick - nn_skew_gained(&d->skew, seg->now_us);
	if (nn_unlikely(!d->based)) {
		nn_base_move(base, owd);
		base->since_us = seg->now_us;
		d->based = 1;
	}
	nn_skew_see(&d->skew, seg->now_us, owd, rtt_us);
	if (nn_unlikely(seg->now_us - base->since_us >= NN_BASE_US))
		nn_delay_turn(d, seg->now_us, owd);
	else if ((s32)(owd - *low) < 0)
		*low = owd;
	if ((s32)(owd - base->least) < 0) {
		if (nn_unlikely(base->least - owd > base->rtt_min + d->tick + NN_CLOCK_SLACK_US) && d->tick_known)
			nn_delay_distrust(d, seg->now_us, seg->tsval);
		base->least = owd;
	}
	queue = owd - base->least;
	most = rtt_us - base->rtt_min + d->tick + NN_TICK_US;
	if (queue > most) {
		nn_base_move(base, owd - most);
		queue = most;
	}
	return d->queue = queue;
}

#endif
