/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replays recorded flows through the cores as clang compiles them for eBPF and the kernel's JIT runs them. A test compares
 * the windows with those of the host build. Never attached to anything.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "../../../algorithms/host/replay.h"

char _license[] SEC("license") = "GPL";

u32 nn_params_table[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

struct nn_replay_host nn_hosts[NN_ALGORITHM_COUNT];

struct nn_replay nn_step; /* not on the stack, or clang works on the context itself, which the verifier refuses */

/* A program a row, in the table's order: the stacks of all algorithms together are more than eBPF has. */
#define NN_ROW(name, ...)                                                                                              \
	SEC("syscall") int replay_##name(struct nn_replay *step)                                                       \
	{                                                                                                              \
		nn_step = *step;                                                                                       \
		nn_replay_of(NN_A_##name, &nn_hosts[NN_A_##name], nn_params_table[NN_A_##name], &nn_step);             \
		step->value = nn_step.value;                                                                           \
		step->window = nn_step.window;                                                                         \
		step->send.cwnd = nn_step.send.cwnd;                                                                   \
		step->send.rate = nn_step.send.rate;                                                                   \
		step->send.now = nn_step.send.now;                                                                     \
		return 0;                                                                                              \
	}
NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
