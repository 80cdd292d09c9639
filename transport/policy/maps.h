/* SPDX-License-Identifier: GPL-2.0 */
/* Maps that objects share: how nice a process is. */
#ifndef NN_POLICY_MAPS_H
#define NN_POLICY_MAPS_H

#include "niceness.h"

/* Of processes, by number in the first namespace: enum nn_niceness_bit. No entry: in the foreground. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NICENESS_PROCESSES);
	__type(key, u32);
	__type(value, u32);
} processes SEC(".maps");

/* Of cgroups, by id, for all that is in them and below: what `netnicectl attach` has written. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NICENESS_CGROUPS);
	__type(key, u64);
	__type(value, u32);
} attached SEC(".maps");

#endif
