/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replays recorded flows through the cores as clang compiles them for eBPF and the kernel's JIT runs them: a test holds
 * the windows to those of the host build. Never attached to anything.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "../../../algorithms/host/replay.h"

char _license[] SEC("license") = "GPL";

u32 nn_params_table[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

struct nn_flow nn_replayed;

SEC("syscall")
int replay(struct nn_replay *step)
{
	u32 algorithm = step->algorithm;
	struct nn_replay copy = *step;

	if (algorithm >= NN_ALGORITHM_COUNT)
		return -1;
	nn_replay(&nn_replayed, nn_params_table[algorithm], &copy);
	step->window = copy.window;
	step->send.cwnd = copy.send.cwnd;
	step->send.rate = copy.send.rate;
	step->send.now = copy.send.now;
	return 0;
}
