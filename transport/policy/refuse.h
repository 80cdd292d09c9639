/* SPDX-License-Identifier: GPL-2.0 */
/* How a program of a cgroup says why it refuses what a process asks for. */
#ifndef NN_POLICY_REFUSE_H
#define NN_POLICY_REFUSE_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define EINVAL 22
#define MAX_ERRNO 4095

/*
 * bpf_set_retval() of all 64 bits of its register. Since Linux 7.2 the verifier wants them to be an errno, and clang would
 * fill half of them for an int.
 */
static long (*const set_retval)(s64) = (void *)BPF_FUNC_set_retval;

/* The verifier does not look into functions that it has verified before: it must see the range here. */
static __always_inline void refuse(s64 answer)
{
	barrier_var(answer); /* clang knows what the functions return, and would drop the check */
	if (answer >= 0 || answer < -MAX_ERRNO)
		answer = -EINVAL;
	set_retval(answer);
}

#endif
