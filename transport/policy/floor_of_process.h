/* SPDX-License-Identifier: GPL-2.0 */
/* The floors of processes, each from its first process to its last. For the object of niceness. */
#ifndef NN_POLICY_FLOOR_OF_PROCESS_H
#define NN_POLICY_FLOOR_OF_PROCESS_H

#include "floors.h"
#include "niceness.h"

#define FLOOR_OF_PROCESSES (1ull << 63) /* of its number: cgroups' floors are numbered as the cgroups */

/* The number of a process' floor. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NICENESS_PROCESSES);
	__type(key, u32);
	__type(value, u64);
} floored SEC(".maps");

/* The last of its processes takes it along. */
static __noinline int leave_floor(u32 process)
{
	u64 *found = bpf_map_lookup_elem(&floored, &process), number;
	struct floor *floor;

	if (!found)
		return 0;
	number = *found;
	bpf_map_delete_elem(&floored, &process);
	floor = bpf_map_lookup_elem(&floors, &number);
	if (floor && __sync_fetch_and_add(&floor->members, -1) == 1)
		bpf_map_delete_elem(&floors, &number);
	return 0;
}

/* A process joins that of another. */
static __noinline int join_floor(u32 from, u32 process)
{
	u64 *found = bpf_map_lookup_elem(&floored, &from), number;
	struct floor *floor = found ? bpf_map_lookup_elem(&floors, found) : 0;

	if (!floor)
		return -1;
	number = *found;
	__sync_fetch_and_add(&floor->members, 1);
	if (!bpf_map_update_elem(&floored, &process, &number, BPF_ANY))
		return 0;
	__sync_fetch_and_add(&floor->members, -1);
	return -1;
}

/* A floor of this rate, with one process. */
static __noinline int begin_floor(u32 process, u32 rate)
{
	u64 number = bpf_ktime_get_boot_ns() | FLOOR_OF_PROCESSES;
	struct floor floor = { .rate = rate, .members = 1 };

	leave_floor(process);
	if (!rate)
		return 0;
	if (bpf_map_update_elem(&floors, &number, &floor, BPF_NOEXIST))
		return -1;
	if (!bpf_map_update_elem(&floored, &process, &number, BPF_ANY))
		return 0;
	bpf_map_delete_elem(&floors, &number);
	return -1;
}

/* A process has that of another, instead of its own. */
static __always_inline int give_floor(u32 from, u32 process)
{
	leave_floor(process);
	return join_floor(from, process);
}

/* That of a cgroup, for all that is in it and below. */
static __noinline int begin_floor_of_cgroup(u64 cgroup, u32 rate)
{
	struct floor floor = { .rate = rate, .members = 1 };

	return bpf_map_update_elem(&floors, &cgroup, &floor, BPF_ANY);
}

/* kbit/s; 0: none. */
static __always_inline u32 rate_of_process(u32 process)
{
	u64 *number = bpf_map_lookup_elem(&floored, &process);
	struct floor *floor = number ? bpf_map_lookup_elem(&floors, number) : 0;

	return floor ? floor->rate : 0;
}

#endif
