/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sender algorithms: a row here and a file beside it is all that a new one takes.
 *
 * X(name, core, shipped, parameters...): `name` is what setsockopt(TCP_CONGESTION) takes; `core` names core_on_ack();
 * rows that are not shipped are loaded only when asked for; the parameters follow the order of NN_PARAMS.
 */
#ifndef NN_TABLE_H
#define NN_TABLE_H

#include "nice.h"
#include "reno.h"
#include "vegas.h"

#define NN_ALGORITHMS(X)                                                                                               \
	/*                  thr frac  a  b  g  minw iw  floor est  gap peer force */                                   \
	X(nice, nice, true, 20, 50, 1, 3, 1, 85, 2, 1000, 1, 1000, 250, 0)                                             \
	X(nnvegas, vegas, false, 0, 0, 1, 3, 1, 8192, 2, 0, 0, 0, 0, 0)                                                \
	X(nnreno, reno, false, 0, 0, 0, 0, 0, 4096, 10, 0, 0, 0, 0, 0)

enum nn_algorithm {
#define NN_ALGORITHM_INDEX(name, ...) NN_A_##name,
	NN_ALGORITHMS(NN_ALGORITHM_INDEX)
#undef NN_ALGORITHM_INDEX
		NN_ALGORITHM_COUNT
};

#endif
