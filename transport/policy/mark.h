/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a socket of the background gets: a congestion control, and its marks.
 *
 * The kernel keeps the two ECN bits when the TOS of a stream socket is set, so the whole byte is
 * given here. A v4-mapped IPv6 socket (Java, servers that listen on ::) sends IPv4 packets, and those
 * carry IP_TOS, not IPV6_TCLASS. Measured: Linux 6.18 takes IP_TOS from BPF on such a socket, active
 * or passive. Kernels before about 6.14 take it for AF_INET only, and have no other call. There the
 * socket yields but stays unmarked, and is counted.
 */
#ifndef NN_POLICY_MARK_H
#define NN_POLICY_MARK_H

#include <bpf/bpf_endian.h>

#include "before.h"
#include "group.h"

#define AF_INET 2
#define AF_INET6 10
#define SOL_IP 0
#define SOL_SOCKET 1
#define SOL_TCP 6
#define SOL_IPV6 41
#define IP_TOS 1
#define IPV6_TCLASS 67
#define SO_PRIORITY 12
#define TCP_CONGESTION 13

#define COUNT(counters, field) __sync_fetch_and_add(&(counters)->field, 1)

/* True when an AF_INET6 socket talks IPv4 (::ffff:a.b.c.d). */
static __always_inline bool is_v4_mapped(struct bpf_sock_ops *ops)
{
	return !ops->remote_ip6[0] && !ops->remote_ip6[1] && ops->remote_ip6[2] == bpf_htonl(0xffff);
}

static __always_inline void count_connection(struct bpf_sock_ops *ops, struct policy_counters *counters)
{
	if (ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB)
		COUNT(counters, active);
	else
		COUNT(counters, passive);
}

/*
 * Before a level's congestion control is chosen; one that is on a level has it noted. `to`: what bpf_getsockopt() takes for
 * the socket `sk`; `above`: the MPTCP socket that it is a subflow of, or 0.
 */
static __always_inline void note_before(void *to, void *sk, void *above, bool ipv6)
{
	struct socket_before *had = sk ? bpf_sk_storage_get(&before, sk, 0, BPF_SK_STORAGE_GET_F_CREATE) : 0;
	int tos = 0, traffic_class = 0, priority = 0;

	if (!had)
		return;
	bpf_getsockopt(to, SOL_TCP, TCP_CONGESTION, had->cc_name, sizeof(had->cc_name));
	bpf_getsockopt(to, SOL_IP, IP_TOS, &tos, sizeof(tos));
	if (ipv6)
		bpf_getsockopt(to, SOL_IPV6, IPV6_TCLASS, &traffic_class, sizeof(traffic_class));
	bpf_getsockopt(to, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
	had->tos = tos;
	had->traffic_class = traffic_class;
	had->priority = priority;
	had->marked = 0;
	if (above)
		bpf_sk_storage_get(&before, above, had, BPF_SK_STORAGE_GET_F_CREATE);
}

/* `name`: 16 bytes. */
static __always_inline void select_cc(struct bpf_sock_ops *ops, const void *name, struct policy_counters *counters)
{
	if (bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, (void *)name, 16))
		COUNT(counters, cc_failed);
}

/* `sk`: a socket, or what stands for it. As an IPv4 socket sends, or as an IPv6 one. */
static __always_inline long put_marks(void *sk, bool ipv4, int tos, int priority)
{
	long err = ipv4 ? bpf_setsockopt(sk, SOL_IP, IP_TOS, &tos, sizeof(tos))
			: bpf_setsockopt(sk, SOL_IPV6, IPV6_TCLASS, &tos, sizeof(tos));

	bpf_setsockopt(sk, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)); /* last: a TOS resets it */
	return err;
}

/* On a level's congestion control, whatever its program sets. */
static __always_inline void mark_stays(void *sk)
{
	struct socket_before *had = sk ? bpf_sk_storage_get(&before, sk, 0, 0) : 0;

	if (had)
		had->marked = 1;
}

static __always_inline void mark(struct bpf_sock_ops *ops, struct policy_counters *counters)
{
	bool mapped = ops->family == AF_INET6 && is_v4_mapped(ops);

	if (!put_marks(ops, ops->family == AF_INET || mapped, POLICY_TOS, POLICY_PRIORITY)) {
		mark_stays(ops->sk);
		COUNT(counters, marked);
	} else if (mapped) {
		COUNT(counters, mapped_unmarked);
	} else {
		COUNT(counters, mark_failed);
	}
}

#endif
