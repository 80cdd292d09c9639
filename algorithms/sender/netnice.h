/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice, levels 0, 1 and 2: TCP Nice (Venkataramani, Kokku, Dahlin, OSDI 2002) for today's paths.
 *
 * The decision is ../netnice/decide.h, the hooks are ../netnice/sender.h; nice.h is the paper's own. A lower level has less of a
 * queue: its limit is packets, where that of level 0 is a part of the base RTT.
 */
#ifndef NN_NETNICE_H
#define NN_NETNICE_H

#include "../netnice/sender.h"

/* t: percent of the base; f: percent of a round; keep: 1/16 segment; bear: 1/16 packet; least: us; gap: ms */
#define NETNICE_LEVEL(P, t, f, keep, bear, least, gap)                                                                 \
	P(threshold, t)                                                                                                \
	P(fraction, f)                                                                                                 \
	P(alpha, keep)                                                                                                 \
	P(band_packets, bear)                                                                                          \
	P(queue_floor, least)                                                                                          \
	P(max_gap, gap)                                                                                                \
	P(at_least, 0)                                                                                                 \
	P(min_window, 85)                                                                                              \
	P(force_window, 0)

#define NETNICE_PARAMS(P) NETNICE_LEVEL(P, 36, 50, 32, 160, 1000, 400)
#define NETNICE1_PARAMS(P) NETNICE_LEVEL(P, 0, 90, 16, 48, 350, 2000)
#define NETNICE2_PARAMS(P) NETNICE_LEVEL(P, 0, 90, 4, 26, 120, 4000)

#endif
