/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Permanently backlogged flows, optionally limited to a rate, and the sink that drains them. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/tcp.h>

#include "guest.h"

#define LOW_WATER 131072 /* bytes that wake the sink: a system call costs as much as ten packets */
#define LOW_WATER_RECEIVER 16384 /* the same where the window is under test: unread data narrows it */

struct flow {
	struct source source;
	struct timer start, stop, pulse;
	int id, fd, port, tos, core, shaped, message, messages;
	uint64_t on, off, rate, bytes, gap, sent, marked_bytes, marked_retrans;
	struct maker maker;
	char host[32], address[32], cc[16];
};

static struct flow *flows;
static int flow_count;
static char cores[64][16];
static int core_count;

/* A connection of a sink, or the sink that listens. */
struct drain {
	struct source source;
	struct timer sip; /* of one that is read at a rate */
	uint64_t rate, until; /* bytes/s, and until when; 0: as it comes */
	int fd, port, low;
};

#define SIP_NS 20000000ull /* such a program reads so often */

static void drain_ready(struct source *source, uint32_t events)
{
	struct drain *drain = (struct drain *)source;
	ssize_t n;

	if (!(events & EPOLLIN)) /* a hang-up is reported whatever is asked for */
		return;
	n = recv(drain->fd, payload, sizeof(payload), MSG_TRUNC);
	if (n > 0)
		return;
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		receiver_forget(drain->fd);
		close(drain->fd);
		free(drain);
	}
}

static void sip_fire(struct timer *timer)
{
	struct drain *drain = (struct drain *)((char *)timer - offsetof(struct drain, sip));

	if (now_ns() >= drain->until) {
		loop_change(drain->fd, &drain->source, EPOLLIN);
		return;
	}
	recv(drain->fd, payload, drain->rate * SIP_NS / 1000000000, MSG_TRUNC);
	timer_set(timer, timer->at + SIP_NS);
}

static void sink_accept(struct source *source, uint32_t events)
{
	struct drain *listener = (struct drain *)source, *drain;
	int fd, low = listener->low;

	(void)events;
	fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
		drain = calloc(1, sizeof(*drain));
		drain->source.ready = drain_ready;
		drain->fd = fd;
		drain->rate = listener->rate;
		drain->until = listener->until;
		drain->sip.fire = sip_fire;
		loop_watch(fd, &drain->source, drain->rate ? 0 : EPOLLIN);
		if (drain->rate)
			timer_set(&drain->sip, now_ns());
		receiver_watch(fd, listener->port);
	}
}

void sink_open(const char *host, int port, const char *cc, uint64_t rate, uint64_t until)
{
	struct drain *listener = calloc(1, sizeof(*listener));

	host_enter(host);
	listener->source.ready = sink_accept;
	listener->port = port;
	listener->rate = rate;
	listener->until = until;
	listener->low = receiver_watched ? LOW_WATER_RECEIVER : LOW_WATER;
	listener->fd = listen_on(port, cc, 0);
	loop_watch(listener->fd, &listener->source, EPOLLIN);
}

/* A flow that sends for `on` and is silent for `off`, from its start. */
static int paused(const struct flow *flow)
{
	return flow->on && (now_ns() - flow->start.at) % (flow->on + flow->off) >= flow->on;
}

static void shaped_ready(struct flow *flow)
{
	uint64_t left;
	ssize_t n;

	if (flow->messages) {
		if (flow->sent && now_ns() < flow->pulse.at)
			return;
		n = write(flow->fd, payload, flow->message);
		flow->sent += n > 0 ? n : 0;
		flow->messages--;
		timer_set(&flow->pulse, now_ns() + flow->gap);
		return;
	}
	do {
		left = flow->bytes ? flow->bytes - flow->sent : sizeof(payload);
		n = left ? write(flow->fd, payload, left < sizeof(payload) ? left : sizeof(payload)) : 0;
		flow->sent += n > 0 ? n : 0;
	} while (n > 0);
}

static void bulk_ready(struct source *source, uint32_t events)
{
	struct flow *flow = (struct flow *)source;

	if (events & (EPOLLERR | EPOLLHUP)) {
		socklen_t length = sizeof(errno);

		getsockopt(flow->fd, SOL_SOCKET, SO_ERROR, &errno, &length);
		if (errno != ETIMEDOUT && errno != ECONNRESET)
			fail("bulk flow %d (%s) broke at %.3f s", flow->id, flow->cc, now_ns() / 1e9);
		/* the handshake was lost in a full queue: try again, as a program would */
		close(flow->fd);
		flow->fd = -1;
		timer_set(&flow->start, now_ns());
		return;
	}
	if (flow->shaped) {
		shaped_ready(flow);
		return;
	}
	if (paused(flow))
		return;
	while (write(flow->fd, payload, flow->on ? 32768 : sizeof(payload)) > 0)
		;
}

static void pulse_fire(struct timer *timer)
{
	struct flow *flow = (struct flow *)((char *)timer - offsetof(struct flow, pulse));

	if (flow->fd >= 0)
		bulk_ready(&flow->source, EPOLLOUT);
	timer_set(timer, timer->at + flow->on + flow->off);
}

static void shape_fire(struct timer *timer)
{
	struct flow *flow = (struct flow *)((char *)timer - offsetof(struct flow, pulse));

	if (flow->fd >= 0)
		shaped_ready(flow);
}

void bulk_shape(int id, uint64_t bytes, int message, int messages, uint64_t gap)
{
	flows[id].shaped = 1;
	flows[id].bytes = bytes;
	flows[id].message = message;
	flows[id].messages = messages;
	flows[id].gap = gap;
	flows[id].pulse.fire = shape_fire;
}

