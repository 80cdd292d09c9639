/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queue lengths of a router's device, read over rtnetlink: two system calls a sample. */
#define _GNU_SOURCE
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "guest.h"

static struct {
	int fd, device;
	char name[64];
} queues[16];
static int queue_count;

void queue_add(const char *host, const char *device)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd;

	if (queue_count == 16)
		fail("more than 16 sampled queues");
	host_enter(host);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)))
		fail("rtnetlink");
	queues[queue_count].fd = fd;
	queues[queue_count].device = if_nametoindex(device);
	if (!queues[queue_count].device)
		fail("no device %s on %s", device, host);
	snprintf(queues[queue_count].name, sizeof(queues[0].name), "%s/%s", host, device);
	queue_count++;
}

static void root_queue(FILE *to, int i, struct nlmsghdr *answer)
{
	struct tcmsg *qdisc = NLMSG_DATA(answer);
	struct rtattr *part = (struct rtattr *)((char *)qdisc + NLMSG_ALIGN(sizeof(*qdisc)));
	int length = answer->nlmsg_len - NLMSG_LENGTH(sizeof(*qdisc));

	if (qdisc->tcm_ifindex != queues[i].device || qdisc->tcm_parent != TC_H_ROOT)
		return;
	for (; RTA_OK(part, length); part = RTA_NEXT(part, length)) {
		struct tc_stats *stats = RTA_DATA(part);

		if (part->rta_type == TCA_STATS)
			fprintf(to, "queue,%lu,%s,%u,%u,%u\n", now_ns() / 1000, queues[i].name, stats->backlog,
				stats->qlen, stats->drops);
	}
}

void queue_sample(FILE *to)
{
	static char answer[65536];
	struct {
		struct nlmsghdr header;
		struct tcmsg body;
	} ask;
	struct nlmsghdr *one;
	int i, n, done;

	for (i = 0; i < queue_count; i++) {
		memset(&ask, 0, sizeof(ask));
		ask.header.nlmsg_len = sizeof(ask);
		ask.header.nlmsg_type = RTM_GETQDISC;
		ask.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		ask.body.tcm_ifindex = queues[i].device;
		if (send(queues[i].fd, &ask, sizeof(ask), 0) != sizeof(ask))
			fail("rtnetlink");
		for (done = 0; !done;) {
			n = recv(queues[i].fd, answer, sizeof(answer), 0);
			if (n <= 0)
				fail("rtnetlink");
			for (one = (struct nlmsghdr *)answer; NLMSG_OK(one, (unsigned int)n);
			     one = NLMSG_NEXT(one, n)) {
				if (one->nlmsg_type == NLMSG_DONE || one->nlmsg_type == NLMSG_ERROR)
					done = 1;
				else
					root_queue(to, i, one);
			}
		}
	}
}
