/* SPDX-License-Identifier: GPL-2.0 */
/* The map of processes, asked only for those that are in it. For the object that writes it. */
#ifndef NN_POLICY_PROCESSES_H
#define NN_POLICY_PROCESSES_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "niceness.h"

/*
 * A bit a process number, set before the process is in `processes` and cleared when it ends. Without it every fork and
 * every socket would look up a process that is in no map. After a fork none of the map's lines is in the processor's cache.
 */
static u64 known[NICENESS_NUMBERS / 64] SEC(".bss.known");

static __always_inline u64 *known_word(u32 process)
{
	return &known[process / 64 % (NICENESS_NUMBERS / 64)];
}

static __always_inline u64 known_bit(u32 process)
{
	return 1ull << process % 64;
}

static __always_inline bool is_known(u32 process)
{
	return *known_word(process) & known_bit(process);
}

static __always_inline u32 *find(u32 process)
{
	return is_known(process) ? bpf_map_lookup_elem(&processes, &process) : 0;
}

static __always_inline long put(u32 process, u32 bits, u64 how)
{
	__sync_fetch_and_or(known_word(process), known_bit(process));
	return bpf_map_update_elem(&processes, &process, &bits, how);
}

#endif
