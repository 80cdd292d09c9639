/* SPDX-License-Identifier: GPL-2.0 */
/* Rules, applied to a name: what all that match it say together. */
#ifndef NN_POLICY_MATCHING_H
#define NN_POLICY_MATCHING_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "rules.h"

#define NAMED 1024 /* as much of a cgroup's path as the kernel tells */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RULES);
	__type(key, u32);
	__type(value, struct rule);
} rules SEC(".maps");

struct named {
	u8 text[NAMED];
	u32 length;
	u32 last; /* where its last part begins */
};

/* Room for a name: a program's stack has less. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* of a cgroup, of a program: one may interrupt the other */
	__type(key, u32);
	__type(value, struct named);
} names SEC(".maps");

struct matching {
	const struct named *named;
	u32 command; /* it is a program's */
	u32 niceness; /* so far: it yields where any rule has it yield */
};

struct comparison {
	const struct rule *rule;
	const struct named *named;
	u32 from, between; /* where the name begins, and how much of it the pattern leaves open */
	bool differs;
};

/* Calls, not loops: the verifier sees a call once, and each round of a loop. */
static long compare(u32 i, struct comparison *c)
{
	u32 at = c->from + i + (i < c->rule->head ? 0 : c->between);

	c->differs = c->named->text[at % NAMED] != c->rule->text[i % RULE_TEXT];
	return c->differs;
}

static __always_inline bool matches(const struct rule *rule, const struct named *named, u32 from, u32 length)
{
	u32 both = rule->head + rule->tail;
	struct comparison c = { .rule = rule, .named = named, .from = from, .between = length - both };

	if (rule->open ? length < both : length != both)
		return false;
	bpf_loop(both, compare, &c, 0);
	return !c.differs;
}

static long match(u32 i, struct matching *m)
{
	const struct rule *rule = bpf_map_lookup_elem(&rules, &i);
	u32 from;

	if (!rule || m->command != (rule->subject == RULE_COMMAND))
		return 0;
	from = rule->subject == RULE_NAME ? m->named->last : 0;
	if (matches(rule, m->named, from, m->named->length - from))
		m->niceness |= rule->niceness;
	return 0;
}

static long note_slash(u32 i, struct named **named)
{
	if ((*named)->text[i % NAMED] == '/')
		(*named)->last = i + 1;
	return 0;
}

#endif
