/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What both receiver shims do with a connection that yields: receiver.bpf.c with those of a cgroup, adopted.bpf.c with
 * single sockets of any. It gives a core of algorithms/receiver/ what happens to them. It translates and decides nothing.
 *
 *   sockops  marks a connection when it is established, and keeps the first right edge small: what the handshake grants
 *            cannot be taken back. Before each ACK, what came since the last one goes to the core
 *            (algorithms/receiver/sample.h), and the core's window becomes TCP_WINDOW_CLAMP. The kernel derives from it
 *            what it advertises, rounded up to its window scale, never moving the right edge left
 *
 * No program runs for a packet. The kernel asks before ACKs of connections that yield only: all others of the machine pay
 * nothing. What came is read from TCP's own counters, under the socket's lock.
 */
#ifndef NN_CONNECTION_H
#define NN_CONNECTION_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../../algorithms/common/clock.h"
#include "../../algorithms/receiver/receiver.h"
#include "../policy/floors.h"
#include "../policy/keep.h"
#include "connections.h"

#define TCP_WINDOW_CLAMP 10

/* Live parameters, a row an algorithm, and the algorithm of every connection: a row, or NN_RECEIVER_OFF. */
u32 nn_receiver_table[NN_RECEIVER_COUNT][NN_RECEIVER_PARAM_COUNT] = NN_RECEIVER_ROWS;
u32 nn_receiver_chosen SEC(".data") = NN_RA_tide; /* not .bss, though it is 0 */

const volatile u32 nn_jiffy_us = 4000; /* written before loading */

static __always_inline const u32 *params_of(u32 chosen)
{
	return nn_receiver_table[chosen < NN_RECEIVER_COUNT ? chosen : 0];
}

/* A processor is in one ACK at a time, and an atomic addition would be a tenth of what one costs. */
static __always_inline void count(const struct nn_segment *seg)
{
	u32 processor = bpf_get_smp_processor_id(), unstamped = seg->stamped ? 0 : seg->segments;
	struct receiver_arrivals *shared = &nn_receiver_counters.arrivals[NN_PROCESSORS - 1];

	if (processor < NN_PROCESSORS - 1) {
		nn_receiver_counters.arrivals[processor].segments += seg->segments;
		nn_receiver_counters.arrivals[processor].unstamped += unstamped;
	} else {
		__sync_fetch_and_add(&shared->segments, seg->segments);
		__sync_fetch_and_add(&shared->unstamped, unstamped);
	}
}

/* Timestamps of this route count microseconds (since Linux 6.7). */
struct tcp_sock___since_6_7 {
	u8 tcp_usec_ts : 1;
} __attribute__((preserve_access_index));

