// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver shim for the connections of a cgroup: all of them yield, and no other socket of the machine runs any of
 * this. Attached as sockops and cgroup_skb/ingress to each level's cgroup; connection.h says what it does.
 */
#include "connection.h"
#include "../policy/moved.h"

static __always_inline bool wanted(struct bpf_sock *sk)
{
	return !is_moved(sk);
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
