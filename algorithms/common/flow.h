/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every sender core remembers of a flow, and the round: the time it takes a window of data to be acknowledged.
 *
 * Delayed and stretched ACKs cover several segments each, so a round counts segments, never ACKs.
 */
#ifndef NN_FLOW_H
#define NN_FLOW_H

#include "params.h"
#include "../estimate/rtt.h"

struct nn_round {
	u32 end; /* the round ends when a segment sent at or after this `delivered` count is acknowledged */
	u32 start_us; /* when it began */
	u32 credit; /* congestion avoidance may grow on what was delivered since this `delivered` count */
	u32 seen; /* segments with an RTT sample */
	u32 slow; /* of them, those that met congestion */
	u32 min_rtt; /* smallest sample, us; NN_NEVER: none */
	u32 max_rtt; /* largest sample, us */
};

/* Whose RTT of what we send counts? See pace.h, "Coming back". */
enum nn_rtt_source {
	NN_RTT_OF_KERNEL,
	NN_RTT_OF_ROUND, /* our own: the kernel stamps segments with a deadline that lies ahead */
	NN_RTT_UNKNOWN, /* segments with such stamps are still on their way */
};

/* Linux calls cong_control before init while it handles the SYN-ACK. */
enum nn_ready {
	NN_NOT_STARTED,
	NN_READY,
	NN_TAKES_OVER, /* what is acknowledged was sent by another congestion control's window */
};

#define NN_FRESH_CWND 10u /* RFC 6928 */
#define NN_OWN_WORDS 7

struct nn_flow {
	struct nn_window win;
	struct nn_rtt rtt;
	struct nn_round round;
	u32 last_us; /* when the last ACK came */
	u32 drained; /* the kernel's RTT counts again for segments sent at or after this `delivered` count */
	u8 rtt_source : 2; /* enum nn_rtt_source */
	u8 recovery : 2; /* enum nn_recovery */
	u8 sub_packet : 1; /* is counted among the host's flows below one segment (siblings.h) */
	u8 ready : 2; /* enum nn_ready */
	u8 behind_fq : 1; /* the sender shim's, which has no room of its own: no deadline can be disregarded */
	u8 share; /* of a group's rate, as siblings/group.h encodes it; 0: none */
	u16 last_rtt; /* of the ACK before, 64 us; 0: it told none (service_time.h) */
	u32 own[NN_OWN_WORDS]; /* of one core alone, which gives it a type with NN_CORE_STATE */
};

/* Linux keeps 104 bytes a connection for its congestion control; this is what the common part leaves. */
#define NN_CORE_STATE(type, name)                                                                                      \
	_Static_assert(sizeof(struct type) <= sizeof(((struct nn_flow *)0)->own), "does not fit nn_flow.own");         \
	nn_inline struct type *name(struct nn_flow *flow)                                                              \
	{                                                                                                              \
		return (struct type *)flow->own;                                                                       \
	}

struct nn_siblings;

nn_inline void nn_round_begin(struct nn_round *round, u32 delivered, u32 now_us)
{
	round->end = delivered;
	round->start_us = now_us;
	round->credit = delivered;
	round->seen = 0;
	round->slow = 0;
	round->min_rtt = NN_NEVER;
	round->max_rtt = 0;
}

/* One condition, not two: a compiler then has one branch. */
nn_inline bool nn_round_over(const struct nn_round *round, const struct nn_ack *ack)
{
	return (ack->acked > 0) & nn_reached(ack->sent_delivered, round->end);
}

nn_inline void nn_round_count(struct nn_round *round, const struct nn_ack *ack, u32 rtt_us, bool slow)
{
	round->seen = nn_add_saturating(round->seen, ack->acked);
	round->slow = nn_add_saturating(round->slow, ack->acked & (0u - slow));
	round->min_rtt = nn_min(round->min_rtt, rtt_us);
	round->max_rtt = nn_max(round->max_rtt, rtt_us);
}

/* Below one segment a round holds less than a pair, and the flow asks the path rather than uses it. */
nn_inline bool nn_is_sub_packet(const struct nn_flow *flow)
{
	return flow->win.w < NN_ONE;
}

/* Nothing is missing, the kernel tells the RTT, and W >= 1: all of one byte, so one comparison tells. */
nn_inline bool nn_is_settled(const struct nn_flow *flow)
{
	return flow->rtt_source == NN_RTT_OF_KERNEL && flow->recovery == NN_OPEN && !flow->sub_packet &&
	       flow->ready == NN_READY;
}

/* A window that was not used, that another congestion control set, or of which a part is missing, has not been tried. */
nn_inline bool nn_may_grow(const struct nn_flow *flow, const struct nn_ack *ack)
{
	return flow->recovery != NN_REDUCED && flow->ready == NN_READY && !(ack->flags & NN_APP_LIMITED);
}

/* Slow start on this ACK's segments, which then do not count for congestion avoidance too. */
nn_inline void nn_flow_slow_start(struct nn_flow *flow, const struct nn_ack *ack)
{
	nn_slow_start(&flow->win, ack->acked);
	flow->round.credit = ack->delivered;
}

