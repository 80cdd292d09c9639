// SPDX-License-Identifier: GPL-2.0
/*
 * waiting - connections that no process has a descriptor of, switched with their process
 *
 * Some are in the queue of a listening socket. An iterator over the TCP sockets of a network namespace visits listening
 * sockets first, and remembers the queues of those that it was asked for. Then it visits the connections themselves, each
 * under its lock. It switches them as crates/loader/src/live/ switches the sockets of a process.
 *
 * Others are subflows of an MPTCP connection. The kernel gives them the settings of the MPTCP socket, but does not make their
 * incoming traffic yield. Loaded when there are such connections, and for one pass.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../../algorithms/niceness/niceness.h"
#include "../receiver/join.h"
#include "../receiver/wishes.h"
#include "control.h"
#include "keep.h"
#include "moved.h"
#include "waiting.h"

/* By cookie: listening sockets, and those of MPTCP. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WAITING_SOCKETS);
	__type(key, u64);
	__type(value, u32);
} targets SEC(".maps");

/* By address, from when their listener was met to when they are. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WAITING_CONNECTIONS);
	__type(key, u64);
	__type(value, u32);
} waiting SEC(".maps");

const volatile struct waiting_choices nn_waiting_choices SEC(".rodata.waiting");
struct waiting_counters nn_waiting_counters SEC(".data");

/* An application of MPTCP knows the socket above. */
static __always_inline u64 cookie_of(struct tcp_sock *tcp)
{
	struct mptcp_subflow_context *flow;

	if (!BPF_CORE_READ_BITFIELD(tcp, is_mptcp))
		return BPF_CORE_READ(tcp, inet_conn.icsk_inet.sk.__sk_common.skc_cookie.counter);
	flow = BPF_CORE_READ(tcp, inet_conn.icsk_ulp_data);
	return BPF_CORE_READ(flow, conn, __sk_common.skc_cookie.counter);
}

static long remember(u32 nth, struct request_sock **request)
{
	u64 at = (u64)BPF_CORE_READ(*request, sk);
	u32 value = 1;

	if (at)
		bpf_map_update_elem(&waiting, &at, &value, BPF_ANY);
	*request = BPF_CORE_READ(*request, dl_next);
	return !*request;
}

/* Back to what it had, where the mark is still ours. */
static __always_inline void unmark(struct tcp_sock *tcp, const struct socket_before *had)
{
	struct sock *sk = &tcp->inet_conn.icsk_inet.sk;
	bool ipv4 = sends_ipv4(sk);

	if ((tos_of(sk, ipv4) & ~3) == POLICY_TOS)
		put_marks(tcp, ipv4, ipv4 ? had->tos : had->traffic_class,
			  nn_niceness_priority(sk->sk_priority, had->priority, POLICY_PRIORITY));
}

static __always_inline void turn_marks(struct tcp_sock *tcp, const struct socket_before *had, bool of_level)
{
	struct socket_before *noted;

	if (nn_waiting_choices.mark) {
		put_marks(tcp, sends_ipv4(&tcp->inet_conn.icsk_inet.sk), POLICY_TOS, POLICY_PRIORITY);
		mark_stays(tcp);
	}
	if (!nn_waiting_choices.unmark || !(of_level || had->marked)) /* LE may be the application's own */
		return;
	noted = bpf_sk_storage_get(&before, tcp, 0, 0);
	if (noted)
		noted->marked = 0;
	unmark(tcp, had);
}

static __always_inline void turn_receiving(struct tcp_sock *tcp)
{
	u32 by = NN_BY_NETNICE;

	if (nn_waiting_choices.release) {
		bpf_sk_storage_delete(&wishes, tcp);
		leave(tcp);
	}
	if (!nn_waiting_choices.receive)
		return;
	if (!bpf_sk_storage_get(&wishes, tcp, &by, BPF_SK_STORAGE_GET_F_CREATE) ||
	    join(tcp, tcp->rcv_nxt, tcp->data_segs_in)) {
		bpf_sk_storage_delete(&wishes, tcp);
		COUNT(&nn_waiting_counters, unjoined);
	}
}

static __always_inline void turn(struct tcp_sock *tcp)
{
	u32 known = 1, now = rank_of(tcp), wanted = nn_waiting_choices.rank;
	struct socket_before had = {}, *noted = bpf_sk_storage_get(&before, tcp, 0, 0);
	char name[16];
	long failed = 0;

	if (!now && wanted)
		note_before(tcp, tcp, 0, tcp->inet_conn.icsk_inet.sk.__sk_common.skc_family == AF_INET6);
	else if (noted)
		had = *noted;
	for (u32 i = 0; i < sizeof(name); i++)
		name[i] = had.cc_name[0] && !wanted ? had.cc_name[i] : nn_waiting_choices.cc_name[i];
	bpf_sk_storage_get(&moved, tcp, &known, BPF_SK_STORAGE_GET_F_CREATE);
	if (nn_niceness_stays(now, wanted, nn_waiting_choices.only_nicer)) {
		COUNT(&nn_waiting_counters, done);
		return;
	}
	turn_receiving(tcp);
	if (nn_niceness_turns(now, wanted))
		failed = bpf_setsockopt(tcp, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	turn_marks(tcp, &had, now);
	if (failed) {
		nn_waiting_counters.reason = failed;
		COUNT(&nn_waiting_counters, refused);
	} else {
		COUNT(&nn_waiting_counters, done);
	}
}

SEC("iter/tcp")
int each(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct request_sock *request;
	struct tcp_sock *tcp;
	u64 key;

	tcp = sk ? bpf_skc_to_tcp_sock(sk) : 0; /* none: it is a request, or in TIME-WAIT */
	if (!tcp)
		return 0;
	if (sk->skc_state == BPF_TCP_LISTEN) {
		key = cookie_of(tcp);
		request = BPF_CORE_READ(tcp, inet_conn.icsk_accept_queue.rskq_accept_head);
		if (request && bpf_map_lookup_elem(&targets, &key))
			bpf_loop(WAITING_CONNECTIONS, remember, &request, 0);
		return 0;
	}
	if (BPF_CORE_READ_BITFIELD(tcp, is_mptcp)) {
		key = cookie_of(tcp);
		if (bpf_map_lookup_elem(&targets, &key))
			turn_receiving(tcp);
	}
	key = (u64)tcp;
	/* Accepted meanwhile: then its process has it, and is looked at again. */
	if (!bpf_map_delete_elem(&waiting, &key) && !BPF_CORE_READ(tcp, inet_conn.icsk_inet.sk.sk_socket))
		turn(tcp);
	return 0;
}
