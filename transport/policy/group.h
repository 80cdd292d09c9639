/* SPDX-License-Identifier: GPL-2.0 */
/* What the policy keeps of each cgroup; the loader writes the choices, and reads the counters. */
#ifndef NN_POLICY_GROUP_H
#define NN_POLICY_GROUP_H

#include "../../algorithms/common/types.h"

/* Events since up. */
struct policy_counters {
	u64 active; /* connections opened by the cgroup's processes */
	u64 passive; /* connections they accepted */
	u64 cc_failed; /* sockets left on their old congestion control */
	u64 marked; /* sockets marked DSCP LE */
	u64 mark_failed; /* sockets that should have been marked and could not be */
	u64 mapped_unmarked; /* v4-mapped IPv6 sockets that the kernel is too old to mark */
};

struct policy_group {
	u8 cc_name[16]; /* as setsockopt(TCP_CONGESTION) takes it; empty until the choices are written */
	u64 mark_le; /* 0 or 1 */
	struct policy_counters counters;
};

#endif
