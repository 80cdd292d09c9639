#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Process 1 of a virtual machine whose kernel is too old for netnice: loads the module, and uses it. Tells the console, as
# ../../kernels/guest.sh does.
export PATH=/bin HOME=/
# shellcheck source=tests/kernels/steps.sh
. /steps.sh
mkdir -p /proc /sys /dev /tmp /www
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
ip link set lo up
head -c 4000000 /dev/urandom >/www/data

# A connection of a machine that runs on it.
transfer() {
	echo netnice >/proc/sys/net/ipv4/tcp_congestion_control || return
	httpd -f -p 5001 -h /www &
	tcp 0A 5001
	tail -f /dev/null | nc 127.0.0.1 5001 >/dev/null &
	wget -q -O /tmp/got http://127.0.0.1:5001/data
	cmp /www/data /tmp/got && echo "used by $(cat /sys/module/tcp_netnice/refcnt)"
	killall httpd nc tail
	echo cubic >/proc/sys/net/ipv4/tcp_congestion_control
}

removed() {
	until [ "$(cat /sys/module/tcp_netnice/refcnt)" = 0 ]; do sleep 1; done
	rmmod tcp_netnice && cat /proc/sys/net/ipv4/tcp_available_congestion_control
}

step loaded insmod /tcp_netnice.ko netnice=threshold=20
step names cat /proc/sys/net/ipv4/tcp_available_congestion_control
step parameters cat /sys/module/tcp_netnice/parameters/netnice
step transfer transfer
step removed removed
step log grep -c tcp_netnice /proc/modules
echo "@@ end 0"
poweroff -f
