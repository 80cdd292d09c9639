// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver shim for the connections of a cgroup: all of them yield, and no other socket of the machine runs any of
 * this. Attached to each level's cgroup; connection.h says what it does.
 */
#include "connection.h"
#include "../policy/moved.h"

static __always_inline bool wanted(struct bpf_sock *sk)
{
	return !is_moved(sk);
}

SEC("sockops")
int connection(struct bpf_sock_ops *ops)
{
	return event(ops);
}
