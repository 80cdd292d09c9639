/* SPDX-License-Identifier: GPL-2.0 */
/* A map that objects share: sockets whose mark netnice has put on, and puts back. */
#ifndef NN_POLICY_MARKED_MAP_H
#define NN_POLICY_MARKED_MAP_H

/* By socket; the value means nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} marked SEC(".maps");

#endif
