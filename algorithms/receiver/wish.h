/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who has a connection yield with what it receives, and who may stop it. An application may make its own connections
 * nicer, and take that back; what the administrator began, or a level's cgroup does, stands: nobody lowers somebody
 * else's niceness.
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
