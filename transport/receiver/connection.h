/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What both receiver shims do with a connection that yields: receiver.bpf.c with those of a cgroup, adopted.bpf.c with
 * single sockets of any. It gives a core of algorithms/receiver/ what happens to them. It translates and decides nothing.
 *
 *   cgroup_skb/ingress every arriving segment, to the core
 *   sockops            marks a connection when it is established, and keeps the first right edge small: what the
 *                      handshake grants cannot be taken back. Before each ACK, the core's window becomes
 *                      TCP_WINDOW_CLAMP, from which the kernel derives what it advertises (rounded up to its window
 *                      scale, never moving the right edge left)
 *
 * Only uapi headers: the same object runs where the kernel has no BTF.
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
 *
 * GRO. Segments that the card or the kernel joined arrive as one: gso_segs tells how many they were, and their times but
 * the last are lost; their stamps are equal. So a joined arrival is one sample that counts for all its segments;
 * see algorithms/receiver/segment.h for what that does to the cores.
 */
#ifndef NN_CONNECTION_H
#define NN_CONNECTION_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

#include "../../algorithms/common/clock.h"
#include "../../algorithms/receiver/receiver.h"
#include "state.h"

#define SOL_TCP 6
#define TCP_WINDOW_CLAMP 10
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define IPPROTO_TCP 6
#define TCPOPT_TIMESTAMP 8
#define TCPOLEN_TIMESTAMP 10
#define TIMESTAMP (1 << 24 | 1 << 16 | TCPOPT_TIMESTAMP << 8 | TCPOLEN_TIMESTAMP) /* after two NOPs */
#define UNCLAMPED (1 << 30)

char _license[] SEC("license") = "GPL";

/* Live parameters, a row an algorithm, and the algorithm of every connection: a row, or NN_RECEIVER_OFF. */
u32 nn_receiver_table[NN_RECEIVER_COUNT][NN_RECEIVER_PARAM_COUNT] = NN_RECEIVER_ROWS;
u32 nn_receiver_chosen SEC(".data") = NN_RA_tide; /* not .bss, though it is 0 */

struct receiver_counters nn_receiver_counters;

struct nn_receiver_siblings nn_receiver_siblings;

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
	__be32 option;
	__be32 tsval, tsecr;
};

/*
 * The TCP header of an arrival that carries data; none: not a segment that we understand. TCP made its header linear
 * before the cgroup saw it, so it is read where it lies.
 */
static __always_inline bool read_headers(const struct __sk_buff *skb, const struct tcp_start **header, u32 *payload)
{
	const u8 *start = (const u8 *)(long)skb->data, *end = (const u8 *)(long)skb->data_end;
	const struct tcp_start *tcp;
	u32 at = 40;

	if (start + 40 > end)
		return false;
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (start[9] != IPPROTO_TCP)
			return false;
		at = (start[0] & 15) * 4;
	} else if (skb->protocol != bpf_htons(ETH_P_IPV6) || start[6] != IPPROTO_TCP) {
		return false;
	}
	tcp = (const struct tcp_start *)(start + at);
	if ((const u8 *)tcp + 20 > end)
		return false;
	*header = tcp;
	*payload = skb->len - at - (tcp->length >> 4) * 4;
	return *payload - 1 < 1 << 20;
}

/* Does its timestamp come first? What that would occupy may be missing. */
static __always_inline bool stamped(const struct __sk_buff *skb, const struct tcp_start *tcp)
{
	return (const u8 *)(tcp + 1) <= (const u8 *)(long)skb->data_end && tcp->length >> 4 >= sizeof(*tcp) / 4 &&
	       tcp->option == bpf_htonl(TIMESTAMP);
}

static __always_inline const u32 *params_of(u32 chosen)
{
	return nn_receiver_table[chosen < NN_RECEIVER_COUNT ? chosen : 0];
}

/* When it arrives. */
static __always_inline void tell_time(struct connection *c, struct nn_segment *seg, const u32 *params)
{
	u64 now = bpf_ktime_get_ns();

	seg->now_us = nn_arrival_us(params, nn_microseconds(&c->arrived, now), now);
	seg->clock = c->arrived.us;
}

