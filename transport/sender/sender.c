/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sender shim: gives a core of algorithms/ a TCP socket. One source for the eBPF object and the kernel module; what
 * differs between them is in bpf/target.h and module/target.h. It translates a tcp_sock into facts, and a struct nn_send
 * into a tcp_sock; what happens in between is algorithms/sender/connection.h.
 */
#include "../../algorithms/common/division.h"
#include "../../algorithms/sender/connection.h"

/* Live parameters, a row an algorithm: eBPF .data, or module parameters. */
u32 nn_params_table[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

struct nn_places nn_places;

/* Of each row: its connections have a rate together, too. */
struct nn_group nn_row_groups[NN_ALGORITHM_COUNT];

NN_CHECK_PRIVATE(struct nn_flow);

nn_inline struct nn_flow *nn_flow_of(struct sock *sk)
{
	return (struct nn_flow *)nn_private(sk);
}

/* An IPv6 socket's IPv4 peer is ::ffff:a.b.c.d (RFC 4291, 2.5.5.2): the same destination as of an IPv4 socket. */
nn_inline struct nn_destination nn_destination(const struct sock *sk, u32 algorithm)
{
	struct nn_destination to = { { 0, nn_ipv4_of(sk) }, nn_user(sk), nn_space(sk), algorithm };

	if (nn_is_ipv6(sk) && (nn_ipv6_of(sk)[0] | nn_ipv6_of(sk)[1])) {
		to.network[0] = nn_ipv6_of(sk)[0];
		to.network[1] = nn_ipv6_of(sk)[1];
	}
	return to;
}

nn_inline struct nn_connection nn_connection_of(struct sock *sk, u32 algorithm)
{
	struct nn_connection c = {
		.flow = nn_flow_of(sk),
		.p = nn_params_table[algorithm],
		.places = &nn_places,
	};

	return c;
}

nn_inline u32 nn_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* Behind fq nothing leaves before its deadline, so none can be disregarded. */
nn_inline u32 nn_held_us(const struct tcp_sock *tp, u32 behind_fq)
{
	u64 now = tp->tcp_clock_cache, deadline = tp->tcp_wstamp_ns;

	if (deadline <= now)
		return 0;
	deadline = nn_thousandth(deadline - now);
	return (deadline < NN_NEVER ? (u32)deadline : NN_NEVER) & (behind_fq - 1u);
}

nn_inline struct nn_ack nn_facts(const struct tcp_sock *tp, u32 behind_fq)
{
	struct nn_ack ack = {
		.now_us = (u32)tp->tcp_mstamp,
		.delivered = tp->delivered,
		.sent_delivered = tp->delivered,
		.lost = tp->lost_out,
		.in_flight = nn_in_flight(tp),
		.mss = tp->mss_cache,
		.held_us = nn_held_us(tp, behind_fq),
		.peer_stamp = tp->rx_opt.rcv_tsval,
	};

	return ack;
}

nn_inline struct nn_ack nn_facts_of_ack(const struct tcp_sock *tp, u32 behind_fq, const struct rate_sample *rs,
					bool retransmitted)
{
	struct nn_ack ack = nn_facts(tp, behind_fq);
	s64 rtt = rs->rtt_us;

	ack.sent_delivered = rs->prior_delivered;
	ack.acked = rs->acked_sacked;
	ack.rtt_us = rtt > 0 ? (u32)rtt : 0;
	ack.flags = rs->is_app_limited * NN_APP_LIMITED | rs->is_ack_delayed * NN_DELAYED |
		    (rs->is_retrans | retransmitted) * NN_RETRANSMITTED;
	return ack;
}

nn_inline u32 nn_recovery_of(u8 state)
{
	return state == TCP_CA_Loss ? NN_TIMEOUT : state >= TCP_CA_CWR ? NN_REDUCED : NN_OPEN;
}

/*
 * An application's own SO_MAX_PACING_RATE stays above all.
 *
 * Where the fq qdisc sends each segment when it is due, those of a pair leave one by one, and meet delayed ACKs. So TCP's
 * own pacing holds them back there, too, and fq gets them when they are due. The kernel says so anew whenever fq meets the
 * connection.
 */
nn_inline void nn_send_as(struct sock *sk, const struct nn_send *send)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct nn_flow *flow = nn_flow_of(sk);
	u64 most = sk->sk_max_pacing_rate;
	u32 pacing = sk->sk_pacing_status, paced;

	_Static_assert(SK_PACING_FQ == 2 && SK_PACING_NEEDED == 1,
		       "without a branch: each doubles what the verifier follows");
	flow->behind_fq |= pacing >> 1;
	paced = (send->now ^ 1u) | flow->behind_fq;
	if (most != ~0ull)
		paced = SK_PACING_NEEDED;
	nn_set_cwnd(tp, nn_min(send->cwnd, tp->snd_cwnd_clamp));
	nn_set_rate(sk, send->rate < most ? send->rate : most);
	if (nn_unlikely(pacing != paced))
		nn_set_pacing(sk, paced);
}

/*
 * setsockopt(TCP_CONGESTION) clears what an algorithm kept. Its legacy waits for the next in the counter of
 * tcp_cong_avoid_ai(), which that starts over when it is larger than the window.
 */
