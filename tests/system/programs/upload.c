/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * upload ADDRESS PORT BYTES [NAME]: a program that nothing can be preloaded into, for it is linked statically. Sends
 * BYTES zeros over TCP, by the congestion control NAME, and waits until the peer has closed.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int failed(const char *what)
{
	perror(what);
	return 1;
}

static int upload(const char *address, const char *port, long long bytes, const char *cc)
{
	static char block[65536];
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM }, *to;
	int sock;

	if (getaddrinfo(address, port, &hints, &to))
		return failed("address");
	sock = socket(to->ai_family, SOCK_STREAM, 0);
	if (cc && setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		return failed(cc);
	if (connect(sock, to->ai_addr, to->ai_addrlen))
		return failed("connect");
	while (bytes > 0) {
		ssize_t sent = write(sock, block, bytes < (long long)sizeof(block) ? (size_t)bytes : sizeof(block));

		if (sent < 0)
			return failed("write");
		bytes -= sent;
	}
	shutdown(sock, SHUT_WR);
	return read(sock, block, 1) ? failed("the peer did not close") : 0;
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		return 2;
	return upload(argv[1], argv[2], atoll(argv[3]), argv[4]);
}
