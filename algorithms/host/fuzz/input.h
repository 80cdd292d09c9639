/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The fuzzer's bytes, taken a few at a time; when they run out there are zeros. */
#ifndef NN_FUZZ_INPUT_H
#define NN_FUZZ_INPUT_H

#include <stddef.h>
#include <string.h>

#include "../../common/types.h"

struct input {
	const uint8_t *data;
	size_t left;
};

static u32 take(struct input *in, size_t bytes)
{
	u32 value = 0;

	if (bytes > in->left)
		bytes = in->left;
	memcpy(&value, in->data, bytes);
	in->data += bytes;
	in->left -= bytes;
	return value;
}

#endif
