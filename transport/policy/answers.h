/* SPDX-License-Identifier: GPL-2.0 */
/* What the calls of call.h, deadline.h and floor_call.h do to a process. For the object that writes the map of processes. */
#ifndef NN_POLICY_ANSWERS_H
#define NN_POLICY_ANSWERS_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../../algorithms/niceness/floor_call.h"
#include "deadline.h"
#include "find_process.h"
#include "mark.h"
#include "niceness.h"
#include "processes.h"
#include "refuse.h"

#define EPERM 1
#define ESRCH 3
#define ENOMEM 12
#define CAP_SYS_NICE 23

struct niceness_counters nn_niceness_counters;

/* CAP_SYS_NICE of the first user namespace: that of a user's own namespace lowers no process. */
static __always_inline bool is_root(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return !BPF_CORE_READ(task, cred, user_ns, level) &&
	       BPF_CORE_READ(task, cred, cap_effective.val) >> CAP_SYS_NICE & 1;
}

static __always_inline int done(u32 niceness)
{
	return -(int)(NN_CALL_DONE | (niceness & NN_NICENESS_WORD));
}

/* A byte, as nn_share_encoded() has it. */
static __always_inline int done_floor(u32 process)
{
	return -(int)(NN_CALL_DONE | nn_share_encoded(rate_of_process(process)));
}

/* Bits are added atomically: no raise is lost to another. Only the first of a process can have it be nice alone. */
static __always_inline int add(u32 process, struct nn_answer said)
{
	u32 *niceness = find(process);

	if (!niceness) {
		put(process, said.begins, BPF_NOEXIST);
		niceness = find(process);
		if (!niceness) {
			COUNT(&nn_niceness_counters, refused);
			return -ENOMEM;
		}
	} else if (said.begins) {
		__sync_val_compare_and_swap(niceness, PROCESS_TIMED, PROCESS_TIMED | said.begins);
	}
	__sync_fetch_and_and(niceness, ~said.ends);
	__sync_fetch_and_or(niceness, said.bits);
	return done(*niceness);
}

/* Notes that a part of it ends. */
static __always_inline int add_timed(u32 process)
{
	struct nn_answer said = { .bits = PROCESS_TIMED };

	return add(process, said);
}

/* Global, as answer() is: the verifier looks at it once, whatever led to it. */
__noinline int carry_out(u32 process, u32 verdict, u32 bits, u32 begins, u32 ends)
{
	struct nn_answer said = { .bits = bits, .begins = begins, .ends = ends };

	switch (verdict) {
	case NN_VERDICT_ADD:
		return add(process, said);
	case NN_VERDICT_REPLACE:
		leave_floor(process);
		if (put(process, bits, BPF_ANY))
			return -ENOMEM;
		return done(bits);
	case NN_VERDICT_FORGET:
		leave_floor(process);
		bpf_map_delete_elem(&processes, &process); /* still known: another may be raising it */
		return done(0);
	case NN_VERDICT_FORBIDDEN:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

/* Global: the verifier looks at it once, whatever `alone` is. */
__noinline int answer(u32 offset, u32 alone)
{
	struct nn_call call = nn_call_of(offset);
	struct process target = { .number = bpf_get_current_pid_tgid() >> 32, .owned = true };
	struct nn_caller caller = { .root = is_root() };
	u32 *found, now, process;
	struct timed *part = 0;
	struct nn_answer said;

	call.alone = alone & 1;
	if (call.process && !find_process(call.process, &target))
		return -ESRCH;
	process = target.number;
	caller.owner = target.owned;
	found = find(process);
	now = found ? *found : 0;
	if (now & PROCESS_TIMED) {
		part = bpf_map_lookup_elem(&timed, &process);
		if (nn_call_is_of_all(call, caller, part && part->armed))
			now = niceness_of_process(process);
	}
	said = nn_answer(call, now, caller);
	if (part && call.verb == NN_CALL_SET && caller.root && said.verdict != NN_VERDICT_MEANINGLESS)
		keep_timed(process, now);
	if (call.verb == NN_CALL_RAISE && part && part->armed &&
	    (said.verdict == NN_VERDICT_ADD || said.verdict == NN_VERDICT_KEEP)) {
		part->armed = 0;
		if (said.verdict == NN_VERDICT_ADD)
			raise_part(part, said);
		return done(niceness_of_process(process));
	}
	if (said.verdict == NN_VERDICT_KEEP)
		return done(now);
	return carry_out(process, said.verdict, said.bits, said.begins, said.ends);
}

/* The process' own deadline, or another's state. Its number is that of the caller's namespace. */
static __noinline int answer_deadline(u32 offset)
{
	struct nn_deadline_call call = nn_deadline_call_of(offset);
	u32 process = bpf_get_current_pid_tgid() >> 32;
	struct process target = {};
	struct nn_deadline until;
	struct timed *part;

	if (call.verb == NN_DEADLINE_ASK) {
		if (!find_process(call.number, &target))
			return -ESRCH;
		return done(deadline_state(target.number));
	}
	if (call.verb == NN_DEADLINE_GIVE) {
		part = bpf_map_lookup_elem(&timed, &process);
		if (!part || !is_root() || !find_process(call.number, &target))
			return -EPERM;
		until = part->until;
		process = target.number;
	} else {
		until = deadline_of_call(call);
	}
	if (arm(process, until))
		return -ENOMEM;
	return add_timed(process) == -ENOMEM ? -ENOMEM : done(NN_DEADLINE_AHEAD);
}

/* A floor begins, or a process gets the caller's own. */
static __noinline int answer_floor(u32 offset)
{
	struct nn_floor_call call = nn_floor_call_of(offset);
	u32 self = bpf_get_current_pid_tgid() >> 32;
	struct process target = { .number = self, .owned = true };
	struct nn_caller caller = { .root = is_root() };

	if (call.verb != NN_FLOOR_BEGIN && call.number && !find_process(call.number, &target))
		return -ESRCH;
	if (call.verb == NN_FLOOR_ASK)
		return done_floor(target.number);
	caller.owner = target.owned;
	if (!nn_floor_may_begin(niceness_of_process(target.number), caller))
		return -EPERM;
	__sync_fetch_and_or(known_word(target.number), known_bit(target.number)); /* its end is noticed */
	if (call.verb == NN_FLOOR_BEGIN ? begin_floor(self, call.number) : give_floor(self, target.number))
		return -ENOMEM;
	return done_floor(target.number);
}

#endif
