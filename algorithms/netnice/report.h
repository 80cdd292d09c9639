/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is measured in a round, what is remembered, and which queue is congestion: what the rules of decide.h and police.h
 * share. They know no ACK and no clock.
 */
#ifndef NN_REPORT_H
#define NN_REPORT_H

#include "../common/params.h"
#include "../common/verifier.h"
#include "../common/window.h"

#define NN_OWN_LOST 16u /* 1/16 packet time: after a loss, as the buffer may be no longer than a pair. */
#define NN_OWN_ALONE 32u /* of a level without a threshold: nothing else bounds its queue from below. */
#define NN_OWN_LEAST 6u /* packets of band_packets, where those take longer than the base: a slow line */
#define NN_WAIT_LEAST (4 * NN_ONE) /* shorter rounds have too few segments to skip one, and no queue of their own. */

enum nn_phase { NN_RISING, NN_STEADY, NN_WAITING };

/* What is measured in a round. */
struct nn_report {
	u32 us; /* length of the round */
	u32 base; /* RTT with empty queues, us */
	u32 queue; /* least queueing delay of the forward path, us */
	u32 reverse; /* queueing delay of the reverse path, us */
	u32 delivered, lost; /* segments; lost: at its end, presumed and not yet repaired */
	u32 seen, slow; /* segments with a sample, and those of them above the limit */
	u32 packet; /* service time of a full segment at the bottleneck, us; 0: unknown */
	u32 depth; /* queueing delay at the last loss, us; NN_NEVER: none was lost */
	u32 limit; /* of this round, us: nn_limit() at its begin */
	u32 siblings; /* flows that share the path, this one included: at least 1 */
	u32 mean; /* their mean window, 1/4096 segment */
	bool policed; /* a sibling found a policer (police.h) */
	bool limited; /* W limited the flow, and nothing is missing */
	bool longer; /* a trial of a longer base begins: the queue may be the path's own length */
};

/* What it remembers. */
struct nn_state {
	u32 full; /* window that last filled the path without a queue, 1/4096 segment; NN_NEVER: unknown */
	u16 phase : 2; /* enum nn_phase */
	u16 probing : 2; /* rounds for which a queue is the flow's own */
	u16 quiet : 4; /* clear rounds in a row */
	u16 returning : 2; /* rounds for which a queue refutes `full` */
	u16 drained : 1; /* the last judged round was congested */
	u16 clocked : 1; /* of the sender: the peer's clock is known */
	u16 unqueued : 2; /* police.h: ends of rounds until a loss without a queue is judged; 0: there is none */
	u16 wait : 12; /* of what follows: rounds until W may return, or be tried */
	u16 patience : 3; /* doublings of that, and halvings of W */
	u16 tried : 1; /* W is above what is known to pass: a loss is its own */
};

nn_inline void nn_state_init(struct nn_state *m, struct nn_window *win, bool fresh)
{
	m->full = NN_NEVER;
	m->probing = 2;
	win->policed = 0;
	m->phase = fresh ? NN_RISING : NN_WAITING;
	win->ssthresh = 2 * win->w;
}

/* In 1/4096 segment. */
nn_inline u32 nn_alpha(nn_params p)
{
	return p[NN_P_alpha] << (NN_SHIFT - 4);
}

/* Queueing delay that is congestion, us. */
nn_inline u32 nn_limit(nn_params p, const struct nn_report *r)
{
	u32 part = (u32)((u64)nn_min(r->base, r->depth) * p[NN_P_threshold] / 100);
	u32 lost = p[NN_P_threshold] ? NN_OWN_LOST : NN_OWN_ALONE;
	u32 own = r->depth == NN_NEVER ? p[NN_P_band_packets] : nn_min(p[NN_P_band_packets], lost);

	own = (u32)((u64)r->packet * own >> 4);
	own = nn_min(own, nn_max(r->base, NN_OWN_LEAST * r->packet));
	return nn_max(nn_max(part, own), 2 * p[NN_P_queue_floor]);
}

nn_inline bool nn_is_congested(nn_params p, const struct nn_report *r)
{
	return (u64)r->slow * 100 > (u64)r->seen * p[NN_P_fraction];
}

/* Segments that all siblings keep queued, as this flow measures it: 1/4096 segment. */
nn_inline u64 nn_queued(const struct nn_report *r, u32 w)
{
	u32 path = nn_max(r->base + r->reverse, 1);

	return (u64)w * r->queue / (path + r->queue) * r->siblings;
}

/* The part of the queue that siblings' segments are, us: by what they have of the path, and half a segment more. */
nn_inline u32 nn_explained(const struct nn_report *r, u32 w)
{
	u64 us = (nn_queued(r, w) + NN_ONE / 2) * r->packet >> NN_SHIFT;

	return (!r->packet && w >= NN_ONE) || us > NN_NEVER ? NN_NEVER : (u32)us;
}

#endif
