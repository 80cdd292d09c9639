/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection that is in use begins to yield with what it receives, or stops. The flag that has the kernel ask before each
 * ACK can be set on a live socket since Linux 6.12; before, EOPNOTSUPP.
 */
#ifndef NN_JOIN_H
#define NN_JOIN_H

#include "../../algorithms/receiver/receiver.h"
#include "../policy/mark.h"
#include "connections.h"

#define SO_RCVBUF 8
#define TCP_WINDOW_CLAMP 10
#define TCP_SOCK_OPS_CB_FLAGS 1008 /* TCP_BPF_SOCK_OPS_CB_FLAGS, which older kernels lack */
#define ENOMEM 12
#define EOPNOTSUPP 95

/* The map `connections` of receiver.bpf.c, for the objects of single sockets: these yield already. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} of_cgroups SEC(".maps");

static __always_inline u32 clamp_in_use(void *sk)
{
	int clamp = 0, buffer = 0;

	bpf_getsockopt(sk, SOL_TCP, TCP_WINDOW_CLAMP, &clamp, sizeof(clamp));
	bpf_getsockopt(sk, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	return nn_own_clamp(clamp, buffer);
}

/* Has the kernel ask before each ACK of a live connection. */
static __always_inline bool ask(void *sk)
{
	int flags = 0;

	if (bpf_getsockopt(sk, SOL_TCP, TCP_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags)))
		return false;
	flags |= BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	return !bpf_setsockopt(sk, SOL_TCP, TCP_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
}

/* From its next ACK on; `next`, `segments`: its rcv_nxt, data_segs_in. 0, or why not. */
static __always_inline int join(void *sk, u32 next, u32 segments)
{
	struct connection *c;

	if (bpf_sk_storage_get(&of_cgroups, sk, 0, 0) || bpf_sk_storage_get(&connections, sk, 0, 0))
		return 0;
	if (!ask(sk))
		return -EOPNOTSUPP;
	c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!c) {
		__sync_fetch_and_add(&nn_receiver_counters.refused, 1);
		return -ENOMEM;
	}
	c->most = clamp_in_use(sk);
	nn_receiver_join(&c->flow, next);
	c->counted.next = next;
	c->counted.segments = segments;
	__sync_fetch_and_add(&nn_receiver_counters.connections, 1);
	__sync_fetch_and_add(&nn_receiver_counters.adopted, 1);
	return 0;
}

/* Whosever it was. */
static __always_inline void leave(void *sk)
{
	struct connection *c = bpf_sk_storage_get(&connections, sk, 0, 0);
	int bytes;

	if (!c)
		c = bpf_sk_storage_get(&of_cgroups, sk, 0, 0);
	if (!c)
		return;
	bytes = nn_clamp_of(0, c->most);
	bpf_sk_storage_delete(&connections, sk);
	bpf_sk_storage_delete(&of_cgroups, sk);
	bpf_setsockopt(sk, SOL_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof(bytes));
}

#endif
