/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long the queue in front of us is, from the receiver's side alone.
 *
 * One-way delay: arrival time - TSval x tick. The sender's zero is unknown and cancels against the smallest value seen
 * (base). It sees only the direction of the data, and every segment is a sample. It has four weaknesses, each bounded:
 *   tick    the peer's clock ticks in 1 us, 1, 4, 10 or 100 ms: measured against ours over the first 200 ms
 *   drift   at 50 ppm the base is wrong by 5 ms after 100 s. What our clock gains is measured and taken off (skew.h). And
 *           the round-trip time, which needs only our own clock, bounds the queue from above: a one-way delay that claims
 *           more moves the base instead
 *   random  a clock that gains more than a round trip is none, or has jumped. It has no tick then: the round-trip time alone
 *           counts, until 200 ms of it fit a usual tick
 *   route   a longer path looks like a queue for ever: the base is the least of the last 4 x 64 s
 * Without timestamps: the round-trip time, from an ACK that grants more to what passes the edge granted before it; one
 * sample a round. It sees both directions, and a sender that does not use the window makes it longer: such a flow yields too
 * much, not too little.
 */
#ifndef NN_DELAY_H
#define NN_DELAY_H

#include "params.h"
#include "../estimate/skew.h"
#include "../estimate/tick.h"

#define NN_BASES 4
#define NN_BASE_US 64000000u
#define NN_TICK_US 1000u /* Linux, the BSDs, Windows: until the peer's is known */
#define NN_TICK_PROBE_US 200000u

struct nn_delay {
	u32 base[NN_BASES]; /* smallest one-way delay of each window, us of an arbitrary zero */
	u32 least; /* of them */
	u32 base_us; /* when the current window began */
	u32 current; /* its index */
	u32 tick; /* the peer's, us; 0: it is not a clock */
	u32 first_tsval, first_us; /* to measure it */
	u32 rtt_min; /* smallest round trip, us; NN_NEVER: none yet */
	u32 rtt_recent; /* smallest of the current window */
	u32 rtt_last; /* without timestamps: of the last round */
	u32 queue; /* of the last arrival, us */
	u8 tick_known;
	u8 based;
	struct nn_skew skew;
};

nn_inline void nn_delay_init(struct nn_delay *d)
{
	d->tick = NN_TICK_US;
	d->rtt_min = NN_NEVER;
	d->rtt_recent = NN_NEVER;
	d->based = 0;
	d->tick_known = 0;
	d->current = 0;
	d->rtt_last = 0;
	d->queue = 0;
	d->first_us = 0;
	d->first_tsval = 0;
	nn_skew_init(&d->skew);
}

/* Inline: eBPF sums up the stacks of calls within calls, to 512 bytes. */
nn_inline void nn_delay_base(struct nn_delay *d, u32 owd)
{
	for (int i = 0; i < NN_BASES; i++)
		d->base[i] = owd;
	d->least = owd;
}

/* Out of the way of every arrival. */
nn_rare void nn_delay_rebase(struct nn_delay *d, u32 owd)
{
	nn_delay_base(d, owd);
}

/* What looked like a queue of so many us is taken for the path's. */
nn_inline void nn_delay_lengthen(struct nn_delay *d, u32 us)
{
	nn_delay_base(d, d->least + us);
	d->rtt_min = nn_add_saturating(d->rtt_min, us);
	d->rtt_recent = nn_max(d->rtt_recent, d->rtt_min);
}

