/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One call that puts a TCP connection into the background, with the best that this machine has. */
#ifndef NETNICE_BACKGROUND_H
#define NETNICE_BACKGROUND_H

#include <stdbool.h>

/* Bytes a second where nothing on the machine can yield: 1 Mbit/s. No fixed number is right everywhere. */
#ifndef NETNICE_CAP
#define NETNICE_CAP 125000
#endif

/* What the connection got. */
struct netnice_background {
	/* For what it sends: a congestion control, "pacing" (NETNICE_CAP), or NULL: nothing, and errno says why. */
	const char *sends;
	/* Whether what it receives yields too. */
	bool receives;
};

/*
 * Needs no rights, and may be called at any time. Tries in this order: a level that the connection has already, netnice,
 * LEDBAT++, TCP-LP, a cap on its rate.
 */
struct netnice_background netnice_background(int fd);

/*
 * What the process' connections in the background have together at least, kbit/s, in each direction; 0: nothing. For sockets
 * that it makes from then on, and for what it starts. Once, before the process is in the background by itself. 0, or -1 and
 * errno: EPERM where that is too late, ENOSYS where netnice is not loaded.
 */
int netnice_at_least(unsigned int kbits);

#endif
