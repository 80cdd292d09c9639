/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every receiver core remembers of a flow.
 *
 *   target    the window that the core wants
 *   window    what is advertised: it follows `target` (window.h)
 *   round     what the core decides by (round.h)
 *   delay     the queue that each arrival met (../estimate/delay.h)
 *   estimate  the sender's window (../estimate/sender_window.h). A flow that was foreground until now starts from it
 */
#ifndef NN_RECEIVER_FLOW_H
#define NN_RECEIVER_FLOW_H

#include "../estimate/delay.h"
#include "../siblings/group.h"
#include "params.h"
#include "round.h"

#define NN_RECEIVER_MOST (1u << 29) /* bytes: half of what TCP can scale to */
#define NN_LEAST_MSS 536u /* RFC 9293 */
#define NN_ACKS 128 /* remembered; each covers all ACKs of one clock tick */
#define NN_RECEIVER_WORDS 274

struct nn_sent_ack {
	u32 clock, bytes;
};

/*
 * What the window grants, without timestamps. A round is timed from the ACK that first grants more than its mark. While a
 * window shrinks, the edge stands still for a round trip: a segment that reaches it was granted by a much older ACK.
 */
enum nn_granted { NN_GRANTED_NOTHING, NN_GRANTED_MARK, NN_GRANTED_MORE };

/*
 * Ordered by writer. Arrivals and ACKs may be on different processors, and a cache line that both write would move between
 * them. First what is seldom written, then what every arrival writes; what ACKs write is at the end.
 */
struct nn_receiver {
	u32 target; /* bytes */
	u32 growth; /* bytes the window may grow for each byte acknowledged, at least 1 */
	u32 head; /* of `acks` */
	u8 algorithm; /* row of table.h, plus one; 0: none, the kernel's own window */
	u8 plain; /* an arrival with a timestamp is like the one before: see receiver.h */
	u8 low; /* it is at its least window */
	u8 sibling_low; /* and so was another flow of its host when its last round there ended */
	u32 user, space; /* whose it is, in which network namespace */
	u32 number; /* tells it from its siblings; 0: it was never there */
	u32 count; /* in which it was counted last: see ../siblings/downloads.h, as for the next two */
	u32 siblings; /* flows of its host, this one included; 0: not counted yet */
	u32 siblings_window; /* their mean, bytes; 0: not known yet */
	u32 share; /* kbit/s that it is to have at least (../siblings/group.h); 0: none */
	u32 share_us, share_next; /* when that was found, and `next` then */
	u8 seen; /* a segment has arrived */
	u8 watched; /* rounds still to see before it yields */
	u8 policed; /* it found a policer (../netnice/police.h) */
	u8 sibling_policed; /* and so did a flow of its host lately, perhaps itself */
	u32 mss; /* largest payload of one segment seen */
	u32 floor; /* the least window, bytes */
	u32 start_us; /* first arrival */
	u8 granted; /* enum nn_granted */
	struct nn_receiver_round round;
	u32 rounds;
	u32 next; /* highest sequence number seen, plus one */
	u32 estimate; /* bytes: the sender's window */
	u32 echoed; /* no ACK of `acks` is older than this echo of our clock */
	struct nn_delay delay;
	u32 own[NN_RECEIVER_WORDS]; /* of one core alone, which gives it a type with NN_RECEIVER_STATE */
	struct nn_sent_ack acks[NN_ACKS];
	u32 tail; /* of `acks` */
	u32 acked; /* newest acknowledgement sent */
	u32 window; /* bytes */
	u32 edge; /* right edge granted, at most */
	u32 rounded; /* bytes: to multiples of this the kernel rounds windows up, at most */
	u32 told; /* window that the kernel was told last, bytes; 0: none */
	u32 told_at; /* the acknowledgement then sent */
};

#define NN_RECEIVER_STATE(type, name)                                                                                  \
	_Static_assert(sizeof(struct type) <= sizeof(((struct nn_receiver *)0)->own), "does not fit nn_receiver.own"); \
	nn_inline struct type *name(struct nn_receiver *flow)                                                          \
	{                                                                                                              \
		return (struct type *)flow->own;                                                                       \
	}

/* Bytes as a window, 1/4096 segment. */
nn_inline u32 nn_window_of_bytes(const struct nn_receiver *flow, u32 bytes)
{
	u64 w = ((u64)bytes << NN_SHIFT) / nn_max(flow->mss, 1);

	return w < NN_MAX_WINDOW ? (u32)w : NN_MAX_WINDOW;
}

/* What the core learns of one arrival before its algorithm decides. */
struct nn_arrival {
	u32 queue; /* us */
	u32 rtt; /* us, 0: none */
	bool hole; /* something before it is missing, and was not known to be */
	bool round; /* it ends the round */
};

nn_inline u32 nn_round_mark(const struct nn_receiver *flow, const struct nn_segment *seg)
{
	return seg->stamped ? seg->clock : flow->edge;
}

nn_inline void nn_receiver_next_round(struct nn_receiver *flow, u32 mark, u32 now_us, bool stamped)
{
	nn_receiver_round_reset(&flow->round, mark, now_us, stamped);
	if (!stamped)
		flow->granted = nn_min(flow->granted, NN_GRANTED_MARK);
	flow->rounds++;
}

nn_rare void nn_receiver_begin_round(struct nn_receiver *flow, u32 mark, u32 now_us, bool stamped)
{
	nn_receiver_next_round(flow, mark, now_us, stamped);
}

nn_inline void nn_round_start(struct nn_receiver *flow, const struct nn_segment *seg)
{
	nn_receiver_begin_round(flow, nn_round_mark(flow, seg), seg->now_us, seg->stamped != 0);
}

/* At a round's end. Its share is of the round trip that the round saw, with the queue in it. */
nn_inline u32 nn_least_window(const struct nn_receiver *flow, nn_receiver_params p)
{
	u32 least = nn_max(flow->mss, NN_LEAST_MSS) * nn_max(nn_min(p[NN_R_floor], 10), 1);
	u64 share;

	if (nn_likely(!flow->share))
		return least;
	if (flow->round.rtt_min == NN_NEVER)
		return nn_max(least, flow->floor);
	share = nn_share_bytes(flow->share, flow->round.rtt_min) + flow->mss; /* a part of a segment is not sent */
	return nn_max(least, share < NN_RECEIVER_MOST ? (u32)share : NN_RECEIVER_MOST);
}

/* A round is over. What the download is to have at least from the next on, of what its group is to have: kbit/s; 0: none. */
nn_rare u32 nn_receiver_share(struct nn_receiver *flow, struct nn_group *group, u32 rate, u32 now_us)
{
	u32 bytes = flow->share_us ? flow->next - flow->share_next : 0; /* at first it is not known since when */

	flow->share = nn_group_share(group, rate, flow->share_us, now_us, bytes);
	flow->share_us = now_us;
	flow->share_next = flow->next;
	return flow->share;
}

nn_inline void nn_set_target(struct nn_receiver *flow, u64 bytes)
{
	u32 most = bytes > NN_RECEIVER_MOST ? NN_RECEIVER_MOST : (u32)bytes;

	flow->target = nn_max(most, flow->floor);
}

/* Is the sender, not the window, what limits this flow? Then growth has not been tried. */
nn_inline bool nn_unused(const struct nn_receiver *flow)
{
	return flow->target > flow->round.bytes * 2 + 4 * flow->mss;
}

#endif
