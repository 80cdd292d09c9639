// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "sender/connection.h"

static u32 rows[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

static struct nn_places places;

struct nn_core {
	u32 algorithm;
	struct nn_destination to;
	struct nn_flow flow;
};

static const char *const names[] = {
#define NAME(name, ...) #name,
	NN_ALGORITHMS(NAME)
#undef NAME
};

int nn_core_row(const char *name)
{
	for (int row = 0; row < NN_ALGORITHM_COUNT; row++)
		if (!strcmp(names[row], name))
			return row;
	return -1;
}

bool nn_core_set(int row, const char *values)
{
	for (int i = 0; i < NN_PARAM_COUNT; i++) {
		char *end;

		rows[row][i] = (u32)strtoul(values, &end, 10);
		if (end == values || *end != (i + 1 < NN_PARAM_COUNT ? ',' : '\0'))
			return false;
		values = end + 1;
	}
	return true;
}

struct nn_core *nn_core_new(int row)
{
	struct nn_core *core = calloc(1, sizeof(*core));

	if (core)
		core->algorithm = core->to.algorithm = (u32)row;
	return core;
}

static struct nn_connection connection(struct nn_core *core)
{
	struct nn_connection c = { &core->flow, rows[core->algorithm], &places, &core->to };

	return c;
}

void nn_core_start(struct nn_core *core, const struct nn_ack *first, u32 srtt_us, struct nn_send *send)
{
	struct nn_connection c = connection(core);
	struct nn_beginning beginning = { .srtt_us = srtt_us };

	nn_connection_start(core->algorithm, &c, first, &beginning, send);
}

bool nn_core_acked(struct nn_core *core, const struct nn_ack *ack, struct nn_send *send)
{
	struct nn_connection c = connection(core);

	return nn_connection_ack(core->algorithm, &c, ack, send);
}

bool nn_core_started(const struct nn_core *core)
{
	return core->flow.ready;
}

void nn_core_recovery(struct nn_core *core, enum nn_recovery state, u32 now_us, u32 delivered)
{
	struct nn_connection c = connection(core);

	nn_connection_recovery(core->algorithm, &c, state, now_us, delivered);
}

void nn_core_restart(struct nn_core *core, u32 now_us, u32 delivered)
{
	struct nn_connection c = connection(core);

	nn_connection_restart(core->algorithm, &c, now_us, delivered);
}

u32 nn_core_ssthresh(const struct nn_core *core)
{
	return nn_connection_ssthresh(&core->flow);
}

u32 nn_core_window(const struct nn_core *core)
{
	return core->flow.win.w;
}
