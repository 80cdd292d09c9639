/* SPDX-License-Identifier: GPL-2.0 */
/* The sender shim's target: a kernel module, for the lab and for kernels that cannot take struct_ops. */
#ifndef NN_TARGET_H
#define NN_TARGET_H

#include <linux/module.h>
#include <linux/version.h>
#include <net/tcp.h>

#define NN_CHECK_PRIVATE(type) static_assert(sizeof(type) <= ICSK_CA_PRIV_SIZE)
#define nn_private(sk) inet_csk_ca(sk)
#define nn_set_cwnd(tp, v) tcp_snd_cwnd_set(tp, v)
#define nn_set_rate(sk, v) WRITE_ONCE((sk)->sk_pacing_rate, v)
#define nn_set_pacing(sk, v) smp_store_release(&(sk)->sk_pacing_status, v)

#define nn_state(sk) ((sk)->sk_state)
#define nn_user(sk) __kuid_val(READ_ONCE((sk)->sk_uid))
#define nn_space(sk) (sock_net(sk)->ns.inum)
#define nn_ipv4_of(sk) ((sk)->sk_daddr)
#if IS_ENABLED(CONFIG_IPV6)
#define nn_is_ipv6(sk) ((sk)->sk_family == AF_INET6)
#define nn_ipv6_of(sk) ((sk)->sk_v6_daddr.s6_addr32)
#else
#define nn_is_ipv6(sk) false
#define nn_ipv6_of(sk) ((const __be32[4]){ 0 })
#endif

/* Nor are groups kept but those of rows. */
#define nn_group_of(sk, rate) ((struct nn_group *)NULL)

/* Marks are put on and kept by eBPF only: ../../policy/keep.h. */
#define nn_see_mark(sk)
#define nn_keep_mark(sk)

#define NN_OP(ret, name, ...) static ret name(__VA_ARGS__)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define NN_CONG_CONTROL_ARGS struct sock *sk, u32 ack, int flag, const struct rate_sample *rs
#define NN_RETRANS (flag & 0x08) /* FLAG_RETRANS_DATA_ACKED of tcp_input.c */
#else
#define NN_CONG_CONTROL_ARGS struct sock *sk, const struct rate_sample *rs
#define NN_RETRANS false
#endif

#define NN_CONG_CONTROL(name)                                                                                          \
	NN_OP(void, name##_cong_control, NN_CONG_CONTROL_ARGS)                                                         \
	{                                                                                                              \
		nn_sender_acked(sk, NN_A_##name, rs, NN_RETRANS);                                                      \
	}

#define NN_REGISTER(cc_name)                                                                                           \
	static struct tcp_congestion_ops cc_name##_ops __read_mostly = {                                               \
		.init = cc_name##_init,                                                                                \
		.release = cc_name##_release,                                                                          \
		.cong_control = cc_name##_cong_control,                                                                \
		.set_state = cc_name##_state,                                                                          \
		.cwnd_event = cc_name##_event,                                                                         \
		.ssthresh = cc_name##_ssthresh,                                                                        \
		.undo_cwnd = cc_name##_undo_cwnd,                                                                      \
		.flags = TCP_CONG_NON_RESTRICTED,                                                                      \
		.owner = THIS_MODULE,                                                                                  \
		.name = #cc_name,                                                                                      \
	};

#endif
