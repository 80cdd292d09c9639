// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NETNICE_RECEIVE 0x6e6e
#define LONGEST_NAME 16
#define ANSWERS (1L << 30)
#define MOST_KBITS ((1u << 28) - 1)
#define DONE 0x100

/* Those before "netnice" yield to more than it does: a connection that has one keeps it. */
static const char *const levels[] = { "netnice2", "netnice1", "netnice" };
static const char *const controls[] = { "netnice", "nnledbatpp", "lp" };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *level(int fd)
{
	char name[LONGEST_NAME + 1] = "";
	socklen_t length = LONGEST_NAME;

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) == 0)
		for (size_t i = 0; i < LENGTH(levels); i++)
			if (strcmp(name, levels[i]) == 0)
				return levels[i];
	return NULL;
}

static const char *sending(int fd)
{
	const uint32_t cap = NETNICE_CAP;
	const char *had = level(fd);

	if (had)
		return had;
	for (size_t i = 0; i < LENGTH(controls); i++)
		if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, controls[i], strlen(controls[i])) == 0)
			return controls[i];
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &cap, sizeof(cap)) == 0)
		return "pacing";
	return NULL;
}

struct netnice_background netnice_background(int fd)
{
	const int one = 1;
	const bool receives = setsockopt(fd, IPPROTO_TCP, NETNICE_RECEIVE, &one, sizeof(one)) == 0;

	return (struct netnice_background){ .sends = sending(fd), .receives = receives };
}

/* A read far beyond the end of a line of text: netnice answers with an errno that no error has. */
int netnice_at_least(unsigned int kbits)
{
	const int file = open("/proc/sys/kernel/domainname", O_RDONLY | O_CLOEXEC);
	ssize_t got;
	char byte;

	if (file < 0)
		return -1;
	got = pread(file, &byte, 1, ANSWERS | (kbits < MOST_KBITS ? kbits : MOST_KBITS));
	close(file);
	if (got < 0 && errno >= DONE && errno < DONE + 256)
		return 0;
	if (got >= 0)
		errno = ENOSYS;
	return -1;
}
