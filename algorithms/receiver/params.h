/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of the receiver cores, in the form of those of the senders (../common/params.h). Every row has room for all
 * of them. A core's header lists those that it uses, with their values: #define CORE_PARAMS(P) P(name, value) ...
 */
#ifndef NN_RECEIVER_PARAMS_H
#define NN_RECEIVER_PARAMS_H

#include "segment.h"

/* X(name, unit, least, most, why it exists) */
#define NN_RECEIVER_PARAMS(X)                                                                                          \
	X(target, "microseconds", 100, 1000000, "queueing delay that is tolerated")                                    \
	X(foreign, "microseconds", 100, 1000000, "queueing delay that one's own share does not explain")               \
	X(step, "microseconds", 100, 1000000, "a jump of delay between neighbours that is a burst of others")          \
	X(floor, "segments", 1, 10, "the least window; the kernel rounds it to its window scale")                      \
	X(initial, "segments", 1, 100, "the first window")                                                             \
	X(jiffy, "microseconds", 1, 100000, "the unit of Vulture's thresholds")                                        \
	X(quantum, "microseconds", 1, 100000, "clocks are rounded down to it: 4000 is the paper's kernel")             \
	X(remembered, "percent", 50, 100, "of the window before a halving, what Vulture's rwndThresh keeps")           \
	X(cautious, "0 no, 1 yes", 0, 1, "Vulture's conservative mode, always: the receiver of the paper's figure 2")  \
	X(psi, "jiffies", 1, 100, "between the sendings of the two segments that Vulture compares")                    \
	X(passive, "0 no, 1 yes", 0, 1, "Vulture measures and never acts, for measurement")                            \
	X(begins, "percent", 100, 10000, "of the sender's window, what Vulture begins with, for measurement")          \
	X(skew, "parts per million", 0, 1000, "makes our clock run fast, for measurement")                             \
	X(at_least, "kbit/s, 0 none", 0, 268435455, "all downloads together have so much: siblings/group.h")

enum nn_receiver_param {
#define NN_RECEIVER_PARAM_INDEX(name, ...) NN_R_##name,
	NN_RECEIVER_PARAMS(NN_RECEIVER_PARAM_INDEX)
#undef NN_RECEIVER_PARAM_INDEX
		NN_RECEIVER_PARAM_COUNT
};

/* One parameter of a row: { CORE_PARAMS(NN_RECEIVER_VALUE) }. */
#define NN_RECEIVER_VALUE(name, value) [NN_R_##name] = (value),

typedef const u32 *nn_receiver_params;

/* How far a clock that runs `skew` fast is ahead, microseconds, wraps. */
nn_rare u32 nn_ahead(u64 ns, u32 skew)
{
	return (u32)(ns / 1000000 * skew / 1000);
}

/* The time of an arrival on that clock. */
nn_inline u32 nn_arrival_us(nn_receiver_params p, u32 us, u64 ns)
{
	return nn_unlikely(p[NN_R_skew]) ? us + nn_ahead(ns, p[NN_R_skew]) : us;
}

#endif
