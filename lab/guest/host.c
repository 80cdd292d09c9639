/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hosts are network namespaces; this process moves between them to make sockets. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"

char payload[1 << 20];
static char entered[64];

void fail(const char *format, ...)
{
	int error = errno;
	va_list arguments;

	printf("lab: traffic: ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf(": %s\n", strerror(error));
	fflush(stdout);
	_exit(1);
}

void host_enter(const char *name)
{
	char path[128];
	int fd;

	if (!strcmp(entered, name))
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		fail("no host %s", name);
	close(fd);
	snprintf(entered, sizeof(entered), "%s", name);
}

void host_sysctl(const char *host, const char *path, const char *value)
{
	char full[256];
	FILE *file;

	host_enter(host);
	snprintf(full, sizeof(full), "/proc/sys/net/%s", path);
	file = fopen(full, "we");
	if (!file || fputs(value, file) < 0 || fclose(file))
		fail("sysctl %s on %s", path, host);
}

/* No offloads: what crosses a link is what would cross a wire. */
void host_plain_device(const char *host, const char *device)
{
	static const uint32_t off[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO };
	struct ethtool_value value = { 0 };
	struct ifreq request = { 0 };
	unsigned int i;
	int fd;

	host_enter(host);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	request.ifr_data = (char *)&value;
	for (i = 0; i < sizeof(off) / sizeof(*off); i++) {
		value.cmd = off[i];
		if (ioctl(fd, SIOCETHTOOL, &request))
			fail("offloads of %s on %s", device, host);
	}
	close(fd);
}

static void option(int fd, int level, int name, int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		fail("%s", what);
}

struct maker maker;

int client_socket(void)
{
	int fd;

	setfsuid(maker.user);
	fd = socket(maker.family == IPV4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setfsuid(0);
	if (fd < 0)
		fail("socket");
	return fd;
}

int stream_socket(const char *cc, int tos)
{
	int fd = client_socket();

	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		fail("no congestion control '%s' in the guest", cc);
	option(fd, IPPROTO_IP, IP_TOS, tos, "IP_TOS");
	option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	return fd;
}

int listen_on(int port, const char *cc, int tos)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr *of = maker.family == IPV4 ? (struct sockaddr *)&any : (struct sockaddr *)&any6;
	int fd = stream_socket(cc, tos);

	option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(fd, of, maker.family == IPV4 ? sizeof(any) : sizeof(any6)) || listen(fd, 4096))
		fail("port %d", port);
	return fd;
}

void connect_to(int fd, const char *address, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr *any = maker.family == IPV4 ? (struct sockaddr *)&to : (struct sockaddr *)&to6;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		fail("bad address %s", address);
	/* a topology's IPv6 address is its IPv4 address below fd00:: */
	if (maker.family == IPV6)
		to6.sin6_addr.s6_addr[0] = 0xfd;
	else
		to6.sin6_addr.s6_addr[10] = to6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&to6.sin6_addr.s6_addr[12], &to.sin_addr, sizeof(to.sin_addr));
	if (connect(fd, any, maker.family == IPV4 ? sizeof(to) : sizeof(to6)) && errno != EINPROGRESS)
		fail("connect to %s:%d", address, port);
}

FILE *output(const char *name)
{
	FILE *file = fopen(name, "we");

	if (!file)
		fail("%s", name);
	setvbuf(file, malloc(1 << 18), _IOFBF, 1 << 18);
	return file;
}
