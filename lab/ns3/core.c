// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Every event goes through nn_replay(), the one step that the host build, the eBPF object and the module share. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "host/replay.h"
#include "siblings/word.h"

static u32 rows[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

static struct nn_word word; /* all flows go to one place */

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

struct nn_flow *nn_core_new(void)
{
	return calloc(1, sizeof(struct nn_flow));
}

static void step(struct nn_flow *flow, int row, u32 event, u32 value, const struct nn_ack *ack, struct nn_send *send)
{
	struct nn_replay replay = { .algorithm = (u32)row, .event = event, .value = value, .ack = *ack };

	nn_replay(flow, rows[row], &replay);
	if (send)
		*send = replay.send;
}

void nn_core_start(struct nn_flow *flow, int row, const struct nn_ack *first, struct nn_send *send)
{
	step(flow, row, NN_REPLAY_INIT, 0, first, send);
}

void nn_core_acked(struct nn_flow *flow, int row, const struct nn_ack *ack, struct nn_send *send)
{
	step(flow, row, NN_REPLAY_ACK, 0, ack, send);
}

void nn_core_recovery(struct nn_flow *flow, int row, enum nn_recovery state)
{
	struct nn_ack none = { 0 };

	step(flow, row, NN_REPLAY_RECOVERY, state, &none, NULL);
}

void nn_core_restart(struct nn_flow *flow, int row, u32 now_us)
{
	struct nn_ack now = { .now_us = now_us };

	step(flow, row, NN_REPLAY_RESTART, 0, &now, NULL);
}

void nn_core_tell(const struct nn_flow *flow, u32 now_us)
{
	nn_give_word(&word, flow, now_us);
}

u32 nn_core_told(u32 now_us)
{
	return nn_take_word(&word, now_us);
}

u32 nn_core_window(const struct nn_flow *flow)
{
	return flow->win.w;
}
