/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sender shim: gives a core of algorithms/ a TCP socket. One source for the eBPF object and the kernel module; what
 * differs between them is in bpf/target.h and module/target.h. It translates and decides nothing.
 */
#include "../../algorithms/sender/handover.h"
#include "../../algorithms/sender/table.h"
#include "../../algorithms/siblings/word.h"

/* Live parameters, a row an algorithm: eBPF .data, or module parameters. */
u32 nn_params_table[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;

/* Flows of this host whose window is below one segment, by algorithm. */
s32 nn_starving[NN_ALGORITHM_COUNT];

/* Flows of one algorithm to one place: what they have in flight together is one thing. */
#define NN_KIN_PLACES 64

struct nn_kin {
	u64 windows; /* sum, 1/4096 segment */
	u64 flows;
	struct nn_word word;
};

struct nn_kin nn_kin[NN_ALGORITHM_COUNT * NN_KIN_PLACES];

NN_CHECK_PRIVATE(struct nn_flow);

nn_inline struct nn_flow *nn_flow_of(const struct sock *sk)
{
	return (struct nn_flow *)nn_private(sk);
}

nn_inline u32 nn_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

nn_inline u32 nn_held_us(const struct tcp_sock *tp)
{
	u64 now = tp->tcp_clock_cache, deadline = tp->tcp_wstamp_ns;

	if (deadline <= now)
		return 0;
	deadline = (deadline - now) / 1000;
	return deadline < NN_NEVER ? (u32)deadline : NN_NEVER;
}

nn_inline void nn_fill(struct nn_ack *ack, const struct tcp_sock *tp, u32 algorithm)
{
	ack->now_us = (u32)tp->tcp_mstamp;
	ack->delivered = tp->delivered;
	ack->sent_delivered = tp->delivered;
	ack->acked = 0;
	ack->rtt_us = 0;
	ack->in_flight = nn_in_flight(tp);
	ack->mss = tp->mss_cache;
	ack->held_us = nn_held_us(tp);
	ack->starving = nn_starving[algorithm] > 0 ? nn_starving[algorithm] : 0;
	ack->flags = 0;
	ack->kin = 1;
	ack->kin_window = 0;
	ack->kin_worst = 0;
	ack->peer_stamp = tp->rx_opt.rcv_tsval;
}

/* Two places may meet in a slot: they then share too. */
nn_inline struct nn_kin *nn_kin_of(const struct sock *sk, u32 algorithm)
{
	u32 place = nn_place(sk);

	return &nn_kin[algorithm * NN_KIN_PLACES + ((place * 2654435761u) >> 26) % NN_KIN_PLACES];
}

nn_inline void nn_kin_change(const struct sock *sk, u32 algorithm, s32 flows, u32 before, u32 after)
{
	if (flows)
		nn_add(&nn_kin_of(sk, algorithm)->flows, (s64)flows);
	if (before != after)
		nn_add(&nn_kin_of(sk, algorithm)->windows, (s64)after - before);
}

nn_inline void nn_fill_kin(struct nn_ack *ack, const struct nn_kin *kin)
{
	u64 mean = kin->flows ? kin->windows / kin->flows : 0;

	ack->kin = kin->flows;
	ack->kin_window = mean < NN_NEVER ? (u32)mean : NN_NEVER;
	ack->kin_worst = nn_take_word(&kin->word, ack->now_us);
}

/*
 * Does this ACK end a round, or find the flow in a state that few have? All others, nearly all, take a way of their own
 * that the compiler has freed of what only those need: decisions, and a clock's and a mean's divisions.
 */
nn_inline bool nn_is_rare(const struct nn_flow *flow, const struct nn_ack *ack)
{
	return nn_unlikely(nn_round_over(&flow->round, ack) || ack->flags || flow->win.w < NN_PAIR * NN_ONE ||
			   !nn_is_settled(flow));
}

/*
 * Karn's rule, though there are timestamps: a retransmission leaves at once while a pacing deadline lies ahead, and Linux
 * stamps it with that deadline, so its echo makes an RTT that is far too small.
 */
nn_inline void nn_fill_rate_sample(struct nn_ack *ack, const struct rate_sample *rs, bool retransmitted)
{
	s64 rtt = rs->rtt_us;

	ack->sent_delivered = rs->prior_delivered;
	ack->acked = rs->acked_sacked;
	ack->rtt_us = rtt > 0 && !rs->is_retrans && !retransmitted ? (u32)rtt : 0;
	if (rs->is_app_limited)
		ack->flags |= NN_APP_LIMITED;
	if (rs->is_ack_delayed || (ack->acked == 1 && !ack->in_flight))
		ack->flags |= NN_LONE;
}

nn_inline void nn_count_starving(struct nn_flow *flow, u32 algorithm, bool starving)
{
	if (starving == flow->starving)
		return;
	nn_add(&nn_starving[algorithm], starving ? 1 : -1);
	flow->starving = starving;
}

/* An application's own SO_MAX_PACING_RATE stays above all. */
nn_inline void nn_send_as(struct sock *sk, const struct nn_send *send)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 most = sk->sk_max_pacing_rate;

	nn_set_cwnd(tp, nn_min(send->cwnd, tp->snd_cwnd_clamp));
	nn_set_rate(sk, send->rate < most ? send->rate : most);
	nn_set_paced(sk, !send->now || most != ~0ull);
}

