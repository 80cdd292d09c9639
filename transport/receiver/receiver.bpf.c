// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver shim for the connections of a cgroup: all of them yield, and no other socket of the machine runs any of
 * this. Attached as sockops and cgroup_skb/ingress to each level's cgroup; connection.h says what it does.
 */
#include "connection.h"

/* Sockets for which their cgroup no longer speaks: what they accept does not follow it either. The policy's map. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, u32);
} moved SEC(".maps");

static __always_inline bool wanted(struct bpf_sock *sk)
{
	return !sk || !bpf_sk_storage_get(&moved, sk, 0, 0);
}

SEC("cgroup_skb/ingress")
int arrival(struct __sk_buff *skb)
{
	return arrived(skb);
}

SEC("sockops")
int connection(struct bpf_sock_ops *ops)
{
	return event(ops);
}
