/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sender algorithms: a row here and a file beside it is all that a new one takes.
 *
 * X(name, core, shipped, PARAMS): setsockopt(TCP_CONGESTION) takes `name`. `core` names the hooks (hooks.h), of which
 * core_on_ack() is enough: NN_CORE_AS_RENO (common/flow.h) gives the others. Rows that are not shipped are loaded only
 * when asked for. PARAMS is the list of the parameters that the row uses (params.h).
 */
#ifndef NN_TABLE_H
#define NN_TABLE_H

#include "ledbat.h"
#include "ledbatpp.h"
#include "netnice.h"
#include "nice.h"
#include "nicer.h"
#include "reno.h"
#include "tcplp.h"
#include "vegas.h"

#define NN_ALGORITHMS(X)                                                                                               \
	X(netnice, netnice, true, NETNICE_PARAMS)                                                                      \
	X(netnice1, netnice, true, NETNICE1_PARAMS)                                                                    \
	X(netnice2, netnice, true, NETNICE2_PARAMS)                                                                    \
	X(nice, nice, true, NICE_PARAMS)                                                                               \
	X(nicer0, nicer, false, NICER0_PARAMS)                                                                         \
	X(nicer1, nicer, false, NICER1_PARAMS)                                                                         \
	X(nicer2, nicer, false, NICER2_PARAMS)                                                                         \
	X(nnvegas, vegas, false, VEGAS_PARAMS)                                                                         \
	X(nnreno, reno, false, RENO_PARAMS)                                                                            \
	X(nnledbat, ledbat, false, LEDBAT_PARAMS)                                                                      \
	X(nnledbatpp, ledbatpp, false, LEDBATPP_PARAMS)                                                                \
	X(nnlp, tcplp, false, TCPLP_PARAMS)

/* The rows' values, as an initialiser. */
#define NN_PARAM_ROW(name, core, shipped, params) { params(NN_PARAM_VALUE) },
#define NN_PARAM_ROWS                                                                                                  \
	{                                                                                                              \
		NN_ALGORITHMS(NN_PARAM_ROW)                                                                            \
	}

enum nn_algorithm {
#define NN_ALGORITHM_INDEX(name, ...) NN_A_##name,
	NN_ALGORITHMS(NN_ALGORITHM_INDEX)
#undef NN_ALGORITHM_INDEX
		NN_ALGORITHM_COUNT
};

#endif