/* It was none: back to what was known before, or to the shorter one seen since. */
nn_inline void nn_delay_restore(struct nn_delay *d, u32 base, u32 rtt)
{
	nn_delay_base(d, (s32)(base - d->least) < 0 ? base : d->least);
	d->rtt_min = nn_min(d->rtt_min, rtt);
	d->rtt_recent = nn_min(d->rtt_recent, rtt);
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
		nn_delay_base(d, now_us - tsval * tick - d->queue);
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

nn_rare void nn_delay_rotate(struct nn_delay *d, u32 now_us, u32 owd)
{
	d->base_us = now_us;
	d->current = (d->current + 1) % NN_BASES;
	d->base[d->current % NN_BASES] = owd;
	if (!d->current) {
		d->rtt_min = d->rtt_recent;
		d->rtt_recent = NN_NEVER;
	}
	d->least = d->base[0];
	for (int i = 1; i < NN_BASES; i++)
		if ((s32)(d->base[i] - d->least) < 0)
			d->least = d->base[i];
}

/* The same of a stamped flow. */
nn_rare void nn_delay_turn(struct nn_delay *d, u32 now_us, u32 owd)
{
	bool learnt = nn_skew_turn(&d->skew, now_us, d->rtt_min, d->tick);

	nn_delay_rotate(d, now_us, owd);
	if (learnt)
		nn_delay_base(d, d->skew.before.low);
}

nn_inline void nn_delay_rtt(struct nn_delay *d, u32 rtt_us)
{
	if (rtt_us >= d->rtt_recent) /* which is never below rtt_min */
		return;
	d->rtt_recent = rtt_us;
	d->rtt_min = nn_min(d->rtt_min, rtt_us);
}

/*
 * The queue that an arrival met, us, from a round trip alone. One that is too short (the kernel grants more than it was
 * told: nn_advance()) is believed when the next says the same.
 */
nn_inline u32 nn_delay_unstamped(struct nn_delay *d, u32 now_us, u32 rtt_us)
{
	if (nn_unlikely(d->rtt_min == NN_NEVER))
		d->base_us = now_us;
	else if (nn_unlikely(now_us - d->base_us >= NN_BASE_US))
		nn_delay_rotate(d, now_us, d->least);
	nn_delay_rtt(d, nn_max(rtt_us, d->rtt_last));
	d->rtt_last = rtt_us;
	return d->queue = rtt_us - nn_min(rtt_us, d->rtt_min);
}

/* The same of a stamped arrival. `rtt_us` is at most a tick of our own clock (1 ms) too long. */
nn_inline u32 nn_delay_stamped(struct nn_delay *d, const struct nn_segment *seg, u32 rtt_us)
{
	u32 *base = &d->base[d->current % NN_BASES], owd, most, queue;

	if (nn_unlikely(!d->based) && !d->tick_known && !d->first_us) {
		d->first_tsval = seg->tsval;
		d->first_us = seg->now_us;
	}
	if (nn_unlikely(!d->tick_known) && seg->now_us - d->first_us >= NN_TICK_PROBE_US)
		nn_delay_tick(d, seg->now_us, seg->tsval);
	nn_delay_rtt(d, rtt_us);
	if (nn_unlikely(!d->tick))
		return nn_delay_unstamped(d, seg->now_us, rtt_us);
	owd = seg->now_us - seg->tsval * d->tick - nn_skew_gained(&d->skew, seg->now_us);
	if (nn_unlikely(!d->based)) {
		nn_delay_rebase(d, owd);
		d->base_us = seg->now_us;
		d->based = 1;
	}
	nn_skew_see(&d->skew, seg->now_us, owd, rtt_us);
	if (nn_unlikely(seg->now_us - d->base_us >= NN_BASE_US))
		nn_delay_turn(d, seg->now_us, owd);
	else if ((s32)(owd - *base) < 0)
		*base = owd;
	if ((s32)(owd - d->least) < 0) {
		if (nn_unlikely(d->least - owd > d->rtt_min + d->tick + NN_CLOCK_SLACK_US) && d->tick_known)
			nn_delay_distrust(d, seg->now_us, seg->tsval);
		d->least = owd;
	}
	queue = owd - d->least;
	most = rtt_us - d->rtt_min + d->tick + NN_TICK_US;
	if (queue > most) {
		nn_delay_rebase(d, owd - most);
		queue = most;
	}
	return d->queue = queue;
}

#endif