nn_inline void nn_sender_init(struct sock *sk, u32 algorithm)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct nn_connection c = nn_connection_of(sk, algorithm);
	struct nn_ack ack = nn_facts(tp, c.flow->behind_fq);
	struct nn_beginning beginning = { tp->srtt_us >> 3, tp->snd_cwnd_cnt, tp->snd_cwnd };
	struct nn_send send;

	if (nn_connection_start(algorithm, &c, &ack, &beginning, &send))
		tp->snd_cwnd_cnt = 0;
	/* at once: what the SYN-ACK's cong_control left must not pace the first window */
	nn_send_as(sk, &send);
	nn_see_mark(sk);
}

nn_inline void nn_sender_release(struct sock *sk, u32 algorithm)
{
	struct nn_connection c = nn_connection_of(sk, algorithm);
	struct nn_send send;
	u32 legacy;

	if (!c.flow->ready)
		return;
	legacy = nn_connection_leave(&c, &send);
	if (legacy && nn_state(sk) != TCP_CLOSE) /* or the socket's next connection would take it for its own */
		tcp_sk(sk)->snd_cwnd_cnt = legacy;
	nn_send_as(sk, &send);
	if (c.flow->behind_fq)
		nn_set_pacing(sk, SK_PACING_FQ);
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
}

/* A round is over. What the connection's group, or else its row, is to have at least says what it has from the next on. */
nn_rare u32 nn_sender_share(struct sock *sk, u32 algorithm, u32 start_us, u32 delivered)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rate = nn_params_table[algorithm][NN_P_at_least];
	struct nn_group *group = nn_group_of(sk, &rate);

	if (!group)
		group = &nn_row_groups[algorithm];
	return nn_take_share(nn_flow_of(sk), group, rate, start_us, (tp->delivered - delivered) * tp->mss_cache);
}

nn_inline void nn_sender_acked(struct sock *sk, u32 algorithm, const struct rate_sample *rs, bool retransmitted)
{
	struct nn_connection c = nn_connection_of(sk, algorithm);
	struct nn_ack ack = nn_facts_of_ack(tcp_sk(sk), c.flow->behind_fq, rs, retransmitted);
	struct nn_destination to = nn_destination(sk, algorithm);
	u32 start_us = c.flow->round.start_us, begun = c.flow->round.end;
	struct nn_send send;

	c.to = &to;
	if (nn_connection_ack(algorithm, &c, &ack, &send)) {
		nn_send_as(sk, &send);
		if (nn_has_siblings(algorithm) && nn_unlikely(c.flow->round.end != begun))
			nn_sender_share(sk, algorithm, start_us, begun);
	}
	nn_keep_mark(sk);
}

/*
 * No min_tso_segs: pairs leave together by net.ipv4.tcp_min_tso_segs, which is 2. With an operation in eBPF that said so,
 * Linux 6.18 cut a segment of no bytes off what waits, in four of seven runs. Why is not known. The probe timer sends that
 * segment, and no ACK ever comes.
 */
#define NN_DEFINE(name, ...)                                                                                           \
	NN_OP(void, name##_init, struct sock *sk)                                                                      \
	{                                                                                                              \
		nn_sender_init(sk, NN_A_##name);                                                                       \
	}                                                                                                              \
	NN_OP(void, name##_release, struct sock *sk)                                                                   \
	{                                                                                                              \
		nn_sender_release(sk, NN_A_##name);                                                                    \
	}                                                                                                              \
	NN_CONG_CONTROL(name)                                                                                          \
	NN_OP(void, name##_state, struct sock *sk, u8 state)                                                           \
	{                                                                                                              \
		struct nn_connection c = nn_connection_of(sk, NN_A_##name);                                            \
                                                                                                                       \
		nn_connection_recovery(NN_A_##name, &c, nn_recovery_of(state), (u32)tcp_sk(sk)->tcp_mstamp,            \
				       tcp_sk(sk)->delivered);                                                         \
	}                                                                                                              \
	NN_OP(void, name##_event, struct sock *sk, enum tcp_ca_event event)                                            \
	{                                                                                                              \
		struct nn_connection c = nn_connection_of(sk, NN_A_##name);                                            \
                                                                                                                       \
		if (event == CA_EVENT_TX_START)                                                                        \
			nn_connection_restart(NN_A_##name, &c, (u32)tcp_sk(sk)->tcp_mstamp, tcp_sk(sk)->delivered);    \
	}                                                                                                              \
	NN_OP(u32, name##_ssthresh, struct sock *sk)                                                                   \
	{                                                                                                              \
		return nn_connection_ssthresh(nn_flow_of(sk));                                                         \
	}                                                                                                              \
	NN_OP(u32, name##_undo_cwnd, struct sock *sk)                                                                  \
	{                                                                                                              \
		struct nn_connection c = nn_connection_of(sk, NN_A_##name);                                            \
                                                                                                                       \
		return nn_connection_undo(NN_A_##name, &c);                                                            \
	}                                                                                                              \
	NN_REGISTER(name)

NN_ALGORITHMS(NN_DEFINE)
