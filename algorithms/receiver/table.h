/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The receiver algorithms: a row here and a file beside it is all that a new one takes.
 *
 * X(name, core, parameters...): `core` names core_start() and core_on_arrival(); the parameters follow the order of
 * NN_RECEIVER_PARAMS. The first row is the default.
 */
#ifndef NN_RECEIVER_TABLE_H
#define NN_RECEIVER_TABLE_H

#include "rledbat.h"
#include "tide.h"
#include "vulture.h"

#define NN_RECEIVERS(X)                                                                                                \
	/*                          target foreign step floor init jiffy quantum remembered cautious skew */           \
	X(tide, tide, 4000, 15000, 8000, 1, 10, 4000, 1, 100, 0, 0)                                                    \
	X(vulture, vulture, 5000, 15000, 8000, 2, 10, 4000, 1, 100, 0, 0)                                              \
	X(vulture_jiffies, vulture, 5000, 15000, 8000, 2, 10, 4000, 4000, 50, 0, 0)                                    \
	X(vulture_cautious, vulture, 5000, 15000, 8000, 2, 10, 4000, 4000, 50, 1, 0)                                   \
	X(rledbat, rledbat, 60000, 15000, 8000, 2, 10, 4000, 1, 100, 0, 0)

enum nn_receiver_algorithm {
#define NN_RECEIVER_INDEX(name, ...) NN_RA_##name,
	NN_RECEIVERS(NN_RECEIVER_INDEX)
#undef NN_RECEIVER_INDEX
		NN_RECEIVER_COUNT
};

#define NN_RECEIVER_OFF NN_NEVER /* no algorithm: the kernel's window */

#endif
