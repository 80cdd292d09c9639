/* SPDX-License-Identifier: GPL-2.0 */
/* The map `connections` of receiver.bpf.c, for the objects of single sockets: these yield already. */
#ifndef NN_OF_CGROUPS_H
#define NN_OF_CGROUPS_H

#include "state.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} of_cgroups SEC(".maps");

#endif
