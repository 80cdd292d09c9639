/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The cores of algorithms/ behind plain C functions: C++ cannot read their table (designated initialisers). */
#ifndef NN_NS3_CORE_H
#define NN_NS3_CORE_H

#include "common/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nn_flow;

/* The row of an algorithm by name; -1: there is none. */
int nn_core_row(const char *name);
/* Sets every parameter of a row from "1,2,3"; false: not as many numbers as there are parameters. */
bool nn_core_set(int row, const char *values);
/* A flow's memory, to be given to free(); NULL: none left. */
struct nn_flow *nn_core_new(void);
void nn_core_start(struct nn_flow *flow, int row, const struct nn_ack *first, struct nn_send *send);
void nn_core_acked(struct nn_flow *flow, int row, const struct nn_ack *ack, struct nn_send *send);
void nn_core_recovery(struct nn_flow *flow, int row, enum nn_recovery state);
void nn_core_restart(struct nn_flow *flow, int row, u32 now_us);
/* W, 1/4096 segment. */
u32 nn_core_window(const struct nn_flow *flow);
/* What flows tell each other of the worst RTT (word.h). */
void nn_core_tell(const struct nn_flow *flow, u32 now_us);
u32 nn_core_told(u32 now_us);

#ifdef __cplusplus
}
#endif

#endif
