/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Nanoseconds to microseconds, on the way of every packet. */
#ifndef NN_CLOCK_H
#define NN_CLOCK_H

#include "division.h"

/* The millisecond of the last reading: most events fall into it again. */
struct nn_millisecond {
	u64 began; /* nanoseconds */
	u32 us; /* the same in microseconds, wraps */
};

nn_rare void nn_millisecond_of(struct nn_millisecond *m, u64 ns)
{
	u64 milliseconds = nn_thousandth(nn_thousandth(ns));

	m->began = milliseconds * 1000000;
	m->us = (u32)milliseconds * 1000;
}

/* Microseconds, wrapped, of a clock that does not go back; `m` is then the millisecond they are in. */
nn_inline u32 nn_microseconds(struct nn_millisecond *m, u64 ns)
{
	if (nn_unlikely(ns - m->began >= 1000000))
		nn_millisecond_of(m, ns);
	return m->us + (u32)((ns - m->began) * 274877907 >> 38); /* 2^38 / 1000, rounded up: exact for 32 bits */
}

#endif