/* A processor is in one arrival at a time, and an atomic addition would be a tenth of what an arrival costs. */
static __always_inline u32 count(const struct __sk_buff *skb, bool unstamped)
{
	u32 segments = skb->gso_segs > 1 ? skb->gso_segs : 1, processor = bpf_get_smp_processor_id();
	struct receiver_arrivals *shared = &nn_receiver_counters.arrivals[NN_PROCESSORS - 1];

	if (processor < NN_PROCESSORS - 1) {
		nn_receiver_counters.arrivals[processor].segments += segments;
		nn_receiver_counters.arrivals[processor].unstamped += unstamped ? segments : 0;
	} else {
		__sync_fetch_and_add(&shared->segments, segments);
		__sync_fetch_and_add(&shared->unstamped, unstamped ? segments : 0);
	}
	return segments;
}

/* Without a timestamp, or one that means nothing yet. */
static __noinline int arrived_bare(struct __sk_buff *skb, u32 seq, u32 payload)
{
	u32 chosen = nn_receiver_chosen;
	const u32 *params = params_of(chosen);
	struct nn_segment seg = { .seq = seq, .bytes = payload };
	struct bpf_sock *sk = skb->sk;
	struct connection *c = sk ? bpf_sk_storage_get(&connections, sk, 0, 0) : 0;

	if (!c)
		return 1;
	tell_time(c, &seg, params);
	seg.segments = count(skb, true);
	nn_special_arrival(&c->flow, &nn_receiver_siblings, params, chosen, &seg);
	return 1;
}

static __always_inline int arrived(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;
	const struct tcp_start *tcp;
	struct nn_segment seg;
	struct connection *c;
	const u32 *params;
	u32 chosen;

	if (!read_headers(skb, &tcp, &seg.bytes) || !sk)
		return 1;
	if (nn_unlikely(!stamped(skb, tcp)))
		return arrived_bare(skb, bpf_ntohl(tcp->seq), seg.bytes);
	c = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!c)
		return 1;
	if (nn_unlikely(!c->clock_known))
		return arrived_bare(skb, bpf_ntohl(tcp->seq), seg.bytes);
	chosen = nn_receiver_chosen;
	params = params_of(chosen);
	tell_time(c, &seg, params);
	seg.segments = count(skb, false);
	seg.seq = bpf_ntohl(tcp->seq);
	seg.stamped = 1;
	seg.tsval = bpf_ntohl(tcp->tsval);
	seg.tsecr = (bpf_ntohl(tcp->tsecr) - c->offset) * 1000;
	nn_receiver_arrival(&c->flow, &nn_receiver_siblings, params, chosen, &seg);
	return 1;
}

/* 0: the kernel tunes the window again. */
static __always_inline void clamp(struct bpf_sock_ops *ops, u32 window)
{
	int bytes = window ? window : UNCLAMPED;

	if (bpf_setsockopt(ops, SOL_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof(bytes)))
		__sync_fetch_and_add(&nn_receiver_counters.clamp_failed, 1);
}

static __always_inline void leaving(struct bpf_sock_ops *ops, struct connection *c)
{
	u64 now = bpf_ktime_get_ns();
	struct nn_leaving ack = { .ack = ops->rcv_nxt };
	u32 window;

	ack.now_us = nn_microseconds(&c->left, now);
	ack.clock = c->left.us;
	window = nn_receiver_ack(&c->flow, &ack);
	if (nn_tell(&c->flow, window))
		clamp(ops, window);
	if (nn_unlikely(!c->clock_known))
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
	c->offset = bpf_ntohl(option.tsval) - (u32)nn_thousandth(nn_thousandth(bpf_ktime_get_ns()));
	c->clock_known = 1;
}

static __always_inline void yields(struct bpf_sock_ops *ops, struct connection *c)
{
	c->flow.acked = ops->rcv_nxt;
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
	__sync_fetch_and_add(&nn_receiver_counters.connections, 1);
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
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (!sk || !wanted(sk))
			break;
		c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (c)
			yields(ops, c);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		c = sk ? bpf_sk_storage_get(&connections, sk, 0, 0) : 0;
		if (c)
			learn_clock(ops, c);
		break;
	}
	return 1;
}

/* An ACK is about to leave: first its options are sized, then, if there are some of ours, written. */
static __always_inline int event(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk;
	struct connection *c;

	if (nn_unlikely(ops->op != BPF_SOCK_OPS_HDR_OPT_LEN_CB))
		return rare_event(ops);
	sk = ops->sk;
	c = sk ? bpf_sk_storage_get(&connections, sk, 0, 0) : 0;
	if (c)
		leaving(ops, c);
	return 1;
}

#endif
