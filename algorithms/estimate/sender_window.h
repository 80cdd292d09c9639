/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sender's window as its receiver sees it (Vulture, algorithm 6). It is the bytes received, minus those acknowledged
 * before the ACK that triggered the newest arrival. The arrival echoes that ACK's timestamp.
 */
#ifndef NN_SENDER_WINDOW_H
#define NN_SENDER_WINDOW_H

#include "../receiver/flow.h"

#define NN_ACKS_A_SEGMENT 8

/* Forget the ACKs that are older than the one which triggered this arrival. */
nn_rare void nn_forget_acks(struct nn_receiver *flow, u32 tsecr)
{
#pragma clang loop unroll(disable) /* short code: most find one ACK or none */
	for (int i = 0; i < NN_ACKS_A_SEGMENT; i++) {
		const struct nn_sent_ack *oldest = &flow->acks[flow->head % NN_ACKS];

		if (flow->head == flow->tail || (s32)(tsecr - oldest->clock) <= 0) {
			flow->echoed = tsecr;
			return;
		}
		flow->estimate -= nn_min(oldest->bytes, flow->estimate);
		flow->head++;
	}
}

nn_inline void nn_sender_window_on_arrival(struct nn_receiver *flow, const struct nn_segment *seg)
{
	flow->estimate = nn_min(flow->estimate + seg->bytes, NN_RECEIVER_MOST);
	if (nn_unlikely(seg->tsecr != flow->echoed)) /* an ACK sent since is not older than an echo */
		nn_forget_acks(flow, seg->tsecr);
}

nn_rare void nn_append_ack(struct nn_receiver *flow, u32 clock, u32 bytes)
{
	struct nn_sent_ack *ack;

	if (flow->tail - flow->head >= NN_ACKS) {
		flow->acks[(flow->tail - 1) % NN_ACKS].bytes += bytes;
		return;
	}
	ack = &flow->acks[flow->tail % NN_ACKS];
	ack->clock = clock;
	ack->bytes = bytes;
	flow->tail++;
}

/* An ACK of so many bytes leaves. */
nn_inline void nn_sender_window_on_leaving(struct nn_receiver *flow, u32 clock, u32 bytes)
{
	struct nn_sent_ack *newest = &flow->acks[(flow->tail - 1) % NN_ACKS];

	if (nn_likely(newest->clock == clock && flow->head != flow->tail))
		newest->bytes += bytes;
	else
		nn_append_ack(flow, clock, bytes);
}

#endif
