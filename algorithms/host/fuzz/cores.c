/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fuzzes every core with arbitrary samples and siblings, under AddressSanitizer and UndefinedBehaviorSanitizer. There is no
 * overflow and no division by zero, the window is within its bounds, and the pacing rate is above 0.
 */
#include <stdlib.h>

#include "../../sender/connection.h"
#include "input.h"

static const u32 defaults[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

static void check(const struct nn_flow *flow, const struct nn_send *send)
{
	if (flow->win.w < flow->win.floor || !send->cwnd || !send->rate)
		abort();
}

static struct nn_ack take_ack(struct input *in)
{
	struct nn_ack ack;

	for (size_t i = 0; i < sizeof(ack) / sizeof(u32); i++)
		((u32 *)&ack)[i] = take(in, sizeof(u32));
	return ack;
}

static void on_ack(u32 algorithm, const struct nn_connection *c, struct input *in)
{
	struct nn_ack ack = take_ack(in);
	struct nn_send send = { 0 };

	c->flow->share = (u8)take(in, 1);
	nn_connection_ack(algorithm, c, &ack, &send);
	check(c->flow, &send);
}

/* Counters are written without a lock, so anything may stand there. */
static void siblings(const struct nn_connection *c, struct input *in)
{
	struct nn_place *place = &c->places->place[take(in, 2) % (NN_SETS * NN_WAYS)];

	place->of = *c->to;
	place->turn = (u16)take(in, 2);
	place->flows = (u16)take(in, 2);
	place->flows_before = (u16)take(in, 2);
	place->asking = (u16)take(in, 2);
	place->window = take(in, 4);
}

static void start(u32 algorithm, const struct nn_connection *c, struct input *in)
{
	struct nn_ack ack = take_ack(in);
	struct nn_beginning beginning = { take(in, 4), take(in, 4), take(in, 4) };
	struct nn_send send = { 0 };

	nn_connection_start(algorithm, c, &ack, &beginning, &send);
	check(c->flow, &send);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	u32 algorithm = take(&in, 1) % NN_ALGORITHM_COUNT;
	u32 p[NN_PARAM_COUNT];
	struct nn_flow flow;
	static struct nn_places places;
	struct nn_destination to = { .network = { take(&in, 4) } };
	struct nn_connection c = { &flow, p, &places, &to };

	memset(&places, 0, sizeof(places));

	memcpy(p, defaults[algorithm], sizeof(p));
	if (take(&in, 1) & 1) /* parameters are an administrator's: anything may stand there */
		p[take(&in, 1) % NN_PARAM_COUNT] = take(&in, 4);
	start(algorithm, &c, &in);
	while (in.left) {
		switch (take(&in, 1) % 8) {
		case 0:
			nn_connection_recovery(algorithm, &c, take(&in, 1) % 3, take(&in, 4), take(&in, 4));
			break;
		case 1:
			nn_connection_restart(algorithm, &c, take(&in, 4), take(&in, 4));
			break;
		case 2:
			nn_connection_undo(algorithm, &c);
			break;
		case 3:
			siblings(&c, &in);
			break;
		default:
			on_ack(algorithm, &c, &in);
		}
	}
	return 0;
}
