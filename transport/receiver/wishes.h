/* SPDX-License-Identifier: GPL-2.0 */
/* A map that objects share: what asked a socket to yield with its incoming traffic. */
#ifndef NN_RECEIVER_WISHES_H
#define NN_RECEIVER_WISHES_H

#include "../../algorithms/receiver/wish.h"

/* By socket: an enum nn_wish. Root writes NN_BY_NETNICE from outside. What a socket accepts inherits it. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, __u32);
} wishes SEC(".maps");

#endif
