// SPDX-License-Identifier: GPL-2.0
/*
 * The socket option NETNICE_RECEIVE: sockets that are in use begin to yield, or stop, when an application or `netnice -p`
 * says so. From the next ACK on adopted.bpf.c does the rest. Attached to the root of the cgroups, and only once somebody
 * asks for it, for it costs every setsockopt() of the machine a call.
 *
 * 1 begins, 0 stops. Who may: algorithms/receiver/wish.h. On a socket that is not connected it is a wish that comes true
 * when it is, and that what it accepts inherits. The flag that has the kernel ask before each ACK can be set on a live
 * socket since Linux 6.12; before, EOPNOTSUPP.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "../../algorithms/receiver/receiver.h"
#include "connections.h"
#include "of_cgroups.h"
#include "option.h"
#include "wishes.h"

#define SOL_TCP 6
#define TCP_WINDOW_CLAMP 10
#define TCP_SOCK_OPS_CB_FLAGS 1008 /* TCP_BPF_SOCK_OPS_CB_FLAGS, which older kernels lack */
#define EPERM 1
#define ENOMEM 12
#define EINVAL 22
#define EOPNOTSUPP 95

static __always_inline bool connected(const struct bpf_sock *sk)
{
	return sk->state == BPF_TCP_ESTABLISHED || sk->state == BPF_TCP_FIN_WAIT1 || sk->state == BPF_TCP_FIN_WAIT2;
}

/* Has the kernel ask before each ACK of a live connection. */
static __always_inline bool ask(struct bpf_sock *sk)
{
	int flags = 0;

	if (bpf_getsockopt(sk, SOL_TCP, TCP_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags)))
		return false;
	flags |= BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	return !bpf_setsockopt(sk, SOL_TCP, TCP_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
}

static __always_inline int begin(struct bpf_sock *sk)
{
	u32 *wish = bpf_sk_storage_get(&wishes, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	struct bpf_tcp_sock *tcp = bpf_tcp_sock(sk);
	struct connection *c;

	if (!wish)
		return -ENOMEM;
	*wish = nn_wished_by_application(*wish);
	if (!tcp || !connected(sk) || bpf_sk_storage_get(&of_cgroups, sk, 0, 0) ||
	    bpf_sk_storage_get(&connections, sk, 0, 0))
		return 0;
	if (!ask(sk)) {
		bpf_sk_storage_delete(&wishes, sk);
		return -EOPNOTSUPP;
	}
	c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!c) {
		bpf_sk_storage_delete(&wishes, sk);
		return -ENOMEM;
	}
	nn_receiver_join(&c->flow, tcp->rcv_nxt);
	c->counted.next = tcp->rcv_nxt;
	c->counted.segments = tcp->data_segs_in;
	__sync_fetch_and_add(&nn_receiver_counters.connections, 1);
	__sync_fetch_and_add(&nn_receiver_counters.adopted, 1);
	return 0;
}

static __always_inline int stop(struct bpf_sock *sk)
{
	u32 *wish = bpf_sk_storage_get(&wishes, sk, 0, 0);
	int unclamped = UNCLAMPED;

	if (!nn_application_may_stop(wish ? *wish : NN_BY_NOBODY, bpf_sk_storage_get(&of_cgroups, sk, 0, 0)))
		return -EPERM;
	if (wish)
		bpf_sk_storage_delete(&wishes, sk);
	if (!bpf_sk_storage_delete(&connections, sk))
		bpf_setsockopt(sk, SOL_TCP, TCP_WINDOW_CLAMP, &unclamped, sizeof(unclamped));
	return 0;
}

SEC("cgroup/setsockopt")
int adopt(struct bpf_sockopt *call)
{
	struct bpf_sock *sk = call->sk;
	int *value = call->optval, result = -EINVAL;

	if (call->level != SOL_TCP || call->optname != NETNICE_RECEIVE || !sk || sk->protocol != IPPROTO_TCP)
		return 1; /* the kernel's */
	if ((void *)(value + 1) <= call->optval_end && call->optlen == sizeof(*value))
		result = *value == 1 ? begin(sk) : *value == 0 ? stop(sk) : -EINVAL;
	if (result) {
		bpf_set_retval(result);
		return 0;
	}
	call->optlen = -1; /* done: the kernel need not see it */
	return 1;
}
