/* SPDX-License-Identifier: GPL-2.0 */
/* The administrator's rules: which cgroups and programs are in the background from when they begin. */
#ifndef NN_POLICY_RULES_H
#define NN_POLICY_RULES_H

#include "../../algorithms/common/types.h"

#define RULES 64
#define RULE_TEXT 128 /* longer than any name that a unit or a container has */

enum rule_subject {
	RULE_NAME, /* the last part of a cgroup's path: a unit's name */
	RULE_PATH, /* all of it */
	RULE_COMMAND, /* a program's name, as the kernel cuts it */
};

/* A pattern is what a name begins with, and what it ends with; between them anything, or nothing if it is not open. */
struct rule {
	u32 subject;
	u32 niceness; /* enum nn_niceness_bit */
	u32 head, tail; /* lengths, the one's text before the other's */
	u32 open;
	u8 text[RULE_TEXT];
};

#endif
