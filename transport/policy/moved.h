/* SPDX-License-Identifier: GPL-2.0 */
/* A map that objects share: sockets for which their cgroup, or their maker's niceness, no longer speaks. */
#ifndef NN_POLICY_MOVED_H
#define NN_POLICY_MOVED_H

/* By socket; the value means nothing. What a socket accepts inherits it. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, __u32);
} moved SEC(".maps");

static __always_inline bool is_moved(struct bpf_sock *sk)
{
	return sk && bpf_sk_storage_get(&moved, sk, 0, 0);
}

#endif
