/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a version before attached to its cgroups, in few lines. The policy puts new connections on CONTROL. The receiver
 * holds their windows to HELD bytes at every segment.
 */
#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define SOL_TCP 6
#define TCP_WINDOW_CLAMP 10
#define TCP_CONGESTION 13

/* The helpers that the kernel knows by these numbers. */
static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static void *(*bpf_sk_storage_get)(void *map, void *sk, void *value, __u64 flags) = (void *)BPF_FUNC_sk_storage_get;
static long (*bpf_sock_ops_cb_flags_set)(void *ops, int flags) = (void *)BPF_FUNC_sock_ops_cb_flags_set;
static long (*bpf_setsockopt)(void *ops, int level, int name, void *value, int length) = (void *)BPF_FUNC_setsockopt;

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, __u32);
} moved SEC(".maps"), connections SEC(".maps");

/* How many connections there were; what the new version has there is larger. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} received SEC(".maps");

static int established(struct bpf_sock_ops *ops)
{
	return ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
}

SEC("sockops") int policy(struct bpf_sock_ops *ops)
{
	char name[16] = CONTROL;

	if (!established(ops) || !ops->sk || bpf_sk_storage_get(&moved, ops->sk, 0, 0))
		return 1;
	bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	return 1;
}

SEC("cgroup_skb/ingress") int arrival(struct __sk_buff *skb)
{
	return !!skb;
}

SEC("sockops") int connection(struct bpf_sock_ops *ops)
{
	int held = HELD, begins = established(ops);
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&received, &zero);

	if (!count || !ops->sk || (!begins && ops->op != BPF_SOCK_OPS_PARSE_HDR_OPT_CB))
		return 1;
	if (!bpf_sk_storage_get(&connections, ops->sk, 0, begins ? BPF_SK_STORAGE_GET_F_CREATE : 0))
		return 1;
	if (begins) {
		__sync_fetch_and_add(count, 1);
		bpf_sock_ops_cb_flags_set(ops, BPF_SOCK_OPS_PARSE_ALL_HDR_OPT_CB_FLAG);
	}
	bpf_setsockopt(ops, SOL_TCP, TCP_WINDOW_CLAMP, &held, sizeof(held));
	return 1;
}
