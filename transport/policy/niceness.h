/* SPDX-License-Identifier: GPL-2.0 */
/* What the niceness of processes and the programs that refuse QUIC share: with the loader, and maps with each other. */
#ifndef NN_POLICY_NICENESS_H
#define NN_POLICY_NICENESS_H

#include "../../algorithms/niceness/call.h"
#include "../../algorithms/niceness/rule.h"
#include "group.h"

/* A mebibyte of memory. A full map refuses new processes; it never drops an old one. */
#define NICENESS_PROCESSES 65536
#define NICENESS_NUMBERS (4 << 20) /* the kernel numbers no process higher: PID_MAX_LIMIT */
#define NICENESS_CGROUPS 4096 /* attached at a time */
#define NICENESS_DEPTHS 32 /* as many as have a bit of `depths`: cgroups are hardly ever ten deep */

enum attached_bit {
	ATTACHED_BY_RULE = 1 << 16, /* beside its niceness: a rule said so, and not an administrator by hand */
	ATTACHED_FLOOR = 1 << 18, /* it has a floor, whose number is the cgroup's id */
	ATTACHED_PENDING = 1 << 17, /* what runs in it is yet to be switched; without a niceness: to be given back */
};

/* What the loader chooses; the object's .data. */
struct niceness_choices {
	u32 marks; /* 0 after an up with --no-mark */
	u32 set; /* of the two sets of rules the one that holds; the loader writes the other */
	u32 rules[2]; /* the number of rules of each set */
	u32 depths; /* below the root, a bit each, in which cgroups are attached: other depths cost no look-up */
};

struct niceness_counters {
	struct policy_counters connections; /* of processes that are nice by themselves */
	u64 refused; /* processes that stayed in the foreground because the map was full */
};

struct quic_counters {
	u64 refused; /* datagrams, and connections of UDP sockets */
};

#ifdef __bpf__
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

#endif
