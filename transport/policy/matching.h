/* SPDX-License-Identifier: GPL-2.0 */
/* The rules of algorithms/niceness/rule.h, and names to compare with them. */
#ifndef NN_POLICY_MATCHING_H
#define NN_POLICY_MATCHING_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "../../algorithms/niceness/alone.h"
#include "../../algorithms/niceness/rule.h"

#define NAMED 1024 /* as much of a cgroup's path as the kernel tells */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * NN_RULES); /* two sets */
	__type(key, u32);
	__type(value, struct nn_rule);
} rules SEC(".maps");

struct name {
	u8 text[NAMED];
	struct nn_named named;
	u32 timed; /* what rules that hold for hours only say of it */
	u64 ends; /* when the last of these hours end: CLOCK_TAI */
	u32 at_least; /* kbit/s, of all rules that hold */
};

/* Room for a name: a program's stack has less. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* of a cgroup, of a program: one may interrupt the other */
	__type(key, u32);
	__type(value, struct name);
} names SEC(".maps");

struct matching {
	struct name *name;
	u32 set;
	u32 niceness; /* of all rules that match so far, and hold always */
	u64 now; /* CLOCK_TAI */
};

struct comparison {
	const struct nn_rule *rule;
	const struct name *name;
	struct nn_part part;
	bool differs;
};

/* Calls, not loops: the verifier sees a call once, and each round of a loop. */
static long compare(u32 i, struct comparison *c)
{
	u32 opposite = nn_rule_opposite(c->rule, c->part, i);

	c->differs = c->name->text[opposite % NAMED] != c->rule->text[i % NN_RULE_TEXT];
	return c->differs;
}

static long match(u32 i, struct matching *m)
{
	u32 place = m->set * NN_RULES + i;
	const struct nn_rule *rule = bpf_map_lookup_elem(&rules, &place);
	struct comparison c = { .rule = rule, .name = m->name };

	if (!rule || !nn_rule_holds(rule, m->now))
		return 0;
	c.part = nn_rule_part(rule, m->name->named);
	if (!c.part.possible)
		return 0;
	bpf_loop(nn_rule_bytes(rule), compare, &c, 0);
	if (c.differs)
		return 0;
	if (m->name->at_least < rule->at_least)
		m->name->at_least = rule->at_least;
	if (nn_rule_is_always(rule)) {
		m->niceness = nn_niceness_of_rules(m->niceness, rule->niceness);
		return 0;
	}
	m->name->timed = nn_niceness_of_rules(m->name->timed, rule->niceness);
	if (m->name->ends < rule->ends)
		m->name->ends = rule->ends;
	return 0;
}

static long note_slash(u32 i, struct matching *m)
{
	if (m->name->text[i % NAMED] == '/')
		m->name->named.last = i + 1;
	return 0;
}

/*
 * What the rules of a set, of this number, say of a name of this length, which is a cgroup's path or a program's. Of rules
 * with hours that hold now, `name` has it.
 */
static __noinline u32 niceness_of_name(struct name *name, u32 length, bool command, u32 set, u32 number)
{
	struct matching m = { .name = name, .set = set, .now = bpf_ktime_get_tai_ns() };

	name->named.length = length;
	name->named.last = 0;
	name->named.command = command;
	name->timed = 0;
	name->ends = 0;
	name->at_least = 0;
	if (!command)
		bpf_loop(length, note_slash, &m, 0);
	bpf_loop(number, match, &m, 0);
	return m.niceness;
}

#endif
