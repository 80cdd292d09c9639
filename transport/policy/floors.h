/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A floor is a rate in each direction. While the connections of a command, of a unit or of a socket and what it accepts
 * have less together, they do not yield (algorithms/siblings/group.h). The eBPF objects share these maps.
 */
#ifndef NN_POLICY_FLOORS_H
#define NN_POLICY_FLOORS_H

#include "../../algorithms/siblings/group.h"

#define FLOORS 16384 /* at a time. A full map refuses new ones; it never drops an old one */

struct floor {
	u32 rate; /* kbit/s */
	u32 members; /* processes; of a cgroup's or a socket's floor one */
	struct nn_group sends, receives;
};

#ifdef __bpf__
/* By number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, FLOORS);
	__type(key, u64);
	__type(value, struct floor);
} floors SEC(".maps");

/* The number of a socket's floor. What a socket accepts inherits it. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, u64);
} floor_of SEC(".maps");

/* None: the connection has no floor, or the last process that had it has ended. `sk`: a socket as the program has it. */
static __always_inline struct floor *find_floor(void *sk)
{
	u64 *number = bpf_sk_storage_get(&floor_of, sk, 0, 0);

	return number ? bpf_map_lookup_elem(&floors, number) : 0;
}
#endif

#endif
