/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of the guest's one traffic process share. */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>

/* Something epoll or a timer can wake. One process plays all hosts: few context switches. */
struct source {
	void (*ready)(struct source *self, uint32_t events);
};

struct timer {
	uint64_t at; /* virtual ns since the start */
	void (*fire)(struct timer *self);
};

/* loop.c */
uint64_t now_ns(void); /* since the start, as of the last wake-up or loop_tick() */
uint64_t realtime_start(void); /* CLOCK_REALTIME at the start: kernel time stamps count from 1970 */
void loop_start(void);
void loop_tick(void);
void loop_watch(int fd, struct source *source, uint32_t events);
void loop_change(int fd, struct source *source, uint32_t events);
void timer_set(struct timer *timer, uint64_t at);
void loop_run(uint64_t until);

/* host.c */
void host_enter(const char *name); /* sockets made from now on belong to this host */
void host_sysctl(const char *host, const char *path, const char *value);
void host_plain_device(const char *host, const char *device);
enum family { IPV4, MAPPED /* an IPv6 socket that talks IPv4: ::ffff:a.b.c.d */, IPV6 };
/* Of sockets: whose they are, and what they talk. */
struct maker {
	int user, family;
};
extern struct maker maker;
int stream_socket(const char *cc, int tos);
int client_socket(void); /* sends requests only: nothing to set, fewer system calls */
int listen_on(int port, const char *cc, int tos);
void connect_to(int fd, const char *address, int port);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
FILE *output(const char *name);
extern char payload[1 << 20];

/* one file a kind of traffic */
/* What is accepted is read at `rate` bytes/s until a time; 0: as it comes. */
void sink_open(const char *host, int port, const char *cc, uint64_t rate, uint64_t until);
void cgroup_enter(const char *name);
extern int receiver_watched; /* the plan is about windows that receivers advertise */
extern int receiver_own; /* and about what their cores think: more lines in samples.csv */
void receiver_watch(int fd, int port);
void receiver_forget(int fd);
void core_add(const char *cc); /* this congestion control is one of the cores under test */
void bulk_pulse(int id, uint64_t on, uint64_t off);
/* So many messages, each as long, one after each gap; then all that the window takes, up to `bytes` (0: without end). */
void bulk_shape(int id, uint64_t bytes, int message, int messages, uint64_t gap);
void bulk_add(int id, const char *host, const char *address, int port, const char *cc, int tos, uint64_t start,
	      uint64_t stop, uint64_t rate);
void server_open(const char *host, int port, const char *cc, int tos);
void client_add(int id, const char *host, const char *address, int port, const char *mode);
void document_add(int client, uint64_t at, uint32_t size);
void udp_add(int id, const char *host, const char *address, int port, int tos, int size);
void udp_burst(int id, uint64_t from, uint64_t to, uint64_t rate);
void udp_sink_open(const char *host, int port);
void queue_add(const char *host, const char *device);
void change_add(uint64_t at, const char *command);

/* what they write at the end, or every interval */
void bulk_mark(void); /* the measured window begins */
void bulk_sample(FILE *to); /* one line a flow */
void bulk_report(FILE *to);
void documents_report(FILE *to);
void udp_report(FILE *to);
void queue_sample(FILE *to);
void receiver_sample(FILE *to);
void document_done(uint32_t id, uint64_t first, uint64_t acked);

#endif
