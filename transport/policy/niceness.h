/* SPDX-License-Identifier: GPL-2.0 */
/* What the niceness of processes shares with the loader. */
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
	ATTACHED_UNREACHED = 1 << 17, /* what runs in it is yet to be switched; without a niceness: to be given back */
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

#endif
