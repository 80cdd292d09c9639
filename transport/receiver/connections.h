/* SPDX-License-Identifier: GPL-2.0 */
/* What the objects of the receiver share: the connections that yield, by socket, and sums of them. */
#ifndef NN_CONNECTIONS_H
#define NN_CONNECTIONS_H

#include "../../algorithms/siblings/downloads.h"
#include "state.h"

char _license[] SEC("license") = "GPL";

struct receiver_counters nn_receiver_counters;

struct nn_downloads nn_downloads;

/* They have a rate together, too. */
struct nn_group nn_all_downloads;

/* Whose connection it is, found at its first ACK: siblings are a user's. */
static __always_inline void own(struct nn_receiver *flow, const struct sock *sk)
{
	if (nn_likely(flow->space))
		return;
	flow->user = sk->sk_uid.val;
	flow->space = sk->__sk_common.skc_net.net->ns.inum;
}

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

#endif
