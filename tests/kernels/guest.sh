#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Process 1 of a virtual machine: loads netnice into its kernel, uses it, and tells the console.
export PATH=/bin HOME=/ NETNICE_VERIFIER=/verifier
# shellcheck source=tests/kernels/steps.sh
. /steps.sh
mkdir -p /proc /sys /dev /tmp /run
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t cgroup2 none /sys/fs/cgroup
ip link set lo up
chmod 1777 /tmp
mkdir /www
head -c 4000000 /dev/urandom >/www/data

# What netnice leaves behind, of all that it may touch.
left() {
	cat /proc/sys/net/ipv4/tcp_available_congestion_control
	find /sys/fs/bpf /sys/fs/cgroup -name '*netnice*' 2>/dev/null
	grep bpf /proc/mounts
}

# With its path: busybox has one of that name.
as_user() { /bin/setpriv --reuid=1000 --regid=1000 --clear-groups -- "$@"; }

# A server that yields with what it sends: connections that it accepts.
upload() {
	as_user netnice -n 1 --send-only httpd -f -p 5001 -h /www &
	server=$!
	tcp 0A 5001
	wget -q -O /tmp/got http://127.0.0.1:5001/data
	kill $server
	cmp /www/data /tmp/got
}

# The same where fq sends each segment when it is due.
behind_fq() {
	/bin/tc qdisc replace dev lo root fq && upload || return
	/bin/tc -s qdisc show dev lo
	/bin/tc qdisc del dev lo root
}

# A client that yields with what it receives.
download() {
	httpd -f -p 5002 -h /www &
	server=$!
	tcp 0A 5002
	as_user netnice --receive-only wget -q -O /tmp/got2 http://127.0.0.1:5002/data
	kill $server
	cmp /www/data /tmp/got2
}

# A process that runs, with its connection, of the user that asks.
running() {
	tail -f /dev/null | nc -l -p 5003 >/dev/null &
	tcp 0A 5003
	tail -f /dev/null | as_user nc 127.0.0.1 5003 >/dev/null &
	tcp 01 5003
	pid=$(pidof nc | cut -d ' ' -f 1)
	as_user netnice -n 2 --send-only -p "$pid" || return
	netnicectl explain --json "$pid"
	killall nc tail
}

attached() {
	mkdir -p /sys/fs/cgroup/job.slice/later.service
	netnicectl attach -n 2 job.slice >/dev/null
	printf '[[rule]]\nunit = "by-rule*"\nlevel = 1\n' >/tmp/policy.toml
	netnicectl policy apply /tmp/policy.toml >/dev/null
	mkdir /sys/fs/cgroup/job.slice/by-rule.service
	sh -c 'echo $$ >/sys/fs/cgroup/job.slice/by-rule.service/cgroup.procs; exec sleep 60' &
	until grep -q . /sys/fs/cgroup/job.slice/by-rule.service/cgroup.procs; do sleep 0.1; done
	netnicectl explain --json $!
	kill $!
	netnicectl detach job.slice >/dev/null
}

# A connection that its server has not accepted yet.
waiting() {
	mkdir -p /sys/fs/cgroup/slow.service
	sh -c 'echo $$ >/sys/fs/cgroup/slow.service/cgroup.procs; exec nc -l -p 5004' >/dev/null &
	tcp 0A 5004
	server=$(pidof nc)
	kill -STOP "$server"
	tail -f /dev/null | nc 127.0.0.1 5004 >/dev/null &
	tcp 01 5004
	netnicectl attach slow.service
	netnicectl detach slow.service >/dev/null
	kill -9 "$server"
	killall nc tail
}

# Seconds since the machine was started, also those of suspension.
boot() { cut -d ' ' -f 1 /proc/uptime; }

# A connection in the background as these words say, of a process that knows when it began.
hold() {
	tail -f /dev/null | nc -l -p 5005 >/dev/null &
	tcp 0A 5005
	tail -f /dev/null | netnice "$@" sh -c 'cut -d " " -f 1 /proc/uptime >/tmp/held; exec nc 127.0.0.1 5005' >/dev/null &
	tcp 01 5005
	pid=$(pidof nc | cut -d ' ' -f 1)
}

# New connections and the one in use, by the congestion control of the latter.
are() { netnicectl explain --json "$pid" >/tmp/now && grep -q "\"$1\": 1" /tmp/now && grep -q "\"in_effect\": $2" /tmp/now; }
yield() { are netnice '{'; }

# switch END: a second before they yield, and a second after no more.
switch() {
	sleep "$(awk "BEGIN { print $1 - 1 - $(boot) }")"
	yield || return
	sleep "$(awk "BEGIN { print $1 + 1 - $(boot) }")"
	are cubic null || return
	killall nc tail
	echo "switched, and seen by $(awk "BEGIN { print $(boot) - $1 }") s later"
}

# set_clock SECOND: the wall clock. AHEAD SECONDS: from then on, as seconds since the start of the machine.
set_clock() { date -s "@$1" && clock_set=$(boot); }
ahead() { awk "BEGIN { print ${2:-$clock_set} + $1 }"; }

# The wall clock is set back, and forward to four seconds before the end.
until_time() {
	end=$(($(date +%s) + 600))
	hold --until "$(date -u -d "@$end" '+%F %T')"
	set_clock $((end - 3600))
	yield || return
	set_clock $((end - 4))
	switch "$(ahead 4)"
}

# The wall clock is set forward, beyond the end.
for_duration() {
	hold --for 6s
	set_clock $(($(date +%s) + 3600))
	switch "$(ahead 6 "$(cat /tmp/held)")"
}

# To memory, until the alarm of the machine's own clock.
to_memory() {
	echo +4 >/sys/class/rtc/rtc0/wakealarm
	echo mem >/sys/power/state
}

suspended_until() {
	now=$(date +%s)
	set_clock "$now"
	hold --until "$(date -u -d "@$((now + 12))" '+%F %T')"
	to_memory
	switch "$(ahead 12)"
}

suspended_for() {
	hold --for 12s
	to_memory
	switch "$(ahead 12 "$(cat /tmp/held)")"
}

left >/tmp/before
step doctor netnicectl doctor --json
step up netnicectl up --with "$(cat /with)"
step bare netnicectl status --json # without the module that lists connections
for module in /modules/*.ko; do insmod "$module"; done
if netnicectl status >/dev/null 2>&1; then
	step user as_user netnice -n 1 netnice
	step upload upload
	step download download
	step running running
	step attached attached
	step waiting waiting
	step status netnicectl status --json
	step behind_fq behind_fq
	step verifier verifier programs_stay_within --nocapture
	[ -z "$NETNICE_PIN" ] || step pins cat "/verifier/$(uname -r | cut -d . -f 1-2).json"
	step until_time until_time
	step for_duration for_duration
	step suspended_until suspended_until
	step suspended_for suspended_for
fi
step down netnicectl down
left >/tmp/after
step left diff /tmp/before /tmp/after
echo "@@ end 0"
poweroff -f
