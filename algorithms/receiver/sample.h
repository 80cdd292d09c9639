/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What came since the last ACK, as one joined segment (segment.h): from what TCP has counted and noted when an ACK is about
 * to leave. No program runs for a packet, so other connections pay nothing.
 *
 * The times of all segments but the newest are lost: of every second one, as TCP acknowledges them by twos. In order, bytes
 * are counted: TCP's count of segments has those that wait until a reader lets go of its socket. Behind a hole TCP counts
 * segments and not bytes. All are taken to be full, and the excess is subtracted later.
 *
 * TCP notes when each segment comes, and the timer of delayed ACKs overwrites that. An ACK may leave jiffies after its data,
 * just as TCP has read the clock. Its time is then taken from the jiffy in which the data came, which began as many jiffies
 * ago as the timer's own. The error is at most half a jiffy: 2 ms, where a second has 250 of them.
 */
#ifndef NN_RECEIVER_SAMPLE_H
#define NN_RECEIVER_SAMPLE_H

#include "../common/division.h"
#include "segment.h"

#define NN_LATE_JIFFIES 2 /* no delayed ACK waits less */
#define NN_JUST_NOW_US 500 /* so recently the timer has looked at the clock; what was read late is older */

/* TCP's, as an ACK is about to leave. */
struct nn_noted {
	u64 came_us; /* when the newest segment came, microseconds of our clock */
	u64 now_us;
	u32 jiffies; /* since the newest data in order */
	u32 jiffy_us;
	u32 segments; /* that carried data, since the connection began, wraps */
	u32 next; /* sequence number expected */
	u32 mss; /* bytes: of a full segment */
	u32 gap; /* something has come from behind a hole */
	u32 stamped; /* the newest segment had a timestamp, of these values: */
	u32 tsval;
	u32 tsecr; /* milliseconds of our clock, */
	u32 fine; /* or microseconds */
};

/* TCP's, at the last sample. */
struct nn_counted {
	u32 segments, next;
	u32 gap;
	u32 behind; /* bytes told of that are beyond `next`: those from behind the first hole */
};

/* Our clock's millisecond that is echoed, us. */
nn_inline u32 nn_echo_us(const struct nn_noted *tcp)
{
	u64 sent_us = tcp->came_us - (u32)((u32)tcp->came_us - tcp->tsecr);

	return nn_unlikely(tcp->fine) ? (u32)nn_thousandth(sent_us) * 1000 : tcp->tsecr * 1000;
}

nn_rare u64 nn_came_late_us(const struct nn_noted *tcp)
{
	if (tcp->gap || tcp->now_us - tcp->came_us > NN_JUST_NOW_US)
		return tcp->came_us;
	return tcp->came_us - (u64)tcp->jiffies * tcp->jiffy_us + tcp->jiffy_us / 2;
}

/* Of so many bytes, the last perhaps not full. */
nn_inline u32 nn_full_segments(u32 bytes, u32 mss)
{
	if (bytes <= 2 * mss) /* spares most samples the division */
		return 1 + (bytes > mss);
	return (bytes - 1) / nn_max(mss, 1) + 1;
}

/* Behind a hole, what fills one, or after one of which too much was told. */
nn_rare void nn_sample_gap(struct nn_counted *last, const struct nn_noted *tcp, struct nn_segment *seg)
{
	u32 advanced = tcp->next - last->next, told = nn_min(last->behind, advanced);

	seg->segments = tcp->segments - last->segments;
	seg->bytes = nn_max(tcp->gap ? seg->segments * tcp->mss : 0, advanced - told);
	seg->segments = nn_max(seg->segments, nn_full_segments(seg->bytes, tcp->mss));
	if (!tcp->gap && !last->gap)
		seg->seq = tcp->next - seg->bytes;
	else if (last->gap && advanced)
		seg->seq = last->next; /* sent again */
	else
		seg->seq = last->next + tcp->mss + last->behind;
	last->behind += seg->bytes - advanced;
	last->gap = tcp->gap;
}

/* False: nothing came. */
nn_inline bool nn_sample(struct nn_counted *last, const struct nn_noted *tcp, struct nn_segment *seg)
{
	u64 came_us = tcp->came_us;

	if (nn_unlikely(tcp->gap | last->gap | last->behind)) {
		nn_sample_gap(last, tcp, seg);
	} else {
		seg->bytes = tcp->next - last->next;
		seg->seq = last->next;
		seg->segments = nn_full_segments(seg->bytes, tcp->mss);
	}
	last->next = tcp->next;
	if (!seg->bytes)
		return false;
	last->segments = tcp->segments;
	if (nn_unlikely(tcp->jiffies >= NN_LATE_JIFFIES))
		came_us = nn_came_late_us(tcp);
	seg->now_us = (u32)came_us;
	seg->clock = (u32)nn_thousandth(came_us) * 1000;
	seg->stamped = tcp->stamped;
	seg->tsval = tcp->tsval;
	seg->tsecr = nn_echo_us(tcp);
	return true;
}

#endif