static __always_inline bool stamps_microseconds(const struct tcp_sock *tcp)
{
	const struct tcp_sock___since_6_7 *newer = (const void *)tcp;

	return bpf_core_field_exists(newer->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(newer, tcp_usec_ts);
}

/* What the connection's group, or else all downloads, are to have at least. */
static __noinline u32 take_share(struct nn_receiver *flow, const struct tcp_sock *tcp, u32 chosen, u32 now_us)
{
	struct floor *floor = find_floor((void *)tcp);

	if (floor)
		return nn_receiver_share(flow, &floor->receives, floor->rate, now_us);
	return nn_receiver_share(flow, &nn_all_downloads, params_of(chosen)[NN_R_at_least], now_us);
}

static __always_inline void arrived(struct connection *c, const struct tcp_sock *tcp, u64 now)
{
	u32 chosen = nn_receiver_chosen;
	const u32 *params = params_of(chosen);
	struct nn_noted noted = {
		.came_us = tcp->tcp_mstamp,
		.now_us = nn_thousandth(now),
		.jiffies = (u32)bpf_jiffies64() - tcp->inet_conn.icsk_ack.lrcvtime,
		.jiffy_us = nn_jiffy_us,
		.segments = tcp->data_segs_in,
		.next = tcp->rcv_nxt,
		.mss = tcp->inet_conn.icsk_ack.rcv_mss,
		.gap = tcp->out_of_order_queue.rb_node != 0,
		.stamped = tcp->rx_opt.saw_tstamp,
		.tsval = tcp->rx_opt.rcv_tsval,
		.tsecr = tcp->rx_opt.rcv_tsecr,
		.fine = stamps_microseconds(tcp),
	};
	struct nn_segment seg;
	u32 rounds;

	if (!nn_sample(&c->counted, &noted, &seg))
		return;
	count(&seg);
	seg.now_us = nn_arrival_us(params, seg.now_us, now);
	rounds = c->flow.rounds;
	nn_receiver_arrival(&c->flow, &nn_downloads, params, chosen, &seg);
	if (nn_unlikely(c->flow.rounds != rounds))
		take_share(&c->flow, tcp, chosen, seg.now_us);
}

static __always_inline void clamp(struct bpf_sock_ops *ops, u32 window)
{
	int bytes = window;

	if (bpf_setsockopt(ops, SOL_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof(bytes)))
		__sync_fetch_and_add(&nn_receiver_counters.clamp_failed, 1);
}

static __always_inline void leaving(struct bpf_sock_ops *ops, struct connection *c, const struct tcp_sock *tcp)
{
	u64 now = bpf_ktime_get_ns();
	struct nn_leaving ack = { .ack = tcp->rcv_nxt };
	u32 window;

	own(&c->flow, &tcp->inet_conn.icsk_inet.sk);
	arrived(c, tcp, now);
	ack.now_us = nn_microseconds(&c->left, now);
	ack.clock = c->left.us;
	window = nn_receiver_ack(&c->flow, &ack);
	if (nn_tell(&c->flow, window))
		clamp(ops, nn_clamp_of(window, c->most));
	keep_mark(ops, (struct sock *)tcp);
}

/* What comes from now on counts. */
static __always_inline void ask_before_acks(struct bpf_sock_ops *ops, struct connection *c)
{
	c->flow.acked = c->counted.next = ops->rcv_nxt;
	c->counted.segments = ops->data_segs_in;
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/* Before its SYN leaves, or before it listens. */
static __always_inline void limit_scale(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	if (tcp && nn_limits_scale(tcp->window_clamp))
		clamp(ops, NN_CLAMP_OF_SCALE);
}

/* Until a connection is established, the kernel's own clamp is what its window scale can tell. */
static __always_inline u32 own_clamp(const struct tcp_sock *tcp)
{
	u32 widest = 65535u << (BPF_CORE_READ_BITFIELD(tcp, rx_opt.rcv_wscale) & 15);

	return tcp->window_clamp < widest ? tcp->window_clamp : 0;
}

static __always_inline void yields(struct bpf_sock_ops *ops, struct bpf_sock *sk, struct connection *c)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	if (tcp)
		c->most = own_clamp(tcp);
	ask_before_acks(ops, c);
	__sync_fetch_and_add(&nn_receiver_counters.connections, 1);
}

/* Another program that asked for its events may have cleared those of others. */
static __always_inline void ask_again(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
	struct connection *c;

	if (!sk || ops->bpf_sock_ops_cb_flags & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
		return;
	c = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (c)
		ask_before_acks(ops, c);
}

/* Is a socket to yield? Each shim has its own answer. None: it is being accepted, and its own socket is yet to come. */
static __always_inline bool wanted(struct bpf_sock *sk);

/* What does not happen with each ACK. */
static __noinline int rare_event(struct bpf_sock_ops *ops)
{
	u32 chosen = nn_receiver_chosen;
	struct bpf_sock *sk = ops->sk;
	struct connection *c;

	switch (ops->op) {
	case BPF_SOCK_OPS_RWND_INIT:
		if (chosen < NN_RECEIVER_COUNT && wanted(sk))
			ops->reply = params_of(chosen)[NN_R_initial];
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		if (chosen < NN_RECEIVER_COUNT && sk && wanted(sk))
			limit_scale(ops, sk);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (!sk || !wanted(sk))
			break;
		bpf_sk_storage_delete(&connections, sk); /* of a connection that the socket had before */
		c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (c)
			yields(ops, sk, c);
		else
			__sync_fetch_and_add(&nn_receiver_counters.refused, 1);
		break;
	case BPF_SOCK_OPS_RTO_CB:
	case BPF_SOCK_OPS_RETRANS_CB:
	case BPF_SOCK_OPS_STATE_CB:
	case BPF_SOCK_OPS_RTT_CB:
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		ask_again(ops, sk);
		break;
	}
	return 1;
}

/* The kernel sizes the options of an ACK that is about to leave. */
static __always_inline int event(struct bpf_sock_ops *ops)
{
	struct connection *c;
	struct tcp_sock *tcp;
	struct bpf_sock *sk;

	if (nn_unlikely(ops->op != BPF_SOCK_OPS_HDR_OPT_LEN_CB))
		return rare_event(ops);
	if (ops->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
		return 1; /* it sizes a segment to send: no ACK leaves */
	sk = ops->sk;
	if (!sk)
		return 1;
	c = bpf_sk_storage_get(&connections, sk, 0, 0);
	tcp = bpf_skc_to_tcp_sock(sk);
	if (c && tcp)
		leaving(ops, c, tcp);
	return 1;
}

#endif
