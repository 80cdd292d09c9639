// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver shim: gives a core of algorithms/receiver/ the connections of a cgroup. It translates and decides nothing.
 *
 *   sockops            marks a connection when it is established, and keeps the first right edge small: what the
 *                      handshake grants cannot be taken back
 *   cgroup_skb/ingress every arriving segment, to the core
 *   sockops            before each ACK: the core's window becomes TCP_WINDOW_CLAMP, from which the kernel derives what
 *                      it advertises (rounded up to its window scale, never moving the right edge left)
 *
 * Only sockets of the cgroup run any of this. Only uapi headers: the same object runs where the kernel has no BTF.
 *
 * Our own clock. The echoed TSecr means nothing until one knows what TSval an ACK sent now would carry. Linux's is the
 * millisecond clock plus an offset of the connection; it is read once from the first ACK, whose header four reserved
 * bytes (left as NOPs) open to us.
 *
 * Ingress runs before the socket is locked, the rest under its lock, perhaps on another CPU. All shared words are single
 * stores, the ring of ACKs has one writer at either end, and a window that is one ACK old harms nobody.
 *
 * Read are the IPv4 header with options, the plain IPv6 header, and a timestamp that comes first in the TCP options
 * (RFC 7323, appendix A: what every sender known to us does). Anything else counts as a segment without timestamp.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

#include "../../algorithms/receiver/receiver.h"

#define SOL_TCP 6
#define TCP_WINDOW_CLAMP 10
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define IPPROTO_TCP 6
#define TCPOPT_TIMESTAMP 8
#define TCPOLEN_TIMESTAMP 10
#define UNCLAMPED (1 << 30)

char _license[] SEC("license") = "GPL";

/* Live parameters, a row an algorithm, and the algorithm of every connection: a row, or NN_RECEIVER_OFF. */
u32 nn_receiver_table[NN_RECEIVER_COUNT][NN_RECEIVER_PARAM_COUNT] = {
#define NN_ROW(name, core, ...) { __VA_ARGS__ },
	NN_RECEIVERS(NN_ROW)
#undef NN_ROW
};
u32 nn_receiver_chosen SEC(".data") = NN_RA_tide; /* not .bss, though it is 0 */

/* Events since loading. */
struct receiver_counters {
	__u64 connections; /* that became background */
	__u64 segments; /* that arrived on them, as on the wire */
	__u64 unstamped; /* of them, those without a timestamp */
	__u64 clamp_failed; /* windows that the kernel refused */
} nn_receiver_counters;

struct connection {
	struct nn_receiver flow;
	u32 offset; /* our TSval less our milliseconds */
	u8 clock_known;
	u8 clamped;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

struct tcp_start { /* the fixed header and, usually, twelve bytes of timestamp */
	u8 ports[4];
	__be32 seq, ack;
	u8 length, flags;
	u8 rest[6];
	u8 nop[2], kind, size;
	__be32 tsval, tsecr;
};

static __always_inline u32 params_of(u32 chosen)
{
	return chosen < NN_RECEIVER_COUNT ? chosen : 0;
}

/* Reads the headers; false: not a TCP segment that we understand. */
static __always_inline bool read_headers(struct __sk_buff *skb, struct tcp_start *tcp, u32 *payload)
{
	u32 at = 40, header;
	u8 first[10];

	if (bpf_skb_load_bytes(skb, 0, first, sizeof(first)))
		return false;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		at = (first[0] & 15) * 4;
	else if (skb->protocol != bpf_htons(ETH_P_IPV6) || first[6] != IPPROTO_TCP)
		return false;
	tcp->kind = 0;
	if (bpf_skb_load_bytes(skb, at, tcp, sizeof(*tcp)) && bpf_skb_load_bytes(skb, at, tcp, 20))
		return false;
	header = (tcp->length >> 4) * 4;
	if (header < sizeof(*tcp) || tcp->nop[0] != 1 || tcp->nop[1] != 1 || tcp->size != TCPOLEN_TIMESTAMP)
		tcp->kind = 0;
	*payload = skb->len - at - header;
	return skb->len > at + header && *payload < 1 << 20;
}

SEC("cgroup_skb/ingress")
int arrival(struct __sk_buff *skb)
{
	u32 chosen = nn_receiver_chosen, payload, milliseconds;
	struct bpf_sock *sk = skb->sk;
	struct connection *c;
	struct tcp_start tcp;
	struct nn_segment seg;
	u64 now;

	if (!sk || !(sk = bpf_sk_fullsock(sk)) || sk->protocol != IPPROTO_TCP)
		return 1;
	c = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!c || !read_headers(skb, &tcp, &payload))
		return 1;
	now = bpf_ktime_get_ns();
	milliseconds = now / 1000000;
	seg.now_us = nn_arrival_us(nn_receiver_table[params_of(chosen)], now);
	seg.seq = bpf_ntohl(tcp.seq);
	seg.bytes = payload;
	seg.segments = skb->gso_segs > 1 ? skb->gso_segs : 1;
	seg.stamped = c->clock_known && tcp.kind == TCPOPT_TIMESTAMP;
	seg.tsval = bpf_ntohl(tcp.tsval);
	seg.tsecr = (bpf_ntohl(tcp.tsecr) - c->offset) * 1000;
	seg.clock = milliseconds * 1000;
	__sync_fetch_and_add(&nn_receiver_counters.segments, seg.segments);
	if (!seg.stamped)
		__sync_fetch_and_add(&nn_receiver_counters.unstamped, seg.segments);
	nn_receiver_arrival(&c->flow, nn_receiver_table[params_of(chosen)], chosen, &seg);
	return 1;
}

