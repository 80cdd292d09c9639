/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Niceness that ends: a process raises its niceness until a deadline, and is then what it was before.
 *
 * A deadline is on one of two clocks. Time that passes, suspended or not: CLOCK_BOOTTIME. The wall clock, with each step of
 * it: CLOCK_TAI, which steps as CLOCK_REALTIME does. With deadlines on both, both have to pass. A later one replaces an
 * earlier one, and never the other way: no process becomes less nice by asking for a deadline.
 *
 * The call is a read of the sysctl kernel/osrelease, as call.h has it for kernel/ostype:
 *
 *   31 30  29 28  27 .. 0
 *    0  1  verb   number
 */
#ifndef NN_DEADLINE_H
#define NN_DEADLINE_H

#include "../common/types.h"

#define NN_DEADLINE_FILE "kernel/osrelease"
#define NN_DEADLINE_BITS 28 /* of seconds: 8.5 years */
#define NN_DEADLINE_MOST ((1u << (NN_DEADLINE_BITS - 1)) - 1) /* seconds ahead: half of them, the rest is the past */
#define NN_SECOND 1000000000ull

enum nn_deadline_verb {
	NN_DEADLINE_AT, /* number: seconds of the wall clock, as many bits of them as there is room for */
	NN_DEADLINE_IN, /* number: seconds from now, whatever the wall clock does */
	NN_DEADLINE_ASK, /* number: a process, as numbered in the caller's namespace; changes nothing */
	NN_DEADLINE_GIVE, /* number: a process that gets the caller's own deadline; takes root */
};

/* The answer is NN_CALL_DONE of call.h plus one of these. */
enum nn_deadline_state {
	NN_DEADLINE_NONE,
	NN_DEADLINE_AHEAD,
	NN_DEADLINE_PASSED,
};

/* Nanoseconds of each clock; 0: none. */
struct nn_deadline {
	u64 boot, wall;
};

struct nn_deadline_call {
	u32 verb, number;
};

nn_inline struct nn_deadline_call nn_deadline_call_of(u32 offset)
{
	struct nn_deadline_call call = {
		.verb = offset >> NN_DEADLINE_BITS & 3,
		.number = offset & ((1u << NN_DEADLINE_BITS) - 1),
	};

	return call;
}

/* The moment of these last bits of its seconds that is nearest to now. */
nn_inline u64 nn_deadline_at(u64 now, u32 seconds)
{
	u64 second = now / NN_SECOND;
	u32 ahead = (seconds - (u32)second) & ((1u << NN_DEADLINE_BITS) - 1);

	if (ahead > NN_DEADLINE_MOST) /* it is in the past */
		return now;
	return (second + ahead) * NN_SECOND;
}

nn_inline u64 nn_deadline_in(u64 now, u32 seconds)
{
	return now + (seconds < NN_DEADLINE_MOST ? seconds : NN_DEADLINE_MOST) * NN_SECOND;
}

nn_inline struct nn_deadline nn_deadline_later(struct nn_deadline one, struct nn_deadline other)
{
	struct nn_deadline later = {
		.boot = one.boot > other.boot ? one.boot : other.boot,
		.wall = one.wall > other.wall ? one.wall : other.wall,
	};

	return later;
}

/* Of a part of the niceness with these bits. */
nn_inline enum nn_deadline_state nn_deadline_state_of(u32 bits, bool passed)
{
	if (!bits)
		return NN_DEADLINE_NONE;
	return passed ? NN_DEADLINE_PASSED : NN_DEADLINE_AHEAD;
}

nn_inline bool nn_deadline_passed(struct nn_deadline until, u64 boot, u64 wall)
{
	return until.boot <= boot && until.wall <= wall;
}

#endif
