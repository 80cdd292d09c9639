/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The document server. A request is 8 bytes: id and size. The time of a document's last ACK is the kernel's
 * own time stamp of it (SO_TIMESTAMPING, TX_ACK), not the moment this process looks.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#include "guest.h"

#define CHUNK 262144
#define WAITING 1024u /* documents of a connection: a persistent one of a busy day had more than 64; a power of two */

struct document {
	uint32_t id, size, left;
	uint64_t first;
	uint32_t end; /* stream offset after the last byte, as the kernel counts it */
};

struct connection {
	struct source source;
	int fd, closing;
	uint32_t sent, events;
	unsigned int head, writing, tail; /* acked, being written, requested */
	struct document ring[WAITING];
};

struct listener {
	struct source source;
	int fd;
};

static void finish(struct connection *c)
{
	close(c->fd);
	c->fd = -1;
	free(c);
}

/* A stamp names the stream offset it confirms; a document is done when its end is. Level triggered: one a call. */
static void read_stamp(struct connection *c)
{
	union {
		char bytes[512];
		struct cmsghdr align;
	} control;
	struct msghdr message;

	struct scm_timestamping *stamp = NULL;
	struct sock_extended_err *error = NULL;
	struct cmsghdr *part;
	uint64_t acked;

	memset(&message, 0, sizeof(message));
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	if (recvmsg(c->fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return;
	for (part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
		if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPING)
			stamp = (struct scm_timestamping *)CMSG_DATA(part);
		else if (part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR)
			error = (struct sock_extended_err *)CMSG_DATA(part);
	}
	if (!stamp || !error || error->ee_origin != SO_EE_ORIGIN_TIMESTAMPING)
		return;
	acked = stamp->ts[0].tv_sec * 1000000000ull + stamp->ts[0].tv_nsec - realtime_start();
	while (c->head != c->writing && (int32_t)(error->ee_data + 1 - c->ring[c->head % WAITING].end) >= 0) {
		document_done(c->ring[c->head % WAITING].id, c->ring[c->head % WAITING].first, acked);
		c->head++;
	}
}

static void write_documents(struct connection *c)
{
	while (c->writing != c->tail) {
		struct document *document = &c->ring[c->writing % WAITING];
		ssize_t n;

		if (document->left == document->size)
			document->first = now_ns();
		n = write(c->fd, payload, document->left < CHUNK ? document->left : CHUNK);
		if (n <= 0)
			return;
		c->sent += n;
		document->left -= n;
		document->end = c->sent;
		if (!document->left)
			c->writing++;
	}
}

static void connection_ready(struct source *source, uint32_t events)
{
	struct connection *c = (struct connection *)source;
	uint32_t request[2], want;
	ssize_t n;

	if (events & EPOLLERR)
		read_stamp(c);
	if (events & EPOLLHUP)
		return finish(c);
	if (events & EPOLLIN && !c->closing) {
		n = read(c->fd, request, sizeof(request));
		if (n == sizeof(request)) {
			if (c->tail - c->head == WAITING)
				fail("%u documents wait on one connection", WAITING);
			c->ring[c->tail++ % WAITING] =
				(struct document){ .id = request[0], .size = request[1], .left = request[1] };
		} else if (n == 0) {
			c->closing = 1;
		} else if (errno != EAGAIN) {
			return finish(c);
		}
	}
	write_documents(c);
	if (c->closing && c->head == c->tail)
		return finish(c);
	want = (c->closing ? 0 : EPOLLIN | EPOLLRDHUP) | (c->writing != c->tail ? EPOLLOUT : 0);
	if (want != c->events) {
		loop_change(c->fd, &c->source, want);
		c->events = want;
	}
}

static void server_accept(struct source *source, uint32_t events)
{
	struct listener *listener = (struct listener *)source;
	int stamps = SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
		     SOF_TIMESTAMPING_OPT_TSONLY;
	struct connection *c;
	int fd;

	(void)events;
	fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)))
			fail("SO_TIMESTAMPING");
		c = calloc(1, sizeof(*c));
		c->source.ready = connection_ready;
		c->fd = fd;
		c->events = EPOLLIN | EPOLLRDHUP;
		loop_watch(fd, &c->source, c->events);
	}
}

void server_open(const char *host, int port, const char *cc, int tos)
{
	struct listener *listener = calloc(1, sizeof(*listener));

	host_enter(host);
	listener->source.ready = server_accept;
	listener->fd = listen_on(port, cc, tos);
	loop_watch(listener->fd, &listener->source, EPOLLIN);
}
