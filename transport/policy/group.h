/* SPDX-License-Identifier: GPL-2.0 */
/* What the policy keeps of each cgroup; the loader writes the choices, and reads the counters. */
#ifndef NN_POLICY_GROUP_H
#define NN_POLICY_GROUP_H

#include "../../algorithms/common/types.h"

/* The marks of background, as IP_TOS or IPV6_TCLASS and as SO_PRIORITY take them. */
enum policy_mark {
	POLICY_TOS = 0x04, /* DSCP LE, 000001 (RFC 8622), above the two ECN bits */
	POLICY_PRIORITY = 257, /* of 802.1d's, 256 to 263: the last band of pfifo_fast and fq, and of Wi-Fi's */
};

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