void bulk_pulse(int id, uint64_t on, uint64_t off)
{
	flows[id].on = on;
	flows[id].off = off;
	flows[id].pulse.fire = pulse_fire;
	timer_set(&flows[id].pulse, flows[id].start.at + on + off);
}

static void bulk_start(struct timer *timer)
{
	struct flow *flow = (struct flow *)((char *)timer - offsetof(struct flow, start));

	int unsent = 32768; /* a flow that falls silent has no more than this still to send */

	host_enter(flow->host);
	maker = flow->maker;
	flow->fd = stream_socket(flow->cc, flow->tos);
	if (flow->rate && setsockopt(flow->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &flow->rate, sizeof(flow->rate)))
		fail("SO_MAX_PACING_RATE");
	if (flow->on && setsockopt(flow->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent)))
		fail("TCP_NOTSENT_LOWAT");
	connect_to(flow->fd, flow->address, flow->port);
	maker = (struct maker){ 0 };
	loop_watch(flow->fd, &flow->source, EPOLLOUT | EPOLLET);
}

static int flow_info(struct flow *flow, struct tcp_info *info)
{
	socklen_t length = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return flow->fd < 0 ? -1 : getsockopt(flow->fd, IPPROTO_TCP, TCP_INFO, info, &length);
}

/*
 * The window in 1/65536 segments. A netnice core below two segments sends pairs, and its window is in the pacing rate.
 * For all others it is cwnd.
 */
static uint64_t flow_window(struct flow *flow, const struct tcp_info *info)
{
	uint64_t cwnd = (uint64_t)info->tcpi_snd_cwnd << 16, paced;

	if (!flow->core || !info->tcpi_snd_mss || info->tcpi_pacing_rate == ~0ull)
		return cwnd;
	paced = (info->tcpi_pacing_rate * info->tcpi_rtt << 16) / 1000000 / info->tcpi_snd_mss;
	return paced < cwnd ? paced : cwnd;
}

/* To be called before its flows are added. */
void core_add(const char *cc)
{
	if (core_count == 64)
		fail("more than 64 cores");
	snprintf(cores[core_count++], sizeof(cores[0]), "%s", cc);
}

static int is_core(const char *cc)
{
	for (int i = 0; i < core_count; i++)
		if (!strcmp(cores[i], cc))
			return 1;
	return 0;
}

static void bulk_over(struct source *source, uint32_t events)
{
	(void)source;
	(void)events;
}

static void bulk_stop(struct timer *timer)
{
	struct flow *flow = (struct flow *)((char *)timer - offsetof(struct flow, stop));

	shutdown(flow->fd, SHUT_RDWR);
	loop_change(flow->fd, &flow->source, EPOLLET);
	flow->source.ready = bulk_over; /* a hang-up is reported whatever is asked for */
}

void bulk_add(int id, const char *host, const char *address, int port, const char *cc, int tos, uint64_t start,
	      uint64_t stop, uint64_t rate)
{
	static struct flow table[4096];
	struct flow *flow = &table[flow_count];

	if (flow_count == 4096)
		fail("more than 4096 bulk flows");
	flows = table;
	flow_count++;
	*flow = (struct flow){ .source.ready = bulk_ready, .id = id, .fd = -1, .port = port, .tos = tos, .rate = rate };
	snprintf(flow->host, sizeof(flow->host), "%s", host);
	snprintf(flow->address, sizeof(flow->address), "%s", address);
	snprintf(flow->cc, sizeof(flow->cc), "%s", cc);
	flow->core = is_core(cc);
	flow->maker = maker;
	flow->start.fire = bulk_start;
	timer_set(&flow->start, start);
	flow->stop.fire = bulk_stop;
	if (stop)
		timer_set(&flow->stop, stop);
}

void bulk_mark(void)
{
	struct tcp_info info;
	int i;

	for (i = 0; i < flow_count; i++) {
		flow_info(&flows[i], &info);
		flows[i].marked_bytes = info.tcpi_bytes_acked;
		flows[i].marked_retrans = info.tcpi_total_retrans;
	}
}

void bulk_sample(FILE *to)
{
	struct tcp_info info;
	int i;

	for (i = 0; i < flow_count; i++) {
		if (flow_info(&flows[i], &info))
			continue;
		fprintf(to, "flow,%lu,%d,%llu,%u,%lu,%u\n", now_ns() / 1000, flows[i].id, info.tcpi_bytes_acked,
			info.tcpi_rtt, flow_window(&flows[i], &info), info.tcpi_total_retrans);
		if (receiver_own)
			fprintf(to, "granted,%lu,%d,%u\n", now_ns() / 1000, flows[i].id, info.tcpi_snd_wnd);
	}
}

void bulk_report(FILE *to)
{
	struct tcp_info info;
	int i;

	fprintf(to, "id,cc,bytes,measured_bytes,retrans,srtt_us,min_rtt_us,window\n");
	for (i = 0; i < flow_count; i++) {
		flow_info(&flows[i], &info);
		fprintf(to, "%d,%s,%llu,%llu,%llu,%u,%u,%lu\n", flows[i].id, flows[i].cc, info.tcpi_bytes_acked,
			info.tcpi_bytes_acked - flows[i].marked_bytes,
			info.tcpi_total_retrans - (unsigned long long)flows[i].marked_retrans, info.tcpi_rtt,
			info.tcpi_min_rtt, flow_window(&flows[i], &info));
	}
}
