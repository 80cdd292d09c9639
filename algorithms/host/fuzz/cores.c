/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fuzzes every core with any samples whatever, under AddressSanitizer and UndefinedBehaviorSanitizer: no overflow, no
 * division by zero, a window within its bounds and something to send at.
 */
#include <stdlib.h>

#include "../replay.h"
#include "input.h"

static const u32 defaults[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

static void check(const struct nn_flow *flow, const struct nn_send *send)
{
	if (flow->win.w < flow->win.floor || !send->cwnd || !send->rate)
		abort();
}

static void on_ack(u32 algorithm, struct nn_flow *flow, nn_params p, struct input *in)
{
	struct nn_ack ack;
	struct nn_send send = { 0 };

	for (size_t i = 0; i < sizeof(ack) / sizeof(u32); i++)
		((u32 *)&ack)[i] = take(in, sizeof(u32));
	nn_dispatch_on_ack(algorithm, flow, p, &ack);
	nn_pace(flow, p, &ack, &send);
	check(flow, &send);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	u32 algorithm = take(&in, 1) % NN_ALGORITHM_COUNT;
	u32 p[NN_PARAM_COUNT];
	struct nn_flow flow;

	memcpy(p, defaults[algorithm], sizeof(p));
	if (take(&in, 1) & 1) /* parameters are an administrator's: anything may stand there */
		p[take(&in, 1) % NN_PARAM_COUNT] = take(&in, 4);
	nn_dispatch_init(algorithm, &flow, p, take(&in, 4), take(&in, 4), take(&in, 4));
	while (in.left) {
		switch (take(&in, 1) % 8) {
		case 0:
			nn_dispatch_recovery(algorithm, &flow, p, take(&in, 1) % 3);
			break;
		case 1:
			nn_flow_restart(&flow, p, take(&in, 4));
			break;
		case 2:
			nn_undo(&flow.win);
			break;
		default:
			on_ack(algorithm, &flow, p, &in);
		}
	}
	return 0;
}
