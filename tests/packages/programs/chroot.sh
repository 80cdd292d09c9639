#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# chroot.sh DEBIAN FOLDER COMMAND…: in namespaces made for it, a chroot with the files of DEBIAN becomes COMMAND.
# What it writes goes to FOLDER. Cgroups are those of the real machine, pins are its own.
set -eu
debian=$1 folder=$2
shift 2
mkdir -p "$folder/upper" "$folder/work" "$folder/root"
mount --make-rprivate /
root=$folder/root
mount -t overlay -o "lowerdir=$debian,upperdir=$folder/upper,workdir=$folder/work" overlay "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t bpf bpf "$root/sys/fs/bpf"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
exec chroot "$root" "$@"
