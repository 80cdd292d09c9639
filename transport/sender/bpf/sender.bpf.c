/* SPDX-License-Identifier: GPL-2.0 */
/* The sender algorithms as eBPF struct_ops: see target.h for the maps and ../sender.c for the code. */
#include "target.h"

char _license[] SEC("license") = "GPL";

#include "../sender.c"
