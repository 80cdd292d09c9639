#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# boot.sh DEBIAN FOLDER CGROUP: as the first process of new namespaces, becomes systemd. Its root has the files of DEBIAN
# and, on top, those of FOLDER/files. What it writes goes to memory; its units are cgroups below CGROUP.
set -eu
debian=$1 folder=$2
if [ $# = 3 ]; then
	echo $$ >"$3/cgroup.procs"
	exec unshare --cgroup sh "$0" "$debian" "$folder" # the root of a namespace of cgroups is where its maker is
fi
mount --make-rprivate /
memory=$folder/memory
root=$memory/root
mount -t tmpfs tmpfs "$memory"
mkdir "$memory/upper" "$memory/work" "$root"
cp -rp "$folder/files/." "$memory/upper"
mount -t overlay -o "lowerdir=$debian,upperdir=$memory/upper,workdir=$memory/work" overlay "$root"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
	touch "$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
# Without timers: what runs is what a test starts.
container="test" exec chroot "$root" /lib/systemd/systemd --unit=sockets.target
