/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The cores of algorithms/ behind plain C functions: C++ cannot read their table (designated initialisers). */
#ifndef NN_NS3_CORE_H
#define NN_NS3_CORE_H

#include "common/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A connection of this host; all flows go to one place. */
struct nn_core;

/* The row of an algorithm by name; -1: there is none. */
int nn_core_row(const char *name);
/* Sets every parameter of a row from "1,2,3"; false: not as many numbers as there are parameters. */
bool nn_core_set(int row, const char *values);
/* Its memory, to be given to free(); NULL: none left. */
struct nn_core *nn_core_new(int row);
/* `srtt_us`: the handshake's. */
void nn_core_start(struct nn_core *core, const struct nn_ack *first, u32 srtt_us, struct nn_send *send);
/* False: there is nothing to do. */
bool nn_core_acked(struct nn_core *core, const struct nn_ack *ack, struct nn_send *send);
bool nn_core_started(const struct nn_core *core);
void nn_core_recovery(struct nn_core *core, enum nn_recovery state, u32 now_us, u32 delivered);
void nn_core_restart(struct nn_core *core, u32 now_us, u32 delivered);
/* What a loss leaves of the window, segments. */
u32 nn_core_ssthresh(const struct nn_core *core);
/* W, 1/4096 segment. */
u32 nn_core_window(const struct nn_core *core);

#ifdef __cplusplus
}
#endif

#endif
