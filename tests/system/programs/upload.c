/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * upload [-f] [-c NAME] ADDRESS PORT BYTES: a program that nothing can be preloaded into, for it is
 * linked statically. Sends BYTES zeros over TCP and waits until the peer has closed.
 *
 * -f       a forked child does the work
 * -c NAME  choose the congestion control, as an application that knows about netnice may
 */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
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
	const char *cc = NULL;
	int option, forks = 0, status = 1;

	while ((option = getopt(argc, argv, "fc:")) != -1) {
		if (option == 'f')
			forks = 1;
		else if (option == 'c')
			cc = optarg;
		else
			return 2;
	}
	if (argc - optind != 3)
		return 2;
	argv += optind;
	if (!forks)
		return upload(argv[0], argv[1], atoll(argv[2]), cc);
	if (fork() == 0)
		_exit(upload(argv[0], argv[1], atoll(argv[2]), cc));
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
