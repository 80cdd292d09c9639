/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of the sender cores, one flat row of u32 an algorithm. So the same table is eBPF `.data` (live through
 * its pinned map), a kernel module's parameters and a host program's array. `netnicectl set` takes these names. Every row has
 * room for all of them; a core's header lists those that it uses, with their values: #define CORE_PARAMS(P) P(name, value)
 */
#ifndef NN_PARAMS_H
#define NN_PARAMS_H

#include "types.h"
#include "window.h"

/* X(name, unit, least, most, why it exists). A row with a value outside of least and most does not build (crates/loader). */
#define NN_PARAMS(X)                                                                                                   \
	X(threshold, "percent of the buffer", 0, 100, "queue that counts as congestion: t of TCP Nice, section 2.2")   \
	X(fraction, "percent of a round's segments", 0, 100, "how many must see it: f of TCP Nice, section 2.2")       \
	X(alpha, "segments", 0, 10000, "Vegas grows while it keeps fewer queued")                                      \
	X(beta, "segments", 0, 10000, "Vegas shrinks while it keeps more queued")                                      \
	X(gamma, "segments", 0, 10000, "Vegas leaves slow start when it keeps more queued")                            \
	X(min_window, "1/4096 segment", 1, 65535, "the floor: 85 is the paper's 1/48")                                 \
	X(initial_window, "segments", 1, 10, "the first window, where it is not two")                                  \
	X(unpaced, "0 no, 1 yes", 0, 1, "two segments and more leave as ACKs let them go, as TCP Nice's prototype")    \
	X(queue_floor, "microseconds", 0, 10000000, "queueing delay below this is timer noise, not a queue")           \
	X(max_gap, "milliseconds, 0 none", 0, 3600000, "longest silence between two pairs of one flow below W = 1")    \
	X(peer_gap, "milliseconds, 0 none", 0, 3600000, "max_gap is at least this times the host's flows below W = 1") \
	X(target, "milliseconds", 1, 1000, "queueing delay that LEDBAT steers for: RFC 6817, section 3.3")             \
	X(slow_start_exit, "percent of target", 0, 100, "queueing delay at which LEDBAT's slow start ends")            \
	X(slowdown, "times its own length, 0 none", 0, 1000, "pause between LEDBAT++'s slowdowns")                     \
	X(inference, "round trips", 0, 64, "how long TCP-LP watches after an early indication")                        \
	X(rtt_limit, "percent of minRTT", 100, 10000, "RTT that counts as congestion: thresh of TCP Nicer")            \
	X(keep, "1/4096", 0, 4096, "part of the window that congestion leaves: mul/2 of TCP Nicer")                    \
	X(add, "1/4096 segment", 0, 4096000, "growth per round: add of TCP Nicer")                                     \
	X(delay, "rounds", 0, 100000, "congested rounds that pass before the answer, as in TCP Nicer")                 \
	X(band_packets, "1/16 packet time", 0, 65535, "queue that a level stays below, in packets at the bottleneck")  \
	X(band_us, "microseconds", 0, 10000000, "the same in time: the larger counts")                                 \
	X(start_window, "1/4096 segment", 1, 40960, "the first window of a level")                                     \
	X(soft_shift, "bits", 1, 31, "a first cut takes 2^-this beyond the own queue")                                 \
	X(soft_cuts, "cuts", 0, 1000000, "so many take the own queue back before one takes the window")                \
	X(quiet_rounds, "rounds", 0, 63, "rounds without a queue before growth speeds up")                             \
	X(quiet_pairs, "pairs", 0, 63, "pairs in a row that meet no queue before it grows below one segment")          \
	X(climb, "factor", 1, 64, "growth per undelayed pair below one segment")                                       \
	X(force_window, "1/4096 segment, 0 off", 0, 1073741823, "hold the window there, for measurement")

enum nn_param {
#define NN_PARAM_INDEX(name, ...) NN_P_##name,
	NN_PARAMS(NN_PARAM_INDEX)
#undef NN_PARAM_INDEX
		NN_PARAM_COUNT
};

/* One parameter of a row: { CORE_PARAMS(NN_PARAM_VALUE) }. */
#define NN_PARAM_VALUE(name, value) [NN_P_##name] = (value),

typedef const u32 *nn_params;

#endif
