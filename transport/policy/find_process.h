/* SPDX-License-Identifier: GPL-2.0 */
/* Another process, by the number that the caller knows it by. Needs the kernel's iterator of tasks, Linux 6.7. */
#ifndef NN_POLICY_FIND_PROCESS_H
#define NN_POLICY_FIND_PROCESS_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define ALL_PROCESSES 0 /* the kernel's BPF_TASK_ITER_ALL_PROCS, of an enum without a name */

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task, unsigned int flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym;

struct process {
	u32 number; /* in the first namespace */
	bool owned; /* it runs as the caller's user, as renice(1) has it: really or effectively */
};

/* A namespace of numbers, and how deep below the first it is. */
struct numbering {
	u64 namespace;
	u32 depth;
};

static __always_inline struct upid nth(const struct pid *pid, u32 depth)
{
	struct upid at = {};

	bpf_probe_read_kernel(&at, sizeof(at),
			      (const struct upid *)__builtin_preserve_access_index(&pid->numbers) + depth);
	return at;
}

static __always_inline struct numbering numbering_of(struct task_struct *task)
{
	const struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct numbering known = { .depth = BPF_CORE_READ(pid, level) };

	known.namespace = (u64)nth(pid, known.depth).ns;
	return known;
}

/* 0: that namespace does not see it. */
static __always_inline u32 number_of(struct task_struct *task, struct numbering by)
{
	const struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid at;

	if (!by.depth)
		return BPF_CORE_READ(task, tgid);
	if (BPF_CORE_READ(pid, level) < by.depth)
		return 0;
	at = nth(pid, by.depth);
	return (u64)at.ns == by.namespace ? at.nr : 0;
}

/* False: there is none of this number. A thread's number is none. */
static __noinline bool find_process(u32 number, struct process *found)
{
	struct task_struct *self = bpf_get_current_task_btf(), *task;
	struct numbering by = numbering_of(self);
	u32 user = BPF_CORE_READ(self, cred, euid.val);
	struct bpf_iter_task all;
	bool is_there = false;

	bpf_iter_task_new(&all, 0, ALL_PROCESSES);
	while ((task = bpf_iter_task_next(&all))) {
		if (number_of(task, by) != number)
			continue;
		found->number = BPF_CORE_READ(task, tgid);
		found->owned =
			BPF_CORE_READ(task, cred, uid.val) == user || BPF_CORE_READ(task, cred, euid.val) == user;
		is_there = true;
		break;
	}
	bpf_iter_task_destroy(&all);
	return is_there;
}

#endif
