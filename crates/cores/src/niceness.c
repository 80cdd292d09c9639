/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The decisions of algorithms/niceness/ as functions that another language can call. */
#include "niceness/alone.h"
#include "niceness/call.h"
#include "niceness/deadline.h"
#include "niceness/rule.h"

bool nn_test_lowers(u32 now, u32 wanted)
{
	return nn_niceness_lowers(now, wanted);
}

bool nn_test_speaks(u32 niceness, u32 rank)
{
	return nn_niceness_speaks(niceness, rank);
}

bool nn_test_stays(u32 now, u32 wanted, bool only_nicer)
{
	return nn_niceness_stays(now, wanted, only_nicer);
}

bool nn_test_turns(u32 now, u32 wanted)
{
	return nn_niceness_turns(now, wanted);
}

bool nn_test_is_call(u32 offset)
{
	return nn_is_call(offset);
}

/* The verdict in the upper half, its bits in the lower. */
u64 nn_test_answer(u32 offset, u32 now, bool owner, bool root)
{
	struct nn_caller caller = { .owner = owner, .root = root };
	struct nn_answer answer = nn_answer(nn_call_of(offset), now, caller);

	return (u64)answer.verdict << 32 | answer.bits;
}

/* What a process has after a call of netnice alone or with its children, as transport/policy/niceness.bpf.c adds it. */
u32 nn_test_after(u32 offset, u32 now, bool alone, bool root)
{
	struct nn_caller caller = { .owner = true, .root = root };
	struct nn_call call = nn_call_of(offset);
	struct nn_answer answer;

	call.alone = alone;
	answer = nn_answer(call, now, caller);
	if (answer.verdict == NN_VERDICT_ADD)
		return ((now ? now : answer.begins) & ~answer.ends) | answer.bits;
	if (answer.verdict == NN_VERDICT_REPLACE)
		return answer.bits;
	return answer.verdict == NN_VERDICT_FORGET ? 0 : now;
}

u32 nn_test_of_child(u32 parent)
{
	return nn_niceness_of_child(parent);
}

bool nn_test_ends_at_exec(u32 niceness)
{
	return nn_niceness_ends_at_exec(niceness);
}

u32 nn_test_of_rules(u32 one, u32 other)
{
	return nn_niceness_of_rules(one, other);
}

bool nn_test_rule_matches(const struct nn_rule *rule, const u8 *name, u32 length)
{
	struct nn_named named = { .length = length, .command = rule->subject == NN_RULE_COMMAND };
	struct nn_part part = nn_rule_part(rule, named);

	for (u32 i = 0; part.possible && i < nn_rule_bytes(rule); i++)
		if (name[nn_rule_opposite(rule, part, i)] != rule->text[i])
			return false;
	return part.possible;
}

u32 nn_test_priority(u32 now, u32 had, u32 marked)
{
	return nn_niceness_priority(now, had, marked);
}

u64 nn_test_deadline_at(u64 now, u32 seconds)
{
	return nn_deadline_at(now, seconds);
}

bool nn_test_deadline_passed(u64 boot, u64 wall, u64 now_boot, u64 now_wall)
{
	struct nn_deadline until = { .boot = boot, .wall = wall };

	return nn_deadline_passed(until, now_boot, now_wall);
}
