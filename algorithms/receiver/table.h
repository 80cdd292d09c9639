/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The receiver algorithms: a row here and a file beside it is all that a new one takes.
 *
 * X(name, core, shipped, PARAMS), as in ../sender/table.h: `core` names core_on_start() and core_on_arrival(); PARAMS is the
 * list of the parameters that the row uses (params.h). All are loaded, and the first row is the default.
 */
#ifndef NN_RECEIVER_TABLE_H
#define NN_RECEIVER_TABLE_H

#include "netnice_receiver.h"
#include "rledbat.h"
#include "tide.h"
#include "vulture.h"

#define NN_RECEIVERS(X)                                                                                                \
	X(tide, tide, true, TIDE_PARAMS)                                                                               \
	X(as_sender, netnice_receiver, true, NETNICE_RECEIVER_PARAMS)                                                  \
	X(vulture, vulture, true, VULTURE_PARAMS)                                                                      \
	X(vulture_jiffies, vulture, true, VULTURE_JIFFIES_PARAMS)                                                      \
	X(vulture_cautious, vulture, true, VULTURE_CAUTIOUS_PARAMS)                                                    \
	X(rledbat, rledbat, true, RLEDBAT_PARAMS)

/* The rows' values, as an initialiser. */
#define NN_RECEIVER_ROW(name, core, shipped, params) { params(NN_RECEIVER_VALUE) },
#define NN_RECEIVER_ROWS                                                                                               \
	{                                                                                                              \
		NN_RECEIVERS(NN_RECEIVER_ROW)                                                                          \
	}

enum nn_receiver_algorithm {
#define NN_RECEIVER_INDEX(name, ...) NN_RA_##name,
	NN_RECEIVERS(NN_RECEIVER_INDEX)
#undef NN_RECEIVER_INDEX
		NN_RECEIVER_COUNT
};

#define NN_RECEIVER_OFF NN_NEVER /* no algorithm: the kernel's window */

#endif