nn_inline void nn_apply(struct sock *sk, struct nn_flow *flow, u32 algorithm, const struct nn_ack *ack)
{
	struct nn_send send;

	nn_pace(flow, nn_params_table[algorithm], ack, &send);
	nn_send_as(sk, &send);
	nn_count_starving(flow, algorithm, nn_is_starving(flow));
}

/*
 * setsockopt(TCP_CONGESTION) clears what an algorithm kept. Its legacy waits for the next in the counter of
 * tcp_cong_avoid_ai(), which that starts over when it is larger than the window.
 */
nn_inline void nn_leave_base(struct tcp_sock *tp, const struct nn_flow *flow)
{
	u32 word = nn_legacy(flow);

	if (word)
		tp->snd_cwnd_cnt = word;
}

nn_inline void nn_find_base(struct tcp_sock *tp, struct nn_flow *flow)
{
	if (nn_inherit(flow, tp->snd_cwnd_cnt, tp->snd_cwnd))
		tp->snd_cwnd_cnt = 0;
}

nn_inline void nn_sender_release(struct sock *sk, u32 algorithm)
{
	struct nn_flow *flow = nn_flow_of(sk);
	struct nn_send send;

	if (!flow->ready)
		return;
	nn_count_starving(flow, algorithm, false);
	nn_kin_change(sk, algorithm, -1, flow->win.w, 0);
	nn_leave_base(tcp_sk(sk), flow);
	nn_hand_over(flow, &send);
	nn_send_as(sk, &send);
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
}

typedef void nn_on_start(struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us);

nn_inline void nn_sender_init(struct sock *sk, u32 algorithm, nn_on_start *start)
{
	struct nn_flow *flow = nn_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	nn_params p = nn_params_table[algorithm];
	struct nn_ack ack;

	flow->starving = 0;
	nn_fill(&ack, tp, algorithm);
	start(flow, p, ack.now_us, ack.delivered, tp->srtt_us >> 3);
	nn_find_base(tp, flow);
	nn_kin_change(sk, algorithm, 1, 0, flow->win.w);
	/* at once: what the SYN-ACK's cong_control left must not pace the first window */
	nn_apply(sk, flow, algorithm, &ack);
}

nn_inline u32 nn_recovery_of(u8 state)
{
	return state == TCP_CA_Loss ? NN_TIMEOUT : state >= TCP_CA_CWR ? NN_REDUCED : NN_OPEN;
}

nn_inline u32 nn_segments(u32 w)
{
	return nn_max(w >> NN_SHIFT, 2); /* Linux's own least ssthresh and cwnd after an undo */
}