static __always_inline void clamp(struct bpf_sock_ops *ops, int bytes)
{
	if (bpf_setsockopt(ops, SOL_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof(bytes)))
		__sync_fetch_and_add(&nn_receiver_counters.clamp_failed, 1);
}

static __always_inline void leaving(struct bpf_sock_ops *ops, struct connection *c)
{
	u64 now = bpf_ktime_get_ns();
	struct nn_leaving ack = { .ack = ops->rcv_nxt, .clock = (u32)(now / 1000000) * 1000, .now_us = now / 1000 };
	u32 window = nn_receiver_ack(&c->flow, &ack);

	if (window)
		clamp(ops, window);
	else if (c->clamped)
		clamp(ops, UNCLAMPED); /* and the kernel tunes the window again */
	c->clamped = window != 0;
	if (!c->clock_known)
		bpf_reserve_hdr_opt(ops, 4, 0);
}

/* The header of an ACK is written: what does our clock say in it? */
static __always_inline void learn_clock(struct bpf_sock_ops *ops, struct connection *c)
{
	struct {
		u8 pad[2]; /* so that the stamps are aligned */
		u8 kind, size;
		__be32 tsval, tsecr;
	} option = { .kind = TCPOPT_TIMESTAMP };

	if (bpf_load_hdr_opt(ops, &option.kind, TCPOLEN_TIMESTAMP, 0) != TCPOLEN_TIMESTAMP)
		return;
	c->offset = bpf_ntohl(option.tsval) - (u32)(bpf_ktime_get_ns() / 1000000);
	c->clock_known = 1;
}

SEC("sockops")
int connection(struct bpf_sock_ops *ops)
{
	u32 chosen = nn_receiver_chosen, op = ops->op;
	struct bpf_sock *sk = ops->sk;
	struct connection *c;

	if (op == BPF_SOCK_OPS_RWND_INIT && chosen < NN_RECEIVER_COUNT) {
		ops->reply = nn_receiver_table[params_of(chosen)][NN_R_initial];
		return 1;
	}
	if (!sk)
		return 1;
	switch (op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (!c)
			break;
		c->flow.acked = ops->rcv_nxt;
		bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		__sync_fetch_and_add(&nn_receiver_counters.connections, 1);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		c = bpf_sk_storage_get(&connections, sk, 0, 0);
		if (c)
			leaving(ops, c);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		c = bpf_sk_storage_get(&connections, sk, 0, 0);
		if (c)
			learn_clock(ops, c);
		break;
	}
	return 1;
}
