/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Document clients: every document of a client's schedule over a connection of its own, or all over one
 * persistent connection. 'open' schedules ask at the given times, whatever is outstanding; 'closed' ones wait
 * the given time after the previous document has arrived.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"

#define LOW_WATER 32768

struct document {
	uint64_t at, first, acked, arrived;
	uint32_t size;
	int client;
};

struct fetch {
	struct source source;
	struct client *client;
	int fd, established;
	uint32_t asked, done, left; /* of the client's schedule: next to ask, next to arrive, its bytes */
	uint32_t last; /* one past the last document this connection is for */
};

struct client {
	struct timer next;
	int id, port, persistent, closed;
	char host[32], address[32];
	uint32_t *schedule, count, cap, asked;
	struct fetch *connection;
};

static struct client *clients[4096];
static struct document *documents;
static uint32_t document_count, document_cap;

void client_add(int id, const char *host, const char *address, int port, const char *mode)
{
	struct client *client = calloc(1, sizeof(*client));

	if (id < 0 || id >= 4096 || clients[id])
		fail("client %d", id);
	clients[id] = client;
	client->id = id;
	client->port = port;
	client->persistent = !strncmp(mode, "persistent", 10);
	client->closed = strstr(mode, "closed") != NULL;
	snprintf(client->host, sizeof(client->host), "%s", host);
	snprintf(client->address, sizeof(client->address), "%s", address);
}

void document_done(uint32_t id, uint64_t first, uint64_t acked)
{
	documents[id].first = first;
	documents[id].acked = acked;
}

static void low_water(struct fetch *fetch)
{
	int low = fetch->left < LOW_WATER ? fetch->left : LOW_WATER;

	if (low > 1)
		setsockopt(fetch->fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
}

static void schedule_next(struct client *client)
{
	uint64_t at;

	if (client->asked == client->count)
		return;
	at = documents[client->schedule[client->asked]].at;
	timer_set(&client->next, client->closed ? now_ns() + at : at);
}

static void ask(struct fetch *fetch)
{
	struct client *client = fetch->client;

	for (; fetch->established && fetch->asked < fetch->last; fetch->asked++) {
		uint32_t id = client->schedule[fetch->asked];
		uint32_t request[2] = { id, documents[id].size };

		if (client->closed)
			documents[id].at = now_ns();
		if (write(fetch->fd, request, sizeof(request)) != sizeof(request))
			fail("client %d cannot send a request", client->id);
	}
	if (!fetch->left && fetch->done < fetch->asked) {
		fetch->left = documents[client->schedule[fetch->done]].size;
		low_water(fetch);
	}
}

static void abandon(struct fetch *fetch)
{
	close(fetch->fd);
	if (fetch->client->connection == fetch)
		fetch->client->connection = NULL;
	free(fetch);
}

/* True if the connection is gone: a fresh one is closed at once, and its FIN carries the last ACK. */
static bool arrived(struct fetch *fetch)
{
	struct client *client = fetch->client;
	int one = 1;

	documents[client->schedule[fetch->done++]].arrived = now_ns();
	if (client->closed)
		schedule_next(client);
	if (!client->persistent) {
		abandon(fetch);
		return true;
	}
	setsockopt(fetch->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
	return false;
}

/* Edge triggered: fewer system calls than changing what epoll waits for. */
static void fetch_ready(struct source *source, uint32_t events)
{
	struct fetch *fetch = (struct fetch *)source;
	ssize_t n;

	if (events & (EPOLLERR | EPOLLHUP)) { /* timed out: its documents stay unfinished */
		abandon(fetch);
		return;
	}
	if (events & EPOLLOUT)
		fetch->established = 1;
	ask(fetch);
	while (fetch->left && (events & EPOLLIN)) {
		n = recv(fetch->fd, payload, fetch->left < sizeof(payload) ? fetch->left : sizeof(payload), MSG_TRUNC);
		if (n <= 0)
			return;
		fetch->left -= n;
		if (!fetch->left) {
			if (arrived(fetch))
				return;
			ask(fetch);
		} else {
			if (fetch->left < LOW_WATER)
				low_water(fetch);
		}
	}
}

static void client_next(struct timer *timer)
{
	struct client *client = (struct client *)((char *)timer - offsetof(struct client, next));
	struct fetch *fetch = client->persistent ? client->connection : NULL;

	if (!fetch) {
		fetch = calloc(1, sizeof(*fetch));
		fetch->source.ready = fetch_ready;
		fetch->client = client;
		fetch->asked = fetch->done = client->asked;
		host_enter(client->host);
		fetch->fd = client_socket();
		connect_to(fetch->fd, client->address, client->port);
		loop_watch(fetch->fd, &fetch->source, EPOLLIN | EPOLLOUT | EPOLLET);
		if (client->persistent)
			client->connection = fetch;
	}
	fetch->last = ++client->asked;
	ask(fetch);
	if (!client->closed)
		schedule_next(client);
}

void document_add(int id, uint64_t at, uint32_t size)
{
	struct client *client = id >= 0 && id < 4096 ? clients[id] : NULL;

	if (!client || !size)
		fail("document for client %d", id);
	if (document_count == document_cap) {
		document_cap = document_cap ? 2 * document_cap : 4096;
		documents = realloc(documents, document_cap * sizeof(*documents));
	}
	if (client->count == client->cap) {
		client->cap = client->cap ? 2 * client->cap : 64;
		client->schedule = realloc(client->schedule, client->cap * sizeof(*client->schedule));
	}
	if (!documents || !client->schedule)
		fail("out of memory");
	client->schedule[client->count] = document_count;
	documents[document_count++] = (struct document){ .at = at, .size = size, .client = id };
	if (client->count++ == 0) {
		client->next.fire = client_next;
		timer_set(&client->next, at);
	}
}

/* Times in us since the start; 0: did not happen within the run. */
void documents_report(FILE *to)
{
	uint32_t i;

	fprintf(to, "client,asked_us,size,first_us,acked_us,arrived_us\n");
	for (i = 0; i < document_count; i++)
		fprintf(to, "%d,%lu,%u,%lu,%lu,%lu\n", documents[i].client, documents[i].at / 1000, documents[i].size,
			documents[i].first / 1000, documents[i].acked / 1000, documents[i].arrived / 1000);
}
