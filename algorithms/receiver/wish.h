/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which request makes a connection yield with its incoming traffic, and which may end that. An application may make its own
 * connections nicer, and take that back. What the administrator began, or the cgroup of a level does, stays: no application
 * lowers niceness that another has set.
 */
#ifndef NN_WISH_H
#define NN_WISH_H

#include "../common/types.h"

enum nn_wish { NN_BY_NOBODY, NN_BY_APPLICATION, NN_BY_NETNICE };

/* The wish of a connection that had `wish` before its application asked: the stronger one stays. */
nn_inline u32 nn_wished_by_application(u32 wish)
{
	return wish == NN_BY_NOBODY ? NN_BY_APPLICATION : wish;
}

/* `of_cgroup`: it yields because its level's cgroup has it do so. */
nn_inline bool nn_application_may_stop(u32 wish, bool of_cgroup)
{
	return wish <= NN_BY_APPLICATION && !of_cgroup;
}

#endif
