/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a socket had before it came to a level of netnice: `off`, `detach` and `down` give it back. Written before a level's
 * congestion control is chosen, and when netnice replaces a mark that the program has set since (keep.h). An ordinary user who
 * switches a socket in use cannot write here: of such a socket only the mark is known.
 */
#ifndef NN_POLICY_BEFORE_H
#define NN_POLICY_BEFORE_H

#include "../../algorithms/common/types.h"

struct socket_before {
	u8 cc_name[16]; /* as getsockopt(TCP_CONGESTION) gives it; empty: not known */
	u32 priority; /* SO_PRIORITY */
	u8 tos; /* IP_TOS */
	u8 traffic_class; /* IPV6_TCLASS; of an IPv4 socket 0 */
	u8 marked; /* 1: netnice has marked it, and puts the mark back */
	u8 unused;
};

#ifdef __bpf__
/* By socket; of an MPTCP connection also by its program's socket. What a socket accepts inherits it. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct socket_before);
} before SEC(".maps");
#endif

#endif
