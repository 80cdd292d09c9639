/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * traffic PLAN OUT: play a plan (one line a thing, written by netnice_lab/traffic.py) and write what happened
 * into OUT/{flows,documents,udp,samples}.csv. Times in the plan are microseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest.h"

static uint64_t duration, mark, interval;
static struct timer mark_timer, sample_timer;
static FILE *samples;

struct change {
	struct timer timer;
	char command[512];
};

static void change_fire(struct timer *timer)
{
	struct change *change = (struct change *)((char *)timer - offsetof(struct change, timer));

	if (system(change->command))
		fail("'%s' failed", change->command);
	loop_tick();
}

void change_add(uint64_t at, const char *command)
{
	struct change *change = calloc(1, sizeof(*change));

	snprintf(change->command, sizeof(change->command), "%s", command);
	change->timer.fire = change_fire;
	timer_set(&change->timer, at);
}

static void mark_fire(struct timer *timer)
{
	(void)timer;
	bulk_mark();
}

static void sample_fire(struct timer *timer)
{
	queue_sample(samples);
	bulk_sample(samples);
	if (receiver_watched)
		receiver_sample(samples);
	timer_set(timer, timer->at + interval);
}

static void parse(const char *line)
{
	char a[32], b[32], c[32], path[64];
	unsigned long t, u, v;
	int i, j, k, at = 0;

	if (sscanf(line, "duration %lu", &t) == 1)
		duration = t * 1000;
	else if (sscanf(line, "measure %lu", &t) == 1)
		mark = t * 1000;
	else if (sscanf(line, "sample %lu", &t) == 1)
		interval = t * 1000;
	else if (sscanf(line, "queue %31s %31s", a, b) == 2)
		queue_add(a, b);
	else if (sscanf(line, "sysctl %31s %63s %n", a, path, &at) == 2 && at)
		host_sysctl(a, path, line + at);
	else if (sscanf(line, "device %31s %31s", a, b) == 2)
		host_plain_device(a, b);
	else if (sscanf(line, "cgroup %31s", a) == 1)
		cgroup_enter(a);
	else if (!strcmp(line, "receiver"))
		receiver_watched = 1;
	else if (!strcmp(line, "receiver own"))
		receiver_watched = receiver_own = 1;
	else if (sscanf(line, "core %31s", a) == 1)
		core_add(a);
	else if (sscanf(line, "pulse %d %lu %lu", &i, &t, &u) == 3)
		bulk_pulse(i, t * 1000, u * 1000);
	else if (sscanf(line, "shape %d %lu %d %d %lu", &i, &t, &j, &k, &u) == 5)
		bulk_shape(i, t, j, k, u * 1000);
	else if (sscanf(line, "maker %d %d", &i, &j) == 2)
		maker = (struct maker){ i, j };
	else if (sscanf(line, "sink %31s %d %31s %lu %lu", a, &i, b, &t, &u) == 5)
		sink_open(a, i, b, t, u * 1000);
	else if (sscanf(line, "server %31s %d %31s %d", a, &i, b, &j) == 4)
		server_open(a, i, b, j);
	else if (sscanf(line, "bulk %d %31s %31s %d %31s %d %lu %lu %lu", &i, a, b, &j, c, &k, &t, &u, &v) == 9)
		bulk_add(i, a, b, j, c, k, t * 1000, u * 1000, v);
	else if (sscanf(line, "client %d %31s %31s %d %31s", &i, a, b, &j, c) == 5)
		client_add(i, a, b, j, c);
	else if (sscanf(line, "document %d %lu %lu", &i, &t, &u) == 3)
		document_add(i, t * 1000, u);
	else if (sscanf(line, "udpsink %31s %d", a, &i) == 2)
		udp_sink_open(a, i);
	else if (sscanf(line, "udp %d %31s %31s %d %d %d", &i, a, b, &j, &k, &at) == 6)
		udp_add(i, a, b, j, k, at);
	else if (sscanf(line, "burst %d %lu %lu %lu", &i, &t, &u, &v) == 4)
		udp_burst(i, t * 1000, u * 1000, v);
	else if (sscanf(line, "change %lu %n", &t, &at) == 1 && at)
		change_add(t * 1000, line + at);
	else {
		errno = EINVAL;
		fail("plan line '%s'", line);
	}
}

static void finish(FILE *file, const char *name)
{
	if (ferror(file) || fclose(file))
		fail("cannot write %s", name);
}

static void report(const char *name, void (*write_to)(FILE *))
{
	FILE *file = output(name);

	write_to(file);
	finish(file, name);
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	char line[1024];
	FILE *plan;

	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	if (argc != 3 || !(plan = fopen(argv[1], "re")))
		fail("usage: traffic PLAN OUT");
	loop_start();
	while (fgets(line, sizeof(line), plan)) {
		line[strcspn(line, "\n")] = 0;
		parse(line);
	}
	fclose(plan);
	if (chdir(argv[2]))
		fail("%s", argv[2]);
	samples = output("samples.csv");
	mark_timer.fire = mark_fire;
	timer_set(&mark_timer, mark);
	sample_timer.fire = sample_fire;
	if (interval)
		timer_set(&sample_timer, interval);
	loop_run(duration);
	report("flows.csv", bulk_report);
	report("documents.csv", documents_report);
	report("udp.csv", udp_report);
	finish(samples, "samples.csv");
	return 0;
}
