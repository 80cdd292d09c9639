#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# In a virtual machine with systemd as process 1 and an older package of netnice: uses it as services do, upgrades it, takes
# it away. Tells the console by lines of "@@ STEP STATUS" after "@> what the step said", as ../../kernels/guest.sh does.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive
# shellcheck source=tests/kernels/steps.sh
. /probe/steps.sh
quiet="systemd-run --quiet --collect"

# What netnice leaves in the kernel.
left() {
	cat /proc/sys/net/ipv4/tcp_available_congestion_control
	find /sys/fs/bpf /sys/fs/cgroup -path '*netnice*' -not -path '*netnice.service*' 2>/dev/null
}

# property UNIT NAME
property() { systemctl show --value --property "$2" "$1"; }

# Can this address reach the server of the job?
reaches() {
	perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new(LocalAddr => $ARGV[0], PeerAddr => "127.0.0.1:5001", Timeout => 2)' \
		"$1"
}

filtered() {
	reaches 127.0.0.3 && ! reaches 127.0.0.2 && echo "the filter holds"
}

# A service of another package: with a limit, a filter and an account, and in the background.
job() {
	$quiet --unit job -p User=nobody -p MemoryMax=64M -p IPAddressDeny=127.0.0.2 -p IPAccounting=yes -- \
		netnice -n 1 --send-only busybox httpd -f -p 5001 -h /www || return
	tcp 0A 5001
	pid=$(property job MainPID)
	perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("127.0.0.1:5001") or die; sleep 60' &
	members=/sys/fs/cgroup/system.slice/job.service/cgroup.procs
	until [ "$(wc -l <$members)" = 2 ]; do sleep 0.1; done # the second has the connection
	netnicectl explain --json "$(tail -n 1 $members)"
	kill $!
	busybox wget -q -O /tmp/got http://127.0.0.1:5001/data && cmp /tmp/got /www/data || return
	cat "/proc/$pid/cgroup" /sys/fs/cgroup/system.slice/job.service/memory.max
	[ "$(property job IPEgressBytes)" -gt 100000 ] && echo "its traffic is accounted for"
	filtered
}

hog() {
	systemd-run --quiet --unit hog -p MemoryMax=32M -p MemorySwapMax=0 -- \
		netnice sh -c 'head -c 200M /dev/zero | tail -c 150M >/dev/null'
	while [ "$(property hog ActiveState)" = active ]; do sleep 1; done
	property hog Result
}

# The filter of the service, while netnice goes and comes.
without() {
	systemctl stop netnice && filtered && systemctl start netnice && filtered && property job ActiveState
}

# A thousand connections over an upgrade of the package.
upgrade() {
	$quiet --unit hold -p LimitNOFILE=4096 -- netnice -n 1 perl /probe/hold.pl 1000 /run/held
	until [ -f /run/held ]; do sleep 1; done
	dpkg --install /probe/new.deb >/tmp/dpkg 2>&1 || cat /tmp/dpkg
	rm /run/held
	systemctl kill --signal USR1 hold
	until [ -f /run/held ]; do sleep 1; done
	echo "carried $(cat /run/held)"
	netnicectl status --json
	netnicectl explain --json "$(property hold MainPID)"
	journalctl --quiet --output cat --unit netnice | grep "another build"
}

stop() {
	pid=$(property job MainPID)
	systemctl stop job hold && [ ! -d "/proc/$pid" ] && echo "it ended"
}

removed() {
	dpkg --purge netnice >/tmp/dpkg 2>&1 || cat /tmp/dpkg
	left >/tmp/after
	diff /tmp/before /tmp/after
}

cd /
for module in /probe/*.ko; do busybox insmod "$module"; done
mkdir /www
head -c 1000000 /dev/urandom >/www/data
step booted systemctl is-system-running --wait
step active systemctl show --property ActiveState,Result,ExecMainStatus netnice.service
netnicectl down >/dev/null
left >/tmp/before
systemctl restart netnice
step status netnicectl status --json
step named netnicectl explain --json "$(property named MainPID)"
step job job
step hog hog
step without without
step upgrade upgrade
step stop stop
step removed removed
echo "@@ end 0"
systemctl --force --force poweroff
