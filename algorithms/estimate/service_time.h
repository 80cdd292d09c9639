/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The service time of a full segment at the bottleneck: how far apart two ACKs came whose segments had left together
 * (packet pair: Keshav, SIGCOMM 1991). Send times are the ACKs' less their RTTs. What came between the two makes it too
 * long, a compressed ACK too short: the estimate halves its way down and creeps up, which errs on the side of yielding. It
 * is never above a segment's part of a round: pairs that a download came between told 7 ms where a segment took 1.2, and
 * eight of them, the flow's own queue, hid the download. With that bound alone an upload gives way in 8 round trips;
 * without, in every fourth run, in 50. A bound by the queue that pairs met as well left no late start in 25, but an equal
 * rival, Vegas, 62 % of the path for 57.
 * An ACK of one segment may have been delayed, except at a connection's start, and those of short messages always. A flow
 * below one segment learns nothing later: its pairs are acknowledged as one.
 */
#ifndef NN_SERVICE_TIME_H
#define NN_SERVICE_TIME_H

#include "../common/verifier.h"
#include "../common/flow.h"

#define NN_SERVICE_US 512u /* unit: seven bits hold 65 ms, a full segment at 180 kbit/s */
#define NN_SERVICE_MOST 127u
#define NN_SERVICE_SURE 128u /* two samples told it: one may be of a delayed ACK, or of what came between */
#define NN_LAST_RTT_SHIFT 6u /* unit of last_rtt: 64 us */
#define NN_TOGETHER 4u /* left within a quarter of what they came apart */
#define NN_QUICK 12u /* segments that Linux's receivers acknowledge at once (TCP_MAX_QUICKACKS is 16) */

/* Is a segment's time known, and of a unit at least? */
nn_inline bool nn_service_is_slow(u32 known)
{
	return known > NN_SERVICE_SURE;
}

/* Of a slow bottleneck, us. */
nn_inline u32 nn_service_us(u32 known)
{
	return (known & NN_SERVICE_MOST) * NN_SERVICE_US;
}

/* Without a branch, as all that leads here has many: see verifier.h. */
nn_inline u32 nn_service_next(const struct nn_flow *flow, u32 known, u32 sample)
{
	u32 told = nn_less(0, known), sure = known / NN_SERVICE_SURE;
	u32 best = (known & NN_SERVICE_MOST) | (sample & ~told);
	u32 down = (nn_sub_saturating(best, sample) + sure) >>
		   sure; /* all the way from the first sample, half of it later */
	/* below one segment samples are the ones that others came between */
	u32 up = nn_less(best, sample) & ~nn_less(flow->win.w, NN_ONE) & sure;

	/* 0 stays unknown: faster than a unit, where nobody asks */
	return nn_lesser(best - down + up, NN_SERVICE_MOST) | (told & NN_SERVICE_SURE);
}

/* What an ACK tells of the service time, in words: one of a fast path is done with before any of it. */
struct nn_told {
	u32 spacing, rtt; /* us since the ACK before; rtt 0: it tells none */
	u32 acked, delivered; /* segments: by this ACK, and by all of the connection */
};

/* All ones if two segments that left together tell their time by this ACK, else zero. */
nn_inline u64 nn_service_told(const struct nn_told *told, u32 before)
{
	u32 apart =
		told->spacing + (before << NN_LAST_RTT_SHIFT) - told->rtt; /* their segments, when they left; wraps */
	u32 quarter = told->spacing / NN_TOGETHER;
	u32 late = nn_less(NN_QUICK, told->delivered) & 1;

	return nn_less(0, before) & nn_less(0, told->rtt) & nn_less(late, told->acked) &
	       nn_less(apart + quarter, 2 * quarter + 1);
}

/*
 * A round is over, which takes an RTT at least: none of its segments took longer at the bottleneck than its part of it,
 * in whole units and the one that was begun.
 */
nn_inline u32 nn_service_bound(const struct nn_flow *flow, const struct nn_ack *ack, u32 known)
{
	u32 us = nn_greater(ack->now_us - flow->round.start_us, flow->rtt.min);
	u32 part = us / nn_greater(ack->delivered - flow->round.end, 1) / NN_SERVICE_US;

	return (known & NN_SERVICE_SURE) | nn_lesser(known & NN_SERVICE_MOST, part + (nn_less(0, part) & 1));
}

/* Out of line, and all by value: every ACK's way past it stays short, and the ACK in registers. */
__attribute__((pure)) nn_rare u32 nn_service_learn(const struct nn_flow *flow, u32 known, u32 before, u64 times,
						   u64 counts)
{
	struct nn_told told = { times >> 32, (u32)times, counts >> 32, (u32)counts };

	if (!nn_service_told(&told, before))
		return known;
	return nn_service_next(flow, known, nn_lesser(told.spacing / told.acked / NN_SERVICE_US, NN_SERVICE_MOST));
}

/* What is known of the service time after this ACK; `rtt` 0: it tells none. To be called for every ACK. */
nn_inline u32 nn_service_time(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt, u32 known)
{
	u32 before = flow->last_rtt, spacing = ack->now_us - flow->last_us;

	flow->last_rtt = nn_min(rtt >> NN_LAST_RTT_SHIFT, 0xffff);
	/* a fast path's ACKs, nearly all, go past: less than a unit, as is known */
	if (!nn_unlikely(spacing / NN_SERVICE_US >= ack->acked || known & NN_SERVICE_MOST))
		return known;
	return nn_service_learn(flow, known, ack->flags & NN_APP_LIMITED ? 0 : before, (u64)spacing << 32 | rtt,
				(u64)ack->acked << 32 | ack->delivered);
}

#endif
