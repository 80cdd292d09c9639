/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* replay_host IN OUT: record a stream of samples for every algorithm and replay it through the cores of a host build. */
#include <stdio.h>
#include <string.h>

#include "host/replay.h"

static u32 table[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;
static struct nn_replay_host hosts[NN_ALGORITHM_COUNT];
static uint64_t state = 20021209;

static u32 below(u32 bound)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(state >> 33) % bound;
}

/* Of a hundred events; a flow that has left may start again. */
static const uint8_t rare[] = { NN_REPLAY_RECOVERY, NN_REPLAY_RECOVERY, NN_REPLAY_RESTART, NN_REPLAY_UNDO,
				NN_REPLAY_LEAVE,    NN_REPLAY_START,	NN_REPLAY_START,   NN_REPLAY_START };

/* A path of 20 ms whose queue comes and goes, with losses, timeouts, undos and silence. */
static void record(u32 algorithm, int number, u32 *now, u32 *delivered, struct nn_replay *step)
{
	u32 kind = below(100);

	memset(step, 0, sizeof(*step));
	*now += below(8000);
	step->algorithm = algorithm;
	step->flow = below(NN_REPLAY_FLOWS);
	step->event = number && kind < sizeof(rare) ? rare[kind] : number ? NN_REPLAY_ACK : NN_REPLAY_START;
	step->value = step->event != NN_REPLAY_START ? below(3) : below(2) ? NN_LEGACY | 20000 : 0;
	step->ack.acked = below(5);
	*delivered += step->ack.acked;
	step->ack.now_us = *now;
	step->ack.delivered = *delivered;
	step->ack.sent_delivered = *delivered - below(20);
	step->ack.rtt_us = 20000 + (*now >> 20 & 1 ? below(30000) : below(500));
	step->ack.lost = below(16) ? 0 : below(40);
	step->ack.in_flight = below(40);
	step->ack.mss = 1448;
	step->ack.held_us = below(4) ? 0 : below(100000);
	step->ack.flags = below(16) ? 0 : below(16);
}

int main(int argc, char **argv)
{
	FILE *in = argc == 3 ? fopen(argv[1], "wb") : NULL, *out = argc == 3 ? fopen(argv[2], "wb") : NULL;
	struct nn_replay step;

	if (!in || !out)
		return 1;
	for (u32 algorithm = 0; algorithm < NN_ALGORITHM_COUNT; algorithm++) {
		u32 now = below(~0u), delivered = 0;

		for (int i = 0; i < 20000; i++) {
			record(algorithm, i, &now, &delivered, &step);
			fwrite(&step, sizeof(step), 1, in);
			nn_replay(&hosts[algorithm], table[algorithm], &step);
			fwrite(&step, sizeof(step), 1, out);
		}
	}
	return fclose(in) || fclose(out);
}
