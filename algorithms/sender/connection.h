/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connection from its start to its end, for any algorithm of the table:
 *
 *   what the kernel tells -> struct nn_ack -> core, siblings -> window -> struct nn_send
 *
 * Every user of the cores comes this way: eBPF, the kernel module, the replay of recorded flows, ns-3, the unit tests.
 */
#ifndef NN_CONNECTION_H
#define NN_CONNECTION_H

#include "../common/verifier.h"
#include "../siblings/group.h"
#include "handover.h"
#include "hooks.h"

struct nn_connection {
	struct nn_flow *flow;
	nn_params p; /* the algorithm's row, live */
	struct nn_places *places; /* of all flows of this host */
	const struct nn_destination *to; /* for an ACK */
};

/* What a connection begins with. */
struct nn_beginning {
	u32 srtt_us; /* of the handshake, or of the connection so far; 0: none */
	u32 legacy; /* the word that another algorithm may have left (handover.h) */
	u32 cwnd; /* segments, as it left them */
};

/*
 * What follows from the kernel's facts. Karn's rule holds in spite of timestamps. A retransmission leaves at once while a
 * pacing deadline lies ahead, and Linux stamps it with that deadline. Its echo makes an RTT that is far too small.
 */
nn_inline struct nn_ack nn_judge(struct nn_ack ack)
{
	if (nn_unlikely(ack.flags & NN_RETRANSMITTED))
		ack.rtt_us = 0; /* nor a round's time (pace.h) */
	if (nn_unlikely(ack.flags & NN_DELAYED || (ack.acked == 1 && !ack.in_flight)))
		ack.flags |= NN_LONE;
	ack.flags &= NN_APP_LIMITED | NN_LONE | NN_RETRANSMITTED;
	return ack;
}

/*
 * Does this ACK end no round, and find the flow in the usual state? Nearly all ACKs do. They take a path of their own,
 * without decisions and without the divisions of a clock and a mean.
 */
nn_inline bool nn_is_ordinary(const struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	return nn_likely(!nn_round_over(&flow->round, ack) && !ack->flags && flow->win.w >= NN_PAIR * NN_ONE &&
			 nn_is_settled(flow) && !p[NN_P_force_window]);
}

/* The core is done: how may the connection send? */
nn_inline void nn_settle(const struct nn_connection *c, const struct nn_ack *ack, struct nn_send *send)
{
	nn_pace(c->flow, c->p, ack, send);
	c->flow->sub_packet = nn_is_sub_packet(c->flow);
}

nn_inline void nn_ack_ordinary(u32 algorithm, const struct nn_connection *c, const struct nn_ack *ack,
			       struct nn_send *send)
{
	nn_on_ack(algorithm, c->flow, c->p, ack);
	c->flow->last_us = ack->now_us;
	if (nn_unlikely(c->flow->win.w < NN_PAIR * NN_ONE)) {
		nn_settle(c, ack, send);
		return;
	}
	send->now = false;
	nn_pace_window(c->flow, c->p, ack, c->flow->win.w, send);
}

nn_inline void nn_ack_other(u32 algorithm, const struct nn_connection *c, const struct nn_ack *ack,
			    struct nn_send *send)
{
	bool over = nn_round_over(&c->flow->round, ack);

	nn_on_ack(algorithm, c->flow, c->p, ack);
	if (over && nn_has_siblings(algorithm)) {
		struct nn_siblings siblings;
		u32 before = c->flow->win.w;

		c->flow->win.asking = nn_siblings_round(c->places, c->to, c->flow, ack, &siblings);
		nn_forget();
		nn_on_round_end(algorithm, c->flow, c->p, ack, &siblings);
		nn_keep_share(c->flow, before, ack->mss);
	}
	nn_forget();
	c->flow->last_us = ack->now_us;
	nn_settle(c, ack, send);
}

/*
 * A function for each row, which in eBPF stays out of the ordinary ACKs' way (nn_rare). It returns a number that is used:
 * the verifier refuses a function that happens to leave a pointer where its result would be.
 */