#define NN_INITIAL_WINDOW 2u /* segments, of a core that lists none: RFC 5681's */

nn_inline u32 nn_initial_window(nn_params p)
{
	u32 segments = p[NN_P_initial_window];

	return (segments ? nn_min(segments, 10) : NN_INITIAL_WINDOW) << NN_SHIFT; /* RFC 6928's ten at most */
}

nn_inline void nn_flow_init(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	flow->win.floor = (u16)nn_min(nn_max(p[NN_P_min_window], 1), 0xffff);
	flow->win.ssthresh = NN_MAX_WINDOW;
	flow->win.prior_w = 0;
	flow->win.turn = 0;
	flow->win.asking = 0;
	nn_window_set(&flow->win, nn_initial_window(p));
	nn_rtt_init(&flow->rtt, now_us, srtt_us);
	nn_round_begin(&flow->round, delivered, now_us);
	flow->last_us = now_us;
	flow->drained = delivered;
	flow->rtt_source = NN_RTT_OF_KERNEL;
	flow->recovery = NN_OPEN;
	flow->share = 0;
	flow->last_rtt = 0;
	flow->ready = NN_READY;
	for (int i = 0; i < NN_OWN_WORDS; i++)
		flow->own[i] = 0;
}

/* The flow goes on where another algorithm of ours left it, with its base RTT and with its window if that was large. */
nn_inline void nn_flow_resume(struct nn_flow *flow, u32 base_us, u32 cwnd)
{
	if (!base_us)
		return;
	flow->rtt.min = base_us;
	flow->rtt.recent_min = base_us;
	flow->rtt.max = base_us > NN_NEVER / 2 ? NN_NEVER : 2 * base_us;
	if (flow->rtt.smoothed < base_us)
		flow->rtt.smoothed = base_us;
	if (cwnd <= NN_FRESH_CWND)
		return;
	nn_window_set(&flow->win, (u64)cwnd << NN_SHIFT);
	flow->win.ssthresh = flow->win.w;
}

/* Reno's answer to the kernel's loss recovery going from one state to another: each reduction once. */
nn_inline void nn_reno_answer(struct nn_window *win, u32 from, u32 to)
{
	if (to == NN_TIMEOUT && from == NN_TIMEOUT)
		nn_collapse_again(win);
	else if (to == NN_TIMEOUT)
		nn_collapse(win);
	else if (to == NN_REDUCED && from == NN_OPEN)
		nn_reduce(win);
}

nn_inline void nn_flow_recovery(struct nn_flow *flow, u32 state)
{
	nn_reno_answer(&flow->win, flow->recovery, state);
	flow->recovery = state;
}

/* The sender wakes after silence: what it knew of the path is old, by half with every timeout (RFC 2861, as Linux). */
nn_inline void nn_flow_restart(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered)
{
	u32 initial = nn_initial_window(p);
	u32 timeout = nn_add_saturating(200000, flow->rtt.smoothed); /* Linux's least RTO, about */
	u32 idle = now_us - flow->last_us, left = flow->win.w >> nn_min(idle / timeout, 31);

	if (idle < timeout || flow->win.w <= initial) /* also between two pairs */
		return;
	nn_round_begin(&flow->round, delivered, now_us);
	flow->win.ssthresh = nn_max(flow->win.w / 4 * 3, initial);
	nn_window_set(&flow->win, nn_max(left, initial));
}

/* All hooks but on_ack (sender/hooks.h), for cores that start, lose, wake and undo as Reno does, and know of no siblings. */
#define NN_CORE_AS_RENO(core)                                                                                          \
	nn_inline void core##_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)      \
	{                                                                                                              \
		nn_flow_init(flow, p, now_us, delivered, srtt_us);                                                     \
	}                                                                                                              \
	nn_inline void core##_on_recovery(struct nn_flow *flow, u32 state)                                             \
	{                                                                                                              \
		nn_flow_recovery(flow, state);                                                                         \
	}                                                                                                              \
	NN_CORE_GOES_ON_AS_RENO(core)                                                                                  \
	NN_CORE_ALONE(core)

/* Those of silence and of an undo alone. */
#define NN_CORE_GOES_ON_AS_RENO(core)                                                                                  \
	nn_inline void core##_on_restart(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered)                 \
	{                                                                                                              \
		nn_flow_restart(flow, p, now_us, delivered);                                                           \
	}                                                                                                              \
	nn_inline void core##_on_undo(struct nn_flow *flow)                                                            \
	{                                                                                                              \
		nn_undo(&flow->win);                                                                                   \
	}

/* That of siblings, for cores that know of none: on_ack has done all that there is to do at a round's end. */
#define NN_CORE_ALONE(core)                                                                                            \
	enum { core##_has_siblings = 0 };                                                                              \
	nn_inline void core##_on_round_end(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,                \
					   const struct nn_siblings *siblings)                                         \
	{                                                                                                              \
		(void)flow, (void)p, (void)ack, (void)siblings;                                                        \
	}

#endif
