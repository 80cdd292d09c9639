/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mark of the background stays on what a connection sends, whatever its program sets. ssh sets IP_TOS once it has
 * authenticated, which also changes the socket's priority. The next ACK, in or out, restores the mark. Foreground programs
 * pay nothing, as no setsockopt() is watched. What leaves before that ACK has no mark.
 */
#ifndef NN_POLICY_KEEP_H
#define NN_POLICY_KEEP_H

#include "mark.h"

static __always_inline bool sends_ipv4(const struct sock *sk)
{
	const __be32 *to = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32;

	return sk->__sk_common.skc_family == AF_INET || !(to[0] | to[1] | (to[2] ^ bpf_htonl(0xffff)));
}

static __always_inline u8 tos_of(const struct sock *sk, bool ipv4)
{
	const struct inet_sock *inet = (const struct inet_sock *)sk;

	return ipv4 ? inet->tos : inet->pinet6->tclass;
}

/* The congestion control begins on a socket. One that its user has marked is not known yet. */
static __always_inline void see_mark(struct sock *sk)
{
	struct socket_before *had;

	if ((tos_of(sk, sends_ipv4(sk)) & ~3) != POLICY_TOS)
		return;
	had = bpf_sk_storage_get(&before, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (had)
		had->marked = 1;
}

/* `to`: what bpf_setsockopt() takes for the socket. */
static __always_inline void keep_mark(void *to, struct sock *sk)
{
	bool ipv4 = sends_ipv4(sk);
	u8 tos = tos_of(sk, ipv4);
	struct socket_before *had;

	if ((tos & ~3) == POLICY_TOS)
		return;
	had = bpf_sk_storage_get(&before, sk, 0, 0);
	if (!had || !had->marked)
		return;
	if (ipv4)
		had->tos = tos;
	else
		had->traffic_class = tos;
	had->priority = sk->sk_priority;
	put_marks(to, ipv4, POLICY_TOS, POLICY_PRIORITY);
}

#endif
