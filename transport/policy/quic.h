/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that refuse QUIC share with the loader. */
#ifndef NN_POLICY_QUIC_H
#define NN_POLICY_QUIC_H

#include "../../algorithms/common/types.h"

struct quic_counters {
	u64 refused; /* datagrams, and connections of UDP sockets */
};

#endif
