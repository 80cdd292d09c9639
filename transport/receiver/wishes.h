/* SPDX-License-Identifier: GPL-2.0 */
/* What asks a socket to yield with its incoming traffic: an option, and the map that objects share. */
#ifndef NN_RECEIVER_WISHES_H
#define NN_RECEIVER_WISHES_H

#include "../../algorithms/receiver/wish.h"

/* The socket option by which an application, or `netnice -p`, has a connection yield with what it receives. */
#define NETNICE_RECEIVE 0x6e6e /* of level IPPROTO_TCP; an int: 1 begins, 0 stops */

#ifdef __bpf__
/* By socket: an enum nn_wish. Root writes NN_BY_NETNICE from outside. What a socket accepts inherits it. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, __u32);
} wishes SEC(".maps");
#endif

#endif
