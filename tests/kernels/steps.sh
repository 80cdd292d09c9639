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
