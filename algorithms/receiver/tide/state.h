/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What TIDE remembers of a flow: ../tide.h has the diagram of the phases. */
#ifndef NN_TIDE_STATE_H
#define NN_TIDE_STATE_H

#include "../../estimate/route.h"
#include "../../estimate/step.h"
#include "../../netnice/report.h"
#include "../first_cut.h"
#include "memory.h"

#define TIDE_TARGET_PART 24u /* of the base RTT: what is tolerated, from half of the parameter on */
#define TIDE_TARGET_PACKETS 4u /* or so many of the host's downloads together */
#define TIDE_SETTLED 4 /* rounds */

#define TIDE_ROW 4 /* of phases: a clear round leads to the first of the row */

enum tide_phase {
	TIDE_CREEPING,
	TIDE_DRAINING,
	TIDE_LEAVING,
	TIDE_DOUBLING = TIDE_ROW,
	TIDE_FLOOR,
	TIDE_RESUMING = 2 * TIDE_ROW,
	TIDE_EASING,
};

struct tide {
	struct nn_state police; /* policed.h: of it, what ../../netnice/police.h uses */
	struct nn_window win; /* as segments */
	struct nn_report report; /* not on the stack, of which eBPF has 512 bytes */
	struct nn_step step;
	struct nn_route route;
	struct nn_memory memory;
	u32 clear[2]; /* target in the last clear round, and in the one before: what the path was seen to hold */
	u32 target; /* queueing delay that is tolerated, us */
	u32 rate_max; /* bytes a millisecond, decaying */
	u32 stride; /* growth a round, in parts (rise.h) */
	u32 quiet; /* rounds of growth in a row */
	u32 hold; /* rounds still to ignore: their data left before the last decision */
	u32 paused; /* rounds at the least window */
	u32 settled; /* clear rounds since the return reached the window remembered */
	u32 drained; /* rounds since the drain began that the last clear round has not ended; 0: none */
	u32 last_queue; /* us, of the last congested round */
	u8 phase; /* enum tide_phase */
	u8 foreign; /* draining: from a queue above the parameter of that name */
	u8 cut; /* enum nn_cut */
};

NN_RECEIVER_STATE(tide, tide_of)

nn_inline void tide_enter(struct nn_receiver *flow, enum tide_phase phase)
{
	tide_of(flow)->phase = phase;
	flow->low = phase == TIDE_FLOOR || phase == TIDE_LEAVING;
}

/* Less of a queue where the path is short and fast. */
nn_rare void tide_tolerate(struct nn_receiver *flow, nn_receiver_params p)
{
	struct tide *t = tide_of(flow);
	u32 most = p[NN_R_target], rate = nn_max(t->rate_max * nn_max(flow->siblings, 1), 1);
	u32 least = nn_max(most / 2, TIDE_TARGET_PACKETS * 1000 * flow->mss / rate);

	t->target = nn_min(most, nn_max(least, flow->delay.base.rtt_min / TIDE_TARGET_PART));
}

/* Growth begins anew, a segment a round. */
nn_inline void tide_calm(struct tide *t)
{
	t->stride = 1;
	t->quiet = 0;
}

#endif