#define NN_DEFINE(name, core, shipped, ...)                                                                            \
	NN_OP(void, name##_init, struct sock *sk)                                                                      \
	{                                                                                                              \
		nn_sender_init(sk, NN_A_##name, core##_on_start);                                                      \
	}                                                                                                              \
	NN_OP(void, name##_release, struct sock *sk)                                                                   \
	{                                                                                                              \
		nn_sender_release(sk, NN_A_##name);                                                                    \
	}                                                                                                              \
	nn_inline void name##_take(struct sock *sk, struct nn_flow *flow, const struct nn_ack *ack, bool rare)         \
	{                                                                                                              \
		u32 before = flow->win.w;                                                                              \
                                                                                                                       \
		core##_on_ack(flow, nn_params_table[NN_A_##name], ack);                                                \
		if (rare)                                                                                              \
			nn_forget();                                                                                   \
		flow->last_us = ack->now_us;                                                                           \
		nn_apply(sk, flow, NN_A_##name, ack);                                                                  \
		nn_kin_change(sk, NN_A_##name, 0, before, flow->win.w);                                                \
	}                                                                                                              \
	nn_rare void name##_acked_rarely(struct sock *sk, const struct rate_sample *rs, bool retransmitted)            \
	{                                                                                                              \
		struct nn_ack ack;                                                                                     \
                                                                                                                       \
		nn_fill(&ack, tcp_sk(sk), NN_A_##name);                                                                \
		nn_fill_rate_sample(&ack, rs, retransmitted);                                                          \
		nn_fill_kin(&ack, nn_kin_of(sk, NN_A_##name));                                                         \
		name##_take(sk, nn_flow_of(sk), &ack, true);                                                           \
		nn_give_word(&nn_kin_of(sk, NN_A_##name)->word, nn_flow_of(sk), ack.now_us);                           \
	}                                                                                                              \
	nn_inline void name##_acked(struct sock *sk, const struct rate_sample *rs, bool retransmitted)                 \
	{                                                                                                              \
		struct nn_flow *flow = nn_flow_of(sk);                                                                 \
		struct nn_ack ack;                                                                                     \
                                                                                                                       \
		if (!flow->ready)                                                                                      \
			return;                                                                                        \
		nn_fill(&ack, tcp_sk(sk), NN_A_##name);                                                                \
		nn_fill_rate_sample(&ack, rs, retransmitted);                                                          \
		if (nn_is_rare(flow, &ack))                                                                            \
			name##_acked_rarely(sk, rs, retransmitted);                                                    \
		else                                                                                                   \
			name##_take(sk, flow, &ack, false);                                                            \
	}                                                                                                              \
	NN_CONG_CONTROL(name)                                                                                          \
	NN_OP(void, name##_state, struct sock *sk, u8 state)                                                           \
	{                                                                                                              \
		struct nn_flow *flow = nn_flow_of(sk);                                                                 \
		u32 before = flow->win.w;                                                                              \
                                                                                                                       \
		core##_on_recovery(flow, nn_params_table[NN_A_##name], nn_recovery_of(state));                         \
		nn_kin_change(sk, NN_A_##name, 0, before, flow->win.w);                                                \
	}                                                                                                              \
	NN_OP(void, name##_event, struct sock *sk, enum tcp_ca_event event)                                            \
	{                                                                                                              \
		struct nn_flow *flow = nn_flow_of(sk);                                                                 \
		u32 before = flow->win.w;                                                                              \
                                                                                                                       \
		if (event != CA_EVENT_TX_START)                                                                        \
			return;                                                                                        \
		nn_flow_restart(flow, nn_params_table[NN_A_##name], (u32)tcp_sk(sk)->tcp_mstamp);                      \
		nn_forget();                                                                                           \
		nn_kin_change(sk, NN_A_##name, 0, before, flow->win.w);                                                \
	}                                                                                                              \
	NN_OP(u32, name##_ssthresh, struct sock *sk)                                                                   \
	{                                                                                                              \
		return nn_segments(nn_half(&nn_flow_of(sk)->win));                                                     \
	}                                                                                                              \
	NN_OP(u32, name##_undo_cwnd, struct sock *sk)                                                                  \
	{                                                                                                              \
		u32 before = nn_flow_of(sk)->win.w;                                                                    \
                                                                                                                       \
		nn_undo(&nn_flow_of(sk)->win);                                                                         \
		nn_kin_change(sk, NN_A_##name, 0, before, nn_flow_of(sk)->win.w);                                      \
		return nn_segments(nn_flow_of(sk)->win.w);                                                             \
	}                                                                                                              \
	NN_OP(u32, name##_min_tso_segs, struct sock *sk)                                                               \
	{                                                                                                              \
		return NN_PAIR;                                                                                        \
	}                                                                                                              \
	NN_REGISTER(name)

NN_ALGORITHMS(NN_DEFINE)
