/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hooks of a core, called by its row of the table. Where the row is a constant, as in the kernel, what is left of each
 * function here is one call.
 *
 *   on_start      a connection is established, or another algorithm's becomes this one's
 *   on_ack        an ACK came
 *   on_round_end  after on_ack, if that ACK ended a round: the time to decide, and the only one to look at siblings
 *   on_recovery   the kernel's loss recovery is in this state now
 *   on_restart    the sender sends again after silence
 *   on_undo       the last loss was none
 */
#ifndef NN_HOOKS_H
#define NN_HOOKS_H

#include "table.h"

#define NN_CALL(name, call)                                                                                            \
	case NN_A_##name:                                                                                              \
		call;                                                                                                  \
		break;

nn_inline void nn_on_start(u32 algorithm, struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered, u32 srtt_us)
{
	switch (algorithm) {
#define NN_ROW(name, core, ...) NN_CALL(name, core##_on_start(flow, p, now_us, delivered, srtt_us))
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
}

nn_inline void nn_on_ack(u32 algorithm, struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	switch (algorithm) {
#define NN_ROW(name, core, ...) NN_CALL(name, core##_on_ack(flow, p, ack))
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
}

nn_inline bool nn_has_siblings(u32 algorithm)
{
	switch (algorithm) {
#define NN_ROW(name, core, ...)                                                                                        \
	case NN_A_##name:                                                                                              \
		return core##_has_siblings;
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
	return false;
}

nn_inline void nn_on_round_end(u32 algorithm, struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
			       const struct nn_siblings *siblings)
{
	switch (algorithm) {
#define NN_ROW(name, core, ...) NN_CALL(name, core##_on_round_end(flow, p, ack, siblings))
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
}

nn_inline void nn_on_recovery(u32 algorithm, struct nn_flow *flow, u32 state)
{
	switch (algorithm) {
#define NN_ROW(name, core, ...) NN_CALL(name, core##_on_recovery(flow, state))
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
}

nn_inline void nn_on_restart(u32 algorithm, struct nn_flow *flow, nn_params p, u32 now_us, u32 delivered)
{
	switch (algorithm) {
#define NN_ROW(name, core, ...) NN_CALL(name, core##_on_restart(flow, p, now_us, delivered))
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
}

nn_inline void nn_on_undo(u32 algorithm, struct nn_flow *flow)
{
	switch (algorithm) {
#define NN_ROW(name, core, ...) NN_CALL(name, core##_on_undo(flow))
		NN_ALGORITHMS(NN_ROW)
#undef NN_ROW
	}
}

#endif
