// SPDX-License-Identifier: GPL-2.0
/*
 * policy - puts the TCP sockets of a cgroup on that cgroup's congestion control
 *
 * A sockops program, loaded once and attached to every cgroup that sends, each with its own data. On every connection that
 * becomes established, active or passive, it selects `cc_name`. With `mark_le` it writes DSCP LE (RFC 8622) into the IPv4 TOS
 * or IPv6 traffic class. It also sets the priority of background for this host's own queues. It does not decide which processes
 * are in the cgroup.
 *
 * A socket stays in the cgroup that it was made in, also when its process is moved to another. Such a socket is in `moved`.
 * It gets the settings of the new cgroup by setsockopt(), and what it accepts inherits both.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX /* only uapi is read, and CO-RE takes 7 ms a load */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "control.h"
#include "moved.h"

char _license[] SEC("license") = "GPL";

/* By the cgroup that the program is attached to, also for sockets of cgroups below it. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_STORAGE);
	__type(key, __u64);
	__type(value, struct policy_group);
} groups SEC(".maps");

SEC("sockops")
int policy(struct bpf_sock_ops *ops)
{
	bool active = ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB;
	struct policy_group *group;
	struct bpf_sock *sk;

	if ((!active && ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB) || is_moved(ops->sk))
		return 1;
	group = bpf_get_local_storage(&groups, 0);
	if (!group->cc_name[0])
		return 1;
	count_connection(ops, &group->counters);
	sk = ops->sk;
	if (sk && !rank_of(ops))
		note_before(ops, sk, bpf_skc_to_mptcp_sock(sk), ops->family == AF_INET6);
	select_cc(ops, group->cc_name, &group->counters);
	if (group->mark_le)
		mark(ops, &group->counters);
	return 1;
}
