/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The call by which a process asks for niceness: pread() of the sysctl kernel/ostype, with the request in the offset.
 * No program reads a line of text beyond its first gibibyte by accident, and other system calls cost nothing more.
 *
 *   31 30  29 28  27 .. 22   21 .. 0
 *    0  1  verb   niceness   process, as numbered in the caller's namespace; 0: the caller
 *
 * The same call of kernel/version is for the process alone: programs that it starts stay in the foreground (alone.h).
 *
 * It always fails. Success is errno NN_CALL_DONE plus the niceness that the process has now, a number that no error has. An
 * eBPF program may refuse a read; since Linux 7.2 it may not say how much was read. 0 is the kernel's own answer past the
 * end of a file: netnice is not loaded.
 */
#ifndef NN_CALL_H
#define NN_CALL_H

#include "alone.h"

#define NN_CALL_FILE "kernel/ostype"
#define NN_CALL_FILE_ALONE "kernel/version"
#define NN_CALL_DONE 0x100
#define NN_CALL_ANSWERS 256 /* so many from NN_CALL_DONE on */

enum nn_verb {
	NN_CALL_ASK, /* changes nothing */
	NN_CALL_RAISE, /* adds, where that does not lower */
	NN_CALL_SET, /* exactly this; what lowers takes root, and so does QUIC's return */
	NN_CALL_NO_QUIC, /* of no niceness: adds that it does without QUIC */
};

struct nn_call {
	u32 verb, niceness, process;
	u32 alone; /* 0 or 1 */
};

/* Is a read at this offset a call? */
nn_inline bool nn_is_call(u32 offset)
{
	return offset >> 30 == 1;
}

nn_inline struct nn_call nn_call_of(u32 offset)
{
	struct nn_call call = {
		.verb = offset >> 28 & 3,
		.niceness = offset >> 22 & 63,
		.process = offset & 0x3fffff,
	};

	return call;
}

/* What the caller may, as the shim has found out. */
struct nn_caller {
	bool owner; /* the process is the caller, or runs as the same user */
	bool root; /* it has CAP_SYS_NICE in the first user namespace */
};

enum nn_verdict {
	NN_VERDICT_KEEP,
	NN_VERDICT_ADD, /* these bits, to what it has */
	NN_VERDICT_REPLACE,
	NN_VERDICT_FORGET, /* it returns to the foreground */
	NN_VERDICT_MEANINGLESS,
	NN_VERDICT_FORBIDDEN,
};

struct nn_answer {
	u32 verdict, bits;
	u32 begins; /* bits to add where the process was in the foreground until now */
	u32 ends; /* bits to take away */
};

/*
 * Is the call about all of a process' niceness, or about what it keeps, without the part that a deadline ends? `armed`: what
 * the process raises next is of that part.
 */
nn_inline bool nn_call_is_of_all(struct nn_call call, struct nn_caller caller, bool armed)
{
	return call.verb == NN_CALL_ASK || armed || (call.verb == NN_CALL_SET && caller.root);
}

/* Does the process get bits, or do its children begin to inherit? */
nn_inline u32 nn_adds_or_keeps(u32 now, struct nn_answer answer)
{
	return (answer.bits & ~now) | (answer.ends & now) ? NN_VERDICT_ADD : NN_VERDICT_KEEP;
}

/* What an administrator's rule does to a process with this niceness. */
nn_inline struct nn_answer nn_answer_of_rule(u32 now, u32 wanted)
{
	struct nn_answer answer = { .verdict = NN_VERDICT_ADD, .begins = wanted & NN_NICENESS_ALONE };

	answer.ends = nn_niceness_ends(answer.begins);
	answer.bits = nn_niceness_added(now, wanted & ~(u32)NN_NICENESS_ALONE);
	return answer;
}

/* May the caller do it, and what is the result? `now`: the niceness that the process has. */
nn_inline struct nn_answer nn_answer(struct nn_call call, u32 now, struct nn_caller caller)
{
	struct nn_answer answer = { .verdict = NN_VERDICT_KEEP, .bits = call.niceness };

	answer.begins = call.alone * NN_NICENESS_ALONE;
	answer.ends = nn_niceness_ends(answer.begins);
	if (call.verb == NN_CALL_NO_QUIC ? call.niceness : !nn_niceness_valid(call.niceness)) {
		answer.verdict = NN_VERDICT_MEANINGLESS;
	} else if (call.verb == NN_CALL_ASK) {
		answer.verdict = NN_VERDICT_KEEP;
	} else if (!caller.owner && !caller.root) {
		answer.verdict = NN_VERDICT_FORBIDDEN;
	} else if (call.verb == NN_CALL_NO_QUIC) {
		answer.bits = NN_NICENESS_NO_QUIC;
		answer.ends = 0;
		answer.verdict = nn_adds_or_keeps(now, answer);
	} else if (call.verb == NN_CALL_RAISE) {
		answer.bits = nn_niceness_added(now, call.niceness);
		answer.verdict = nn_adds_or_keeps(now, answer);
	} else if (!nn_niceness_lowers(now, call.niceness)) {
		answer.verdict = nn_adds_or_keeps(now, answer);
	} else if (!caller.root) {
		answer.verdict = NN_VERDICT_FORBIDDEN;
	} else {
		answer.verdict = call.niceness ? NN_VERDICT_REPLACE : NN_VERDICT_FORGET;
		answer.bits |= answer.begins;
	}
	return answer;
}

#endif
