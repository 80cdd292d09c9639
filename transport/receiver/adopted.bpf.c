// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver shim for sockets of any cgroup, one by one: those whose process is nice, and those whose application says so
 * itself. connection.h says what happens to them; here it does so with connections of its own, so that no socket is handled
 * twice. Attached to the root of the cgroups; a connection that does not yield runs it at its start, and for no packet.
 */
#include "connection.h"
#include "join.h"
#include "wishes.h"

/* The wish for an MPTCP connection is with the socket that its process made. */
static __always_inline bool is_wished(struct bpf_sock *sk)
{
	struct mptcp_sock *above;

	if (bpf_sk_storage_get(&wishes, sk, 0, 0))
		return true;
	above = bpf_skc_to_mptcp_sock(sk);
	return above && bpf_sk_storage_get(&wishes, above, 0, 0);
}

/* A cgroup's program runs before that of the root, so of_cgroups is up to date. */
static __always_inline bool wanted(struct bpf_sock *sk)
{
	return sk && is_wished(sk) && !bpf_sk_storage_get(&of_cgroups, sk, 0, 0);
}

SEC("sockops")
int adopted(struct bpf_sock_ops *ops)
{
	return event(ops);
}
