// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Preloaded into a program, marks its TCP connections DSCP LE (RFC 8622) and changes nothing else: the background of the
 * demo's ideal, where only the router is told.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define TOS_LE 0x04

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	static int (*next)(int, const struct sockaddr *, socklen_t);
	int tos = TOS_LE;

	if (!next)
		next = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
	if (address->sa_family == AF_INET)
		setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	return next(fd, address, length);
}
