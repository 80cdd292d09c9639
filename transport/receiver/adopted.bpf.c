// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver shim for sockets of any cgroup, one by one: those that are in use when they are to yield, and those
 * whose application says so itself. connection.h says what happens to them; here it does so with
 * connections of its own, so that no socket is handled twice. Attached to the root of the cgroups, but only once somebody asks for it.
 *
 *   cgroup/setsockopt  NETNICE_RECEIVE: 1 begins, 0 stops. Who may: algorithms/receiver/wish.h. On a socket that
 *                      is not connected it is a wish that comes true when it is, and that what it accepts inherits
 *   sockops            connections whose wish came first
 *   cgroup_skb/ingress costs all other sockets of the machine a look-up that fails
 *
 * The flag that has the kernel ask before each ACK can be set on a live socket since Linux 6.12; before, EOPNOTSUPP.
 */
#include "connection.h"
#include "option.h"
#include "wishes.h"

#define TCP_SOCK_OPS_CB_FLAGS 1008 /* TCP_BPF_SOCK_OPS_CB_FLAGS, which older headers lack */
#define EPERM 1
#define ENOMEM 12
#define EINVAL 22
#define EOPNOTSUPP 95

/* The map `connections` of receiver.bpf.c: these yield already. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} of_cgroups SEC(".maps");

/* Nearly all sockets of the machine end at the first look-up; those that do not pay for a second one. */
SEC("cgroup_skb/ingress")
int arrival(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	if (!sk || !bpf_sk_storage_get(&connections, sk, 0, 0))
		return 1;
	return arrived(skb);
}

/* A cgroup's program runs before that of the root, so of_cgroups is up to date. */
static __always_inline bool wanted(struct bpf_sock *sk)
{
	return sk && bpf_sk_storage_get(&wishes, sk, 0, 0) && !bpf_sk_storage_get(&of_cgroups, sk, 0, 0);
}

SEC("sockops")
int adopted(struct bpf_sock_ops *ops)
{
	return event(ops);
}

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
