/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The receiver side of netnice in the guest: its cgroup, and what its cores think, read from their socket storage. */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../transport/receiver/state.h"
#include "guest.h"

#define CONNECTIONS "/sys/fs/bpf/receiver/connections"

#define OWN 8 /* first words of a core's own state in a sample */

int receiver_watched, receiver_own;
static int storage = -1;
static struct {
	int fd, port;
} watched[4096];
static int watched_count;

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Sockets made from now on belong to this cgroup; "." is the root. */
void cgroup_enter(const char *name)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/cgroup.procs", name);
	file = fopen(path, "we");
	if (!file || fputs("0", file) < 0 || fclose(file))
		fail("cgroup %s", name);
}

void receiver_watch(int fd, int port)
{
	if (watched_count == 4096)
		return;
	watched[watched_count].fd = fd;
	watched[watched_count++].port = port;
}

void receiver_forget(int fd)
{
	for (int i = 0; i < watched_count; i++)
		if (watched[i].fd == fd)
			watched[i] = watched[--watched_count];
}

static void own_sample(FILE *to, int port, const struct nn_receiver *flow)
{
	fprintf(to, "own,%lu,%d", now_ns() / 1000, port);
	for (int word = 0; word < OWN; word++)
		fprintf(to, ",%u", flow->own[word]);
	fputc('\n', to);
}

/* One line a connection of the receiver: port, window, target, estimate (bytes). */
void receiver_sample(FILE *to)
{
	union bpf_attr attr;
	struct connection of;

	if (!watched_count)
		return;
	if (storage < 0) {
		memset(&attr, 0, sizeof(attr));
		attr.pathname = (uint64_t)CONNECTIONS;
		storage = bpf(BPF_OBJ_GET, &attr);
		if (storage < 0) /* a baseline without the receiver */
			return;
	}
	for (int i = 0; i < watched_count; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.map_fd = storage;
		attr.key = (uint64_t)&watched[i].fd;
		attr.value = (uint64_t)&of;
		if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
			continue;
		fprintf(to, "receiver,%lu,%d,%u,%u,%u\n", now_ns() / 1000, watched[i].port, of.flow.window,
			of.flow.target, of.flow.estimate);
		if (receiver_own)
			own_sample(to, watched[i].port, &of.flow);
	}
}
