#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# How a script in a virtual machine tells the console what it does: by lines of "@@ STEP STATUS" after "@> what the step
# said". machine.py reads them.

# step NAME COMMAND...
step() {
	name=$1
	shift
	"$@" >/tmp/said 2>&1
	status=$?
	sed 's/^/@> /' /tmp/said
	echo "@@ $name $status"
}

# tcp STATE PORT: returns when a socket of this port is in this state, 0A: listening, 01: connected.
tcp() { until grep -qs ":$(printf %04X "$2") [^ ]* $1 " /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done; }
