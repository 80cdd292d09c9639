/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* UDP sources that send at a constant rate during given bursts (the schedule decides ON and OFF). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "guest.h"

struct burst {
	uint64_t from, to, gap;
};

struct udp {
	struct timer next;
	int id, fd, size;
	struct burst *bursts;
	uint32_t count, cap, current;
	uint32_t sent;
	uint32_t received; /* of this source, at the sink */
	uint64_t delay_us; /* sum of one-way delays of what arrived */
	uint32_t *delays, room; /* each of them, us */
	struct sockaddr_in to;
};

struct datagram {
	uint32_t id;
	uint32_t reserved;
	uint64_t sent_at;
};

static struct udp *sources[1024];

void udp_add(int id, const char *host, const char *address, int port, int tos, int size)
{
	struct udp *udp = calloc(1, sizeof(*udp));

	if (id < 0 || id >= 1024 || sources[id] || size < (int)sizeof(struct datagram))
		fail("udp source %d", id);
	host_enter(host);
	sources[id] = udp;
	udp->id = id;
	udp->size = size;
	udp->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	udp->to = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	if (inet_pton(AF_INET, address, &udp->to.sin_addr) != 1)
		fail("bad address %s", address);
	if (setsockopt(udp->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)) ||
	    connect(udp->fd, (struct sockaddr *)&udp->to, sizeof(udp->to)))
		fail("udp source %d", id);
}

static void udp_next(struct timer *timer)
{
	struct udp *udp = (struct udp *)((char *)timer - offsetof(struct udp, next));
	struct burst *burst = &udp->bursts[udp->current];
	struct datagram *datagram = (struct datagram *)payload;
	uint64_t at;

	datagram->id = udp->id;
	datagram->sent_at = now_ns();
	if (send(udp->fd, payload, udp->size, 0) > 0)
		udp->sent++;
	memset(datagram, 0, sizeof(*datagram));
	at = udp->next.at + burst->gap;
	if (at >= burst->to) {
		if (++udp->current == udp->count)
			return;
		at = udp->bursts[udp->current].from;
	}
	timer_set(&udp->next, at);
}

void udp_burst(int id, uint64_t from, uint64_t to, uint64_t rate)
{
	struct udp *udp = id >= 0 && id < 1024 ? sources[id] : NULL;

	if (!udp || !rate || to <= from)
		fail("burst of udp source %d", id);
	if (udp->count == udp->cap) {
		udp->cap = udp->cap ? 2 * udp->cap : 256;
		udp->bursts = realloc(udp->bursts, udp->cap * sizeof(*udp->bursts));
		if (!udp->bursts)
			fail("out of memory");
	}
	/* 28: IP and UDP headers count as part of the rate */
	udp->bursts[udp->count++] = (struct burst){ from, to, (udp->size + 28) * 8000000000ull / rate };
	if (udp->count == 1) {
		udp->next.fire = udp_next;
		timer_set(&udp->next, from);
	}
}

struct udp_sink {
	struct source source;
	int fd;
};

static void arrived(struct udp *udp, uint32_t us)
{
	if (udp->received == udp->room) {
		udp->room = udp->room ? 2 * udp->room : 1024;
		udp->delays = realloc(udp->delays, udp->room * sizeof(*udp->delays));
		if (!udp->delays)
			fail("out of memory");
	}
	udp->delays[udp->received++] = us;
	udp->delay_us += us;
}

static void udp_ready(struct source *source, uint32_t events)
{
	struct udp_sink *sink = (struct udp_sink *)source;
	struct datagram datagram;

	(void)events;
	while (recv(sink->fd, &datagram, sizeof(datagram), 0) == sizeof(datagram)) {
		if (datagram.id >= 1024 || !sources[datagram.id])
			continue;
		arrived(sources[datagram.id], (now_ns() - datagram.sent_at) / 1000);
	}
}

void udp_sink_open(const char *host, int port)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct udp_sink *sink = calloc(1, sizeof(*sink));

	host_enter(host);
	sink->source.ready = udp_ready;
	sink->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (sink->fd < 0 || bind(sink->fd, (struct sockaddr *)&any, sizeof(any)))
		fail("udp port %d", port);
	loop_watch(sink->fd, &sink->source, EPOLLIN);
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void udp_report(FILE *to)
{
	fprintf(to, "id,sent,received,mean_delay_us,p95_delay_us\n");
	for (int i = 0; i < 1024; i++) {
		struct udp *udp = sources[i];
		uint32_t n;

		if (!udp)
			continue;
		n = udp->received;
		if (n)
			qsort(udp->delays, n, sizeof(*udp->delays), compare);
		fprintf(to, "%d,%u,%u,%lu,%u\n", i, udp->sent, n, n ? udp->delay_us / n : 0,
			n ? udp->delays[n * 95ull / 100] : 0);
	}
}