#define NN_ROW(name, ...)                                                                                              \
	nn_rare u32 name##_ack_other(const struct nn_connection *c, const struct nn_ack *ack, struct nn_send *send)    \
	{                                                                                                              \
		nn_ack_other(NN_A_##name, c, ack, send);                                                               \
		return send->cwnd;                                                                                     \
	}
NN_ALGORITHMS(NN_ROW)
#undef NN_ROW

/* Of copies, so that on the ordinary way everything stays in registers. */
nn_inline void nn_ack_aside(u32 algorithm, struct nn_connection c, struct nn_ack ack, struct nn_send *send)
{
	struct nn_send copy = { 0 };

	switch (algorithm) {
#define NN_ROW(name, ...) NN_CALL(name, send->cwnd = name##_ack_other(&c, &ack, &copy))
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
	send->rate = copy.rate;
	send->now = copy.now;
}

/* Of an ACK only now_us, delivered, in_flight, mss and held_us count. True: the legacy was one, and has been taken. */
nn_inline bool nn_connection_start(u32 algorithm, const struct nn_connection *c, const struct nn_ack *ack,
				   const struct nn_beginning *beginning, struct nn_send *send)
{
	bool inherited;

	c->flow->sub_packet = 0;
	nn_on_start(algorithm, c->flow, c->p, ack->now_us, ack->delivered, beginning->srtt_us);
	inherited = nn_inherit(c->flow, beginning->legacy, beginning->cwnd);
	c->flow->ready = ack->in_flight ? NN_TAKES_OVER : NN_READY;
	c->flow->win.turn = (u8)(nn_turn(ack->now_us) - 1);
	nn_settle(c, ack, send);
	return inherited;
}

/* False: there is nothing to do, as Linux tells of the SYN-ACK before the connection has started. */
nn_inline bool nn_connection_ack(u32 algorithm, const struct nn_connection *c, const struct nn_ack *facts,
				 struct nn_send *send)
{
	struct nn_ack ack = nn_judge(*facts);

	if (!c->flow->ready)
		return false;
	if (nn_unlikely(c->flow->ready == NN_TAKES_OVER) && nn_reached(ack.sent_delivered, c->flow->drained))
		c->flow->ready = NN_READY;
	if (nn_is_ordinary(c->flow, c->p, &ack))
		nn_ack_ordinary(algorithm, c, &ack, send);
	else
		nn_ack_aside(algorithm, *c, ack, send);
	return true;
}

/* A timeout begins a round: what is in flight was sent before it, and tells nothing of the window that it left. */
nn_inline void nn_connection_recovery(u32 algorithm, const struct nn_connection *c, enum nn_recovery state, u32 now_us,
				      u32 delivered)
{
	nn_on_recovery(algorithm, c->flow, state);
	if (state == NN_TIMEOUT)
		nn_round_begin(&c->flow->round, delivered, now_us);
}

nn_inline void nn_connection_restart(u32 algorithm, const struct nn_connection *c, u32 now_us, u32 delivered)
{
	nn_on_restart(algorithm, c->flow, c->p, now_us, delivered);
	nn_forget();
}

/* Another algorithm takes the connection over. The word to leave to it; 0: none. */
nn_inline u32 nn_connection_leave(const struct nn_connection *c, struct nn_send *send)
{
	nn_hand_over(c->flow, send);
	return nn_legacy(c->flow);
}

/* Whole segments, as Linux counts them: its least ssthresh, and cwnd after an undo, is two. */
nn_inline u32 nn_segments(u32 w)
{
	return nn_max(w >> NN_SHIFT, 2);
}

/* The window to go back to, segments. */
nn_inline u32 nn_connection_undo(u32 algorithm, const struct nn_connection *c)
{
	nn_on_undo(algorithm, c->flow);
	return nn_segments(c->flow->win.w);
}

/* What is left after the loss at hand, segments. */
nn_inline u32 nn_connection_ssthresh(const struct nn_flow *flow)
{
	return nn_segments(nn_half(&flow->win));
}

#endif
