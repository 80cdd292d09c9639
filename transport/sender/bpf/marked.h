/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mark of the background stays on what a connection sends, whatever its program sets: ssh sets IP_TOS once it has
 * authenticated, and the socket's priority goes with it. A socket that has the mark when its congestion control begins keeps it
 * until that leaves or netnice takes the mark away: the next ACK puts it back. Programs of the foreground pay nothing, as no
 * setsockopt() is looked at; what leaves in the round trip until that ACK has no mark.
 */
#ifndef NN_MARKED_H
#define NN_MARKED_H

#include "../../policy/mark.h"
#include "../../policy/marked_map.h"

nn_inline bool nn_sends_ipv4(const struct sock *sk)
{
	return !nn_is_ipv6(sk) ||
	       !(nn_ipv6_of(sk)[0] | nn_ipv6_of(sk)[1] | (nn_ipv6_of(sk)[2] ^ bpf_htonl(0xffff)));
}

nn_inline bool nn_has_mark(const struct sock *sk)
{
	const struct inet_sock *inet = &tcp_sk(sk)->inet_conn.icsk_inet;
	u8 tos = nn_sends_ipv4(sk) ? inet->tos : inet->pinet6->tclass;

	return (tos & ~3) == POLICY_TOS;
}

nn_inline void nn_see_mark(struct sock *sk)
{
	u32 netnices = 1;

	if (nn_has_mark(sk))
		bpf_sk_storage_get(&marked, sk, &netnices, BPF_SK_STORAGE_GET_F_CREATE);
	else
		bpf_sk_storage_delete(&marked, sk);
}

nn_inline void nn_keep_mark(struct sock *sk)
{
	if (nn_unlikely(!nn_has_mark(sk)) && bpf_sk_storage_get(&marked, sk, 0, 0))
		put_marks(sk, nn_sends_ipv4(sk), POLICY_TOS, POLICY_PRIORITY);
}

#endif
