// SPDX-License-Identifier: GPL-2.0
/*
 * niceness - the network niceness of a process, as nice(1) has it for the CPU
 *
 * What it is, and rights over it: ../../algorithms/niceness/. Here it is kept by process, handed to children and to
 * sockets, and put into effect. No process is moved, and no process needs rights to become nicer.
 *
 *   sched_process_fork   a child inherits it
 *   sched_process_exit   with its last thread it goes; exec touches that of a child alone, whose parent was nice alone
 *   cgroup/sysctl        the calls (call.h, deadline.h, floor_call.h). Only a read of a sysctl pays
 *   cgroup_mkdir         a cgroup that one of the administrator's rules names is in the background from the start
 *   cgroup_rmdir         the state of a cgroup goes with it
 *   sched_process_exec   so is a program that a rule names
 *   cgroup/sock_create   a socket takes the niceness of the process that makes it, and of the cgroups of that process.
 *                        What a socket accepts takes the niceness of the socket
 *   sockops              an established connection gets the congestion control and the marks of its socket's level
 *
 * By process and not by task: a thread that executes a program takes over the process. The workers of io_uring are tasks
 * made without a fork. All are attached to the root of the cgroups. They run before the receiver's program
 * there (../receiver/adopted.bpf.c), which reads `wishes`.
 *
 * The program of a cgroup of netnice runs first, as the cgroup lies below the root. The nicer of the two wins.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../receiver/wishes.h"
#include "answers.h"
#include "control.h"
#include "mark.h"
#include "matching.h"
#include "moved.h"
#include "niceness.h"
#include "refuse.h"

char _license[] SEC("license") = "GPL";

/* Of sockets: that of their maker when they were made. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, u32);
} made SEC(".maps");

struct niceness_choices nn_niceness_choices SEC(".data") = { .marks = 1 };

SEC("tp_btf/sched_process_fork")
int BPF_PROG(netnice_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid, *niceness;

	if (from == to)
		return 0; /* a thread */
	niceness = find(from);
	if (niceness) {
		if (inherit(from, to, *niceness))
			COUNT(&nn_niceness_counters, refused);
	} else if (is_known(to)) {
		forget(to); /* it was made nice while it ended: its number is another's now */
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(netnice_exit, struct task_struct *task)
{
	u32 process = task->tgid;

	if (is_known(process) && !task->signal->live.counter)
		forget(process);
	return 0;
}

static const char file[] = NN_CALL_FILE, file_alone[] = NN_CALL_FILE_ALONE;

SEC("cgroup/sysctl")
int netnice_call(struct bpf_sysctl *sysctl)
{
	char name[sizeof(NN_CALL_FILE_ALONE) + 1] = {};
	u32 offset = sysctl->file_pos;
	bool alone;

	if (!nn_is_call(offset) || sysctl->write)
		return 1;
	if (bpf_sysctl_get_name(sysctl, name, sizeof(name), 0) < 0)
		return 1;
	alone = !bpf_strncmp(name, sizeof(name), file_alone);
	if (!alone && bpf_strncmp(name, sizeof(name), file))
		return 1;
	refuse(answer(offset, alone));
	return 0;
}

SEC("cgroup/sysctl")
int netnice_deadline(struct bpf_sysctl *sysctl)
{
	char name[sizeof(NN_DEADLINE_FILE) + 1] = {};
	u32 offset = sysctl->file_pos;

	if (!nn_is_call(offset) || sysctl->write)
		return 1;
	if (bpf_sysctl_get_name(sysctl, name, sizeof(name), 0) != sizeof(NN_DEADLINE_FILE) - 1 ||
	    __builtin_memcmp(name, NN_DEADLINE_FILE, sizeof(NN_DEADLINE_FILE)))
		return 1;
	refuse(answer_deadline(offset));
	return 0;
}

SEC("cgroup/sysctl")
int netnice_floor(struct bpf_sysctl *sysctl)
{
	char name[sizeof(NN_FLOOR_FILE) + 1] = {};
	u32 offset = sysctl->file_pos;

	if (!nn_is_call(offset) || sysctl->write)
		return 1;
	if (bpf_sysctl_get_name(sysctl, name, sizeof(name), 0) != sizeof(NN_FLOOR_FILE) - 1 ||
	    __builtin_memcmp(name, NN_FLOOR_FILE, sizeof(NN_FLOOR_FILE)))
		return 1;
	refuse(answer_floor(offset));
	return 0;
}

/* Of cgroup v2, where 0 is the number of the hierarchy, and not deeper than sockets look. */
static __always_inline bool is_ours(const struct cgroup *cgroup)
{
	return !cgroup->root->hierarchy_id && cgroup->level < NICENESS_DEPTHS;
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(netnice_cgroup, struct cgroup *cgroup, const char *path)
{
	u32 value, room = 0, set = nn_niceness_choices.set & 1, number = nn_niceness_choices.rules[set];
	struct name *name = bpf_map_lookup_elem(&names, &room);
	u64 id = cgroup->kn->id;
	long read;

	if (!number || !name || !is_ours(cgroup))
		return 0;
	read = bpf_probe_read_kernel_str(name->text, sizeof(name->text), path);
	if (read <= 1)
		return 0;
	value = niceness_of_name(name, read - 1, false, set, number) | name->timed;
	if (!value)
		return 0;
	value |= ATTACHED_BY_RULE;
	if (name->at_least && !begin_floor_of_cgroup(id, name->at_least))
		value |= ATTACHED_FLOOR;
	if (bpf_map_update_elem(&attached, &id, &value, BPF_ANY))
		COUNT(&nn_niceness_counters, refused);
	else
		__sync_fetch_and_or(&nn_niceness_choices.depths, 1u << cgroup->level % NICENESS_DEPTHS);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(netnice_removed, struct cgroup *cgroup, const char *path)
{
	u64 id = cgroup->kn->id;

	if (!nn_niceness_choices.depths || !is_ours(cgroup))
		return 0;
	bpf_map_delete_elem(&attached, &id);
	bpf_map_delete_elem(&floors, &id);
	return 0;
}

/*
 * That of a process which begins a program: a child of one that is nice alone returns to the foreground. What is kept
 * and what ends do so each by itself. Global: the verifier looks at it once.
 */
__noinline int niceness_at_exec(u32 process)
{
	u32 *now = find(process);

	if (!now)
		return 0;
	if (*now & PROCESS_TIMED && end_timed_at_exec(process))
		__sync_fetch_and_and(now, ~(u32)PROCESS_TIMED);
	if (nn_niceness_ends_at_exec(*now)) {
		__sync_fetch_and_and(now, PROCESS_TIMED);
		leave_floor(process);
	}
	if (*now)
		return *now;
	bpf_map_delete_elem(&processes, &process); /* still known: another may be raising it */
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(netnice_exec, struct task_struct *task)
{
	u32 room = 1, set = nn_niceness_choices.set & 1, number = nn_niceness_choices.rules[set], wanted;
	u32 process = task->tgid, now = niceness_at_exec(process);
	struct name *name = bpf_map_lookup_elem(&names, &room);
	long read;

	if (!number || !name)
		return 0;
	read = bpf_probe_read_kernel_str(name->text, sizeof(task->comm), task->comm);
	if (read <= 1)
		return 0;
	wanted = niceness_of_name(name, read - 1, true, set, number);
	if (name->timed && !raise_until(process, name->timed, name->ends))
		add_timed(process);
	/* What it starts shares it, and each that begins so has its own. */
	if (name->at_least && !rate_of_process(process))
		begin_floor(process, name->at_least);
	if (!wanted)
		return 0;
	add(process, nn_answer_of_rule(now, wanted));
	return 0;
}

/* What the cgroups say that the process is in. If they have it yield, `floor` is that of the innermost; 0: none. */
static __noinline u32 of_cgroups(u32 niceness, u64 *floor)
{
	u32 depths = nn_niceness_choices.depths;

	for (int depth = 0; depth < NICENESS_DEPTHS && depths; depth++, depths >>= 1) {
		u32 *found;
		u64 cgroup;

		if (!(depths & 1))
			continue;
		cgroup = bpf_get_current_ancestor_cgroup_id(depth);
		found = bpf_map_lookup_elem(&attached, &cgroup);
		if (!found || !(*found & NN_NICENESS_LEVELS))
			continue;
		niceness |= nn_niceness_added(niceness, *found & NN_NICENESS_ALL);
		*floor = *found & ATTACHED_FLOOR ? cgroup : 0;
	}
	return niceness;
}

/* `floor`: the number of the floor that its sockets have; 0: none. */
static __always_inline u32 of_maker(u64 *floor)
{
	u32 process = bpf_get_current_pid_tgid() >> 32, niceness = niceness_of_process(process) & NN_NICENESS_ALL;
	u64 *own = is_known(process) ? bpf_map_lookup_elem(&floored, &process) : 0;

	*floor = own ? *own : 0;
	return nn_niceness_choices.depths ? of_cgroups(niceness, floor) : niceness;
}

SEC("cgroup/sock_create")
int netnice_socket(struct bpf_sock *sk)
{
	u32 niceness, *own;
	u64 floor, *of;

	if (sk->type != SOCK_STREAM)
		return 1;
	niceness = of_maker(&floor);
	if (floor) { /* of a program that chooses which of its sockets yield, too */
		of = bpf_sk_storage_get(&floor_of, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (of)
			*of = floor;
	}
	if (!niceness)
		return 1;
	own = bpf_sk_storage_get(&made, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (own)
		*own = niceness;
	if (niceness & NN_NICENESS_RECEIVES) {
		own = bpf_sk_storage_get(&wishes, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (own)
			*own = NN_BY_NETNICE;
	}
	return 1;
}

/* That of an MPTCP connection is with the socket that its process made. */
static __always_inline u32 niceness_of(struct bpf_sock *sk)
{
	u32 *own = bpf_sk_storage_get(&made, sk, 0, 0);
	struct mptcp_sock *above;

	if (!own) {
		above = bpf_skc_to_mptcp_sock(sk);
		own = above ? bpf_sk_storage_get(&made, above, 0, 0) : 0;
	}
	return own ? *own : 0;
}

SEC("sockops")
int netnice_opened(struct bpf_sock_ops *ops)
{
	struct policy_counters *counters = &nn_niceness_counters.connections;
	struct bpf_sock *sk;
	u32 niceness, rank;

	if (ops->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB && ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	sk = ops->sk;
	if (!sk)
		return 1;
	niceness = niceness_of(sk);
	if (!niceness || is_moved(sk))
		return 1;
	rank = rank_of(ops);
	if (!nn_niceness_speaks(niceness, rank))
		return 1;
	count_connection(ops, counters);
	if (!rank)
		note_before(ops, sk, bpf_skc_to_mptcp_sock(sk), ops->family == AF_INET6);
	select_cc(ops, control_of(nn_niceness_rank(niceness)), counters);
	if (nn_niceness_choices.marks && !(niceness & NN_NICENESS_UNMARKED))
		mark(ops, counters);
	return 1;
}
