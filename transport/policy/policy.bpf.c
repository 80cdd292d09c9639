// SPDX-License-Identifier: GPL-2.0
/*
 * policy - puts the TCP sockets of a cgroup on that cgroup's congestion control
 *
 * A sockops program, loaded once and attached to every cgroup that sends, each with its own data. On every connection that
 * becomes established, active or passive, it selects `cc_name` and, with `mark_le`, writes DSCP LE
 * (RFC 8622) into the IPv4 TOS or IPv6 traffic class, and sets the priority of background for this host's own queues.
 * Who belongs to the cgroup is decided outside.
 *
 * A socket stays in the cgroup that it was made in, also when its process is moved to another: such a socket is in
 * `moved`, has got what its new place asks for by setsockopt(), and what it accepts inherits both.
 *
 * The kernel keeps the two ECN bits when the TOS of a stream socket is set, so the whole byte is
 * given here. A v4-mapped IPv6 socket (Java, servers that listen on ::) sends IPv4 packets, and those
 * carry IP_TOS, not IPV6_TCLASS. Measured: Linux 6.18 takes IP_TOS from BPF on such a socket, active
 * or passive; kernels before about 6.14 take it for AF_INET only and offer no other way. There the
 * socket yields but stays unmarked, and is counted.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX /* only uapi is read, and CO-RE takes 7 ms a load */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

#include "group.h"

#define AF_INET 2
#define AF_INET6 10
#define SOL_IP 0
#define SOL_SOCKET 1
#define SOL_TCP 6
#define SOL_IPV6 41
#define IP_TOS 1
#define IPV6_TCLASS 67
#define SO_PRIORITY 12
#define TCP_CONGESTION 13

char _license[] SEC("license") = "GPL";

/* By the cgroup that the program is attached to, also for sockets of cgroups below it. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_STORAGE);
	__type(key, __u64);
	__type(value, struct policy_group);
} groups SEC(".maps");

/* By socket; the value means nothing. One map for all cgroups. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, __u32);
} moved SEC(".maps");

#define COUNT(group, field) __sync_fetch_and_add(&(group)->counters.field, 1)

/* True when an AF_INET6 socket talks IPv4 (::ffff:a.b.c.d). */
static __always_inline bool is_v4_mapped(struct bpf_sock_ops *ops)
{
	return !ops->remote_ip6[0] && !ops->remote_ip6[1] && ops->remote_ip6[2] == bpf_htonl(0xffff);
}

static __always_inline bool is_moved(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;

	return sk && bpf_sk_storage_get(&moved, sk, 0, 0);
}

static __always_inline void select_cc(struct bpf_sock_ops *ops, struct policy_group *group)
{
	if (bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, group->cc_name, sizeof(group->cc_name)))
		COUNT(group, cc_failed);
}

static __always_inline void mark(struct bpf_sock_ops *ops, struct policy_group *group)
{
	int tos = POLICY_TOS, priority = POLICY_PRIORITY;
	bool mapped = ops->family == AF_INET6 && is_v4_mapped(ops);
	long err;

	if (ops->family == AF_INET || mapped)
		err = bpf_setsockopt(ops, SOL_IP, IP_TOS, &tos, sizeof(tos));
	else
		err = bpf_setsockopt(ops, SOL_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	bpf_setsockopt(ops, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)); /* last: a TOS resets it */

	if (!err)
		COUNT(group, marked);
	else if (mapped)
		COUNT(group, mapped_unmarked);
	else
		COUNT(group, mark_failed);
}

SEC("sockops")
int policy(struct bpf_sock_ops *ops)
{
	bool active = ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB;
	struct policy_group *group;

	if ((!active && ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB) || is_moved(ops))
		return 1;
	group = bpf_get_local_storage(&groups, 0);
	if (!group->cc_name[0])
		return 1;
	if (active)
		COUNT(group, active);
	else
		COUNT(group, passive);
	select_cc(ops, group);
	if (group->mark_le)
		mark(ops, group);
	return 1;
}
