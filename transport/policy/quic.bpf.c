// SPDX-License-Identifier: GPL-2.0
/*
 * quic - a program in the background that may not use QUIC uses TCP, which yields
 *
 * HTTP/3 runs over UDP, where nothing yields. A client whose QUIC is refused, as by a host that does not have it, falls back
 * to HTTP/2 over TCP at once. So datagrams to QUIC's port are refused to processes with `--quic=tcp`, and to those in such
 * cgroups. All other UDP passes. It is attached to the root of the cgroups, and only at the first such request. It costs a
 * call for every connect() of the machine, and for every datagram of a socket that is not connected.
 */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "niceness.h"
#include "refuse.h"

#define ECONNREFUSED 111

char _license[] SEC("license") = "GPL";

struct quic_counters nn_quic_counters;

/* Asked rarely: for a datagram, or a UDP socket, to this one port. */
static __noinline u32 niceness_of_current(void)
{
	u32 process = bpf_get_current_pid_tgid() >> 32, niceness = 0, *found;

	found = bpf_map_lookup_elem(&processes, &process);
	if (found)
		niceness = *found;
	for (int depth = 0; depth < NICENESS_DEPTHS; depth++) {
		u64 cgroup = bpf_get_current_ancestor_cgroup_id(depth);

		if (!cgroup)
			break;
		found = bpf_map_lookup_elem(&attached, &cgroup);
		if (found)
			niceness |= *found;
	}
	return niceness;
}

static __always_inline int may_pass(struct bpf_sock_addr *to)
{
	if (to->type != SOCK_DGRAM || to->user_port != bpf_htons(NN_QUIC_PORT) ||
	    !nn_niceness_refuses_quic(niceness_of_current()))
		return 1;
	__sync_fetch_and_add(&nn_quic_counters.refused, 1);
	refuse(-ECONNREFUSED);
	return 0;
}

/* A program each, for the kernel tells them apart when they are loaded. */
#define QUIC_PROGRAM(where)                                                                                            \
	SEC("cgroup/" #where)                                                                                          \
	int quic_##where(struct bpf_sock_addr *to)                                                                     \
	{                                                                                                              \
		return may_pass(to);                                                                                   \
	}

QUIC_PROGRAM(connect4)
QUIC_PROGRAM(connect6)
QUIC_PROGRAM(sendmsg4)
QUIC_PROGRAM(sendmsg6)
