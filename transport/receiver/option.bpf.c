// SPDX-License-Identifier: GPL-2.0
/*
 * The socket option NETNICE_RECEIVE: sockets that are in use begin to yield, or stop, when an application or `netnice -p`
 * says so. From the next ACK on adopted.bpf.c does the rest. Attached to the root of the cgroups, and only at the first
 * wish, as it costs every setsockopt() of the machine a call.
 *
 * 1 begins, 0 stops. Rights: algorithms/receiver/wish.h. On a socket that is not connected it is a wish that comes true
 * when it is, and that what it accepts inherits.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "join.h"
#include "wishes.h"

#define EPERM 1
#define EINVAL 22

static __always_inline bool connected(const struct bpf_sock *sk)
{
	return sk->state == BPF_TCP_ESTABLISHED || sk->state == BPF_TCP_FIN_WAIT1 || sk->state == BPF_TCP_FIN_WAIT2;
}

static __always_inline int begin(struct bpf_sock *sk)
{
	u32 *wish = bpf_sk_storage_get(&wishes, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	struct bpf_tcp_sock *tcp = bpf_tcp_sock(sk);
	int failed;

	if (!wish)
		return -ENOMEM;
	*wish = nn_wished_by_application(*wish);
	if (!tcp || !connected(sk))
		return 0;
	failed = join(sk, tcp->rcv_nxt, tcp->data_segs_in);
	if (failed)
		bpf_sk_storage_delete(&wishes, sk);
	return failed;
}

static __always_inline int stop(struct bpf_sock *sk)
{
	u32 *wish = bpf_sk_storage_get(&wishes, sk, 0, 0);

	if (!nn_application_may_stop(wish ? *wish : NN_BY_NOBODY, bpf_sk_storage_get(&of_cgroups, sk, 0, 0)))
		return -EPERM;
	if (wish)
		bpf_sk_storage_delete(&wishes, sk);
	leave(sk);
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
