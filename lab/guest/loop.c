/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One epoll loop and a heap of timers, in virtual time. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "guest.h"

#define NSEC 1000000000ull

static int poller = -1;
static uint64_t monotonic_start, wall_start, current;
static struct timer **heap;
static size_t heap_len, heap_cap;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

uint64_t now_ns(void)
{
	return current;
}
uint64_t realtime_start(void)
{
	return wall_start;
}
void loop_tick(void)
{
	current = clock_ns(CLOCK_MONOTONIC) - monotonic_start;
}

void loop_start(void)
{
	poller = epoll_create1(EPOLL_CLOEXEC);
	monotonic_start = clock_ns(CLOCK_MONOTONIC);
	wall_start = clock_ns(CLOCK_REALTIME);
	current = 0;
}

void loop_watch(int fd, struct source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event))
		fail("epoll_ctl");
}

void loop_change(int fd, struct source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event))
		fail("epoll_ctl");
}

static void sift_down(size_t i)
{
	struct timer *moved = heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < heap_len; i = child) {
		if (child + 1 < heap_len && heap[child + 1]->at < heap[child]->at)
			child++;
		if (moved->at <= heap[child]->at)
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

void timer_set(struct timer *timer, uint64_t at)
{
	size_t i = heap_len++;

	if (heap_len > heap_cap) {
		heap_cap = heap_cap ? 2 * heap_cap : 1024;
		heap = realloc(heap, heap_cap * sizeof(*heap));
		if (!heap)
			fail("out of memory");
	}
	timer->at = at;
	for (; i && heap[(i - 1) / 2]->at > at; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = timer;
}

static void fire_due(void)
{
	struct timer *first;

	while (heap_len && heap[0]->at <= current) {
		first = heap[0];
		heap[0] = heap[--heap_len];
		if (heap_len)
			sift_down(0);
		first->fire(first);
	}
}

void loop_run(uint64_t until)
{
	struct epoll_event events[256];
	struct timespec wait;
	uint64_t next;
	int n, i;

	for (loop_tick(); current < until; loop_tick()) {
		fire_due();
		next = heap_len && heap[0]->at < until ? heap[0]->at : until;
		next = next > current ? next - current : 0;
		wait.tv_sec = next / NSEC;
		wait.tv_nsec = next % NSEC;
		n = epoll_pwait2(poller, events, 256, &wait, NULL);
		loop_tick();
		for (i = 0; i < n; i++) {
			struct source *source = events[i].data.ptr;

			source->ready(source, events[i].events);
		}
	}
}
