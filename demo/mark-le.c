// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Preloaded into a program, marks its TCP connections DSCP LE (RFC 8622) and changes nothing else. It is for the demo's
 * ideal, where only the router yields. What a server accepts inherits the mark of the listening socket.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define TOS_LE 0x04

static void mark(int fd, int family)
{
	int tos = TOS_LE;

	if (family == AF_INET)
		setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	static int (*next)(int, const struct sockaddr *, socklen_t);

	if (!next)
		next = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
	mark(fd, address->sa_family);
	return next(fd, address, length);
}

int listen(int fd, int backlog)
{
	static int (*next)(int, int);
	struct sockaddr_storage own = { 0 };
	socklen_t length = sizeof(own);

	if (!next)
		next = (int (*)(int, int))dlsym(RTLD_NEXT, "listen");
	if (!getsockname(fd, (struct sockaddr *)&own, &length))
		mark(fd, own.ss_family);
	return next(fd, backlog);
}
