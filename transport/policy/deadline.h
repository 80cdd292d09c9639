/* SPDX-License-Identifier: GPL-2.0 */
/* What of a process' niceness ends, and when: algorithms/niceness/deadline.h. With the loader. */
#ifndef NN_POLICY_DEADLINE_H
#define NN_POLICY_DEADLINE_H

#include "../../algorithms/niceness/call.h"
#include "../../algorithms/niceness/deadline.h"
#ifdef __bpf__
#include "floor_of_process.h"
#include "processes.h"
#endif

/* Of a process, beside the niceness that it keeps; children inherit it. */
struct timed {
	struct nn_deadline until;
	u32 bits; /* enum nn_niceness_bit, until then */
	u32 armed; /* 1: what the process raises next ends then */
};

enum process_bit {
	PROCESS_TIMED = 1 << 16, /* beside its niceness: it is in `timed` */
};

#ifdef __bpf__
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536); /* as many as `processes` has */
	__type(key, u32);
	__type(value, struct timed);
} timed SEC(".maps");

static __always_inline bool is_over(const struct timed *part)
{
	return nn_deadline_passed(part->until, bpf_ktime_get_boot_ns(), bpf_ktime_get_tai_ns());
}

/* 0: that part has ended. */
static __always_inline u32 timed_niceness(u32 process)
{
	const struct timed *part = bpf_map_lookup_elem(&timed, &process);

	return part && !is_over(part) ? part->bits : 0;
}

/* What the process raises next ends at the deadline; what has ended before is replaced. */
static __always_inline long arm(u32 process, struct nn_deadline until)
{
	struct timed *part = bpf_map_lookup_elem(&timed, &process), first = { .until = until, .armed = 1 };

	if (part && !is_over(part)) {
		part->until = nn_deadline_later(part->until, until);
		part->armed = 1;
		return 0;
	}
	return bpf_map_update_elem(&timed, &process, &first, BPF_ANY);
}

/* As in what it keeps, only the first raise can have it be nice alone until then: the bits are 0 before. */
static __always_inline void raise_part(struct timed *part, struct nn_answer said)
{
	if (said.begins)
		__sync_val_compare_and_swap(&part->bits, 0, said.begins);
	__sync_fetch_and_and(&part->bits, ~said.ends);
	__sync_fetch_and_or(&part->bits, said.bits);
}

/* A rule's hours: as nice as that until they end. */
static __always_inline long raise_until(u32 process, u32 bits, u64 wall)
{
	struct timed *part = bpf_map_lookup_elem(&timed, &process), first = { .until.wall = wall, .bits = bits };

	if (part && !is_over(part)) {
		part->until = nn_deadline_later(part->until, first.until);
		raise_part(part, nn_answer_of_rule(0, bits));
		return 0;
	}
	return bpf_map_update_elem(&timed, &process, &first, BPF_ANY);
}

static __always_inline struct nn_deadline deadline_of_call(struct nn_deadline_call call)
{
	struct nn_deadline until = {};

	if (call.verb == NN_DEADLINE_AT)
		until.wall = nn_deadline_at(bpf_ktime_get_tai_ns(), call.number);
	else
		until.boot = nn_deadline_in(bpf_ktime_get_boot_ns(), call.number);
	return until;
}

static __always_inline u32 deadline_state(u32 process)
{
	const struct timed *part = bpf_map_lookup_elem(&timed, &process);

	return part ? nn_deadline_state_of(part->bits, is_over(part)) : NN_DEADLINE_NONE;
}

/* By itself: what it keeps, and what ends later than now. Each of them may be its own alone. */
static __always_inline u32 niceness_of_process(u32 process)
{
	u32 *found = find(process);

	if (!found)
		return 0;
	if (!(*found & PROCESS_TIMED))
		return *found;
	return nn_niceness_of_rules(*found & ~(u32)PROCESS_TIMED, timed_niceness(process));
}

/* True: a program begins, and what ends was its parent's alone. */
static __always_inline bool end_timed_at_exec(u32 process)
{
	const struct timed *part = bpf_map_lookup_elem(&timed, &process);

	if (!part || !nn_niceness_ends_at_exec(part->bits))
		return false;
	bpf_map_delete_elem(&timed, &process);
	return true;
}

static __always_inline long inherit(u32 from, u32 to, u32 niceness)
{
	struct timed *part = niceness & PROCESS_TIMED ? bpf_map_lookup_elem(&timed, &from) : 0, of_child;

	if (part) {
		of_child = *part;
		of_child.bits = nn_niceness_of_child(of_child.bits);
		bpf_map_update_elem(&timed, &to, &of_child, BPF_ANY);
	}
	join_floor(from, to);
	return put(to, nn_niceness_of_child(niceness), BPF_ANY);
}

/* What root sets has no deadline. */
static __always_inline void keep_timed(u32 process, u32 now)
{
	put(process, now & (NN_NICENESS_WORD | NN_NICENESS_UNTIL_EXEC), BPF_ANY);
	bpf_map_delete_elem(&timed, &process);
}

static __always_inline void forget(u32 process)
{
	u32 *niceness = find(process);

	if (niceness && *niceness & PROCESS_TIMED)
		bpf_map_delete_elem(&timed, &process);
	leave_floor(process);
	bpf_map_delete_elem(&processes, &process);
	__sync_fetch_and_and(known_word(process), ~known_bit(process));
}
#endif

#endif
