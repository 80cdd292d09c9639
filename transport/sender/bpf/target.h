/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sender shim's target: eBPF struct_ops. Kernels before 6.10 call cong_control with two arguments, later ones with
 * four. Each algorithm has an ops map of either kind, and the loader creates the one for the kernel's BTF.
 */
#ifndef NN_TARGET_H
#define NN_TARGET_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define TCP_CONG_NON_RESTRICTED 1 /* a macro of net/tcp.h, so not in BTF */
#define TCP_INFINITE_SSTHRESH 0x7fffffff /* likewise */
#define NN_RETRANS_ACKED 0x08 /* FLAG_RETRANS_DATA_ACKED of tcp_input.c */
#define NN_PRIVATE_BYTES 104 /* icsk_ca_priv of struct inet_connection_sock */

#define NN_CHECK_PRIVATE(type) _Static_assert(sizeof(type) <= NN_PRIVATE_BYTES, "does not fit icsk_ca_priv")
#define nn_private(sk) (((struct inet_connection_sock *)(sk))->icsk_ca_priv)
#define tcp_sk(sk) ((struct tcp_sock *)(sk))
#define nn_set_cwnd(tp, v) ((tp)->snd_cwnd = (v))
#define nn_set_rate(sk, v) ((sk)->sk_pacing_rate = (v))
#define nn_set_pacing(sk, v) ((sk)->sk_pacing_status = (v))
#define NN_AF_INET6 10

#define nn_state(sk) ((sk)->__sk_common.skc_state)
#define nn_user(sk) ((sk)->sk_uid.val)
#define nn_space(sk) ((sk)->__sk_common.skc_net.net->ns.inum)
#define nn_is_ipv6(sk) ((sk)->__sk_common.skc_family == NN_AF_INET6)
#define nn_ipv4_of(sk) ((sk)->__sk_common.skc_daddr)
#define nn_ipv6_of(sk) ((sk)->__sk_common.skc_v6_daddr.in6_u.u6_addr32)

#include "../../policy/floors.h"
#include "../../policy/keep.h"

/* What a marked listening socket accepts has its mark, but not its priority: the kernel begins with 0. */
static __always_inline void nn_see_mark(struct sock *sk)
{
	int priority = POLICY_PRIORITY;

	see_mark(sk);
	if ((tos_of(sk, sends_ipv4(sk)) & ~3) == POLICY_TOS && !sk->sk_priority)
		bpf_setsockopt(sk, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
}

/* Of its floor, with that floor's rate; null: it has none. */
static __always_inline struct nn_group *nn_group_of(struct sock *sk, u32 *rate)
{
	struct floor *floor = find_floor(sk);

	if (!floor)
		return 0;
	*rate = floor->rate;
	return &floor->sends;
}

#define nn_keep_mark(sk) keep_mark(sk, sk)

#define NN_OP(ret, name, ...)                                                                                          \
	SEC("struct_ops")                                                                                              \
	ret BPF_PROG(name, __VA_ARGS__)

#define NN_CONG_CONTROL(name)                                                                                          \
	NN_OP(void, name##_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)             \
	{                                                                                                              \
		nn_sender_acked(sk, NN_A_##name, rs, flag &NN_RETRANS_ACKED);                                          \
	}                                                                                                              \
	NN_OP(void, name##_cong_control_v1, struct sock *sk, const struct rate_sample *rs)                             \
	{                                                                                                              \
		nn_sender_acked(sk, NN_A_##name, rs, false);                                                           \
	}

#define NN_OPS(map, cc_name, control)                                                                                  \
	SEC(".struct_ops.link")                                                                                        \
	struct tcp_congestion_ops map = {                                                                              \
		.init = (void *)cc_name##_init,                                                                        \
		.release = (void *)cc_name##_release,                                                                  \
		.cong_control = (void *)control,                                                                       \
		.set_state = (void *)cc_name##_state,                                                                  \
		.cwnd_event = (void *)cc_name##_event,                                                                 \
		.ssthresh = (void *)cc_name##_ssthresh,                                                                \
		.undo_cwnd = (void *)cc_name##_undo_cwnd,                                                              \
		.flags = TCP_CONG_NON_RESTRICTED,                                                                      \
		.name = #cc_name,                                                                                      \
	};

#define NN_REGISTER(name)                                                                                              \
	NN_OPS(name, name, name##_cong_control)                                                                        \
	NN_OPS(name##_v1, name, name##_cong_control_v1)

#endif
