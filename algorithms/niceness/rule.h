/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The administrator's rules: which cgroups and programs are in the background from when they begin.
 *
 * A rule is a pattern: what a name begins with, and what it ends with. Between them is anything, or nothing if it is not
 * open. Of several rules that match a name all count: it yields where any of them says so. The caller compares bytes one by
 * one: in eBPF that is a call each and not a loop.
 */
#ifndef NN_RULE_H
#define NN_RULE_H

#include "../common/types.h"

#define NN_RULES 64
#define NN_RULE_TEXT 128 /* longer than any name that a unit or a container has */

enum nn_rule_subject {
	NN_RULE_NAME, /* the last part of a cgroup's path: a unit's name */
	NN_RULE_PATH, /* all of it */
	NN_RULE_COMMAND, /* a program's name, as the kernel cuts it */
};

struct nn_rule {
	u32 subject;
	u32 niceness; /* enum nn_niceness_bit */
	u32 head, tail; /* lengths, the one's text before the other's */
	u32 open;
	u8 text[NN_RULE_TEXT];
	u32 from, until; /* its hours, in seconds of the local day; the same: it holds always */
	u32 at_least; /* kbit/s that what it names has together; 0: nothing */
	u64 begins, ends; /* of its hours, those of now or the next: nanoseconds of CLOCK_TAI */
};

nn_inline bool nn_rule_is_always(const struct nn_rule *rule)
{
	return rule->from == rule->until;
}

nn_inline bool nn_rule_holds(const struct nn_rule *rule, u64 now)
{
	return nn_rule_is_always(rule) || (rule->begins <= now && now < rule->ends);
}

/* What is compared: a part of a cgroup's path, or a program's name. */
struct nn_named {
	u32 length; /* of all */
	u32 last; /* where the last part of a path begins */
	bool command;
};

/* The part of it that the rule is about. */
struct nn_part {
	u32 from, length;
	bool possible; /* the rule is about such things, and the length is one that it can match */
};

nn_inline struct nn_part nn_rule_part(const struct nn_rule *rule, struct nn_named named)
{
	u32 both = rule->head + rule->tail;
	struct nn_part part = { .from = rule->subject == NN_RULE_NAME ? named.last : 0 };

	part.length = named.length - part.from;
	part.possible = named.command == (rule->subject == NN_RULE_COMMAND) &&
			(rule->open ? part.length >= both : part.length == both);
	return part;
}

/* So many bytes of the rule's text are to be compared, */
nn_inline u32 nn_rule_bytes(const struct nn_rule *rule)
{
	return rule->head + rule->tail;
}

/* the one at `i` with the one there in the name. */
nn_inline u32 nn_rule_opposite(const struct nn_rule *rule, struct nn_part part, u32 i)
{
	return part.from + i + (i < rule->head ? 0 : part.length - nn_rule_bytes(rule));
}

#endif
