/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fuzzes every receiver with arbitrary segments, ACKs and parameters, under AddressSanitizer and
 * UndefinedBehaviorSanitizer: no overflow, no division by zero, never a window of 0.
 */
#include <stdlib.h>

#include "../../receiver/receiver.h"
#include "input.h"

static const u32 defaults[NN_RECEIVER_COUNT][NN_RECEIVER_PARAM_COUNT] = NN_RECEIVER_ROWS;

static void arrive(struct nn_receiver *flow, nn_receiver_params p, u32 chosen, struct input *in)
{
	struct nn_receiver_siblings siblings = {
		.numbers = take(in, 1),
		.last = take(in, 1),
		.last_us = take(in, 4),
		.other_us = take(in, 4),
		.count_us = take(in, 4),
		.counted = take(in, 4),
		.flows = take(in, 4),
		.windows = (u64)take(in, 4) << take(in, 1) % 32,
		.window = take(in, 4),
	};
	struct nn_downloads downloads = { 0 };
	struct nn_segment seg;

	for (size_t i = 0; i < sizeof(seg) / sizeof(u32); i++)
		((u32 *)&seg)[i] = take(in, sizeof(u32));
	seg.bytes = seg.bytes % (1 << 20) + 1; /* what the shim lets through */
	seg.segments = seg.segments % 65536 + 1;
	downloads.of[0] = siblings;
	nn_receiver_arrival(flow, &downloads, p, chosen, &seg);
}

static void acknowledge(struct nn_receiver *flow, struct input *in)
{
	struct nn_leaving ack = { take(in, 4), take(in, 4), take(in, 4) };
	u32 window = nn_receiver_ack(flow, &ack);

	if (flow->algorithm && (!window || window > 1u << 30))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nn_receiver flow;
	struct input in = { data, size };
	u32 chosen = take(&in, 1) % (NN_RECEIVER_COUNT + 1);
	u32 p[NN_RECEIVER_PARAM_COUNT];

	memset(&flow, 0, sizeof(flow));
	memcpy(p, defaults[chosen % NN_RECEIVER_COUNT], sizeof(p));
	if (take(&in, 1) & 1)
		p[take(&in, 1) % NN_RECEIVER_PARAM_COUNT] = take(&in, 4);
	while (in.left) {
		switch (take(&in, 1) % 8) {
		case 0:
			chosen = take(&in, 1) % (NN_RECEIVER_COUNT + 1); /* at any time of its life */
			break;
		case 1:
		case 2:
			acknowledge(&flow, &in);
			break;
		default:
			arrive(&flow, p, chosen, &in);
		}
	}
	return 0;
}
