/* SPDX-License-Identifier: GPL-2.0 */
/* What the program for connections without a descriptor shares with the loader. */
#ifndef NN_POLICY_WAITING_H
#define NN_POLICY_WAITING_H

#include "../../algorithms/common/types.h"

#define WAITING_SOCKETS 4096
#define WAITING_CONNECTIONS 65536

/* What they become; written before loading. */
struct waiting_choices {
	u8 cc_name[16]; /* as setsockopt(TCP_CONGESTION) takes it; foreground: for sockets without a note (before.h) */
	u32 rank; /* of cc_name, as nn_niceness_rank() counts them; 0: it is the foreground's */
	u32 only_nicer; /* 1: those that yield more already stay as they are */
	u32 mark; /* 1: they are marked */
	u32 unmark; /* 1: they are not, where the mark is netnice's */
	u32 receive; /* 1: what they receive yields */
	u32 release; /* 1: it does not */
};

struct waiting_counters {
	u64 done; /* as chosen now */
	u64 refused; /* the kernel would not have them on cc_name */
	s64 reason; /* why, of the last: an errno below 0 */
	u64 unjoined; /* their incoming traffic cannot yield */
};

#endif
