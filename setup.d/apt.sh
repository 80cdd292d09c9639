# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=sh
# Debian packages: which are missing, and how to install them.

have_apt() { command -v apt-get >/dev/null 2>&1; }

installed() { dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

# candidate PACKAGE: the version that apt would install, or nothing.
candidate() {
	apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | grep -vx '(none)' || :
}

# resolve A|B|C: nothing if one is installed, else the first on offer; with empty apt lists, A.
resolve() {
	alternatives=$(printf '%s' "$1" | tr '|' ' ')
	for name in $alternatives; do
		installed "$name" && return 0
	done
	for name in $alternatives; do
		[ -n "$(candidate "$name")" ] && printf '%s\n' "$name" && return 0
	done
	printf '%s\n' "${1%%|*}"
}

# rank GOAL: a goal needs its own rows and those of every smaller goal.
rank() { case $1 in build) echo 1 ;; demo) echo 2 ;; verify) echo 4 ;; *) echo 3 ;; esac }

# missing_rows: 'package reason…' for each row of the table that the goal needs and the system lacks.
missing_rows() {
	while read -r needed_for names reason; do
		case $needed_for in '#'* | '') continue ;; esac
		[ "$(rank "$needed_for")" -le "$(rank "$GOAL")" ] || continue
		name=$(resolve "$names")
		[ -z "$name" ] || printf '%s %s\n' "$name" "$reason"
	done <"$HERE/setup.d/apt-packages"
}

can_be_root() { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1; }

# as_root COMMAND…: runs it as root, by sudo when we are not.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# services_at_boot: those that systemd would start; nothing where there is no systemd.
services_at_boot() {
	command -v systemctl >/dev/null 2>&1 || return 0
	systemctl list-unit-files --state=enabled --no-legend --type=service,socket 2>/dev/null | awk '{ print $1 }'
}

# apt_install PACKAGE…: none of the daemons among them is started, now or at boot.
apt_install() {
	guard=${POLICY_RC_D:-/usr/sbin/policy-rc.d}
	if [ ! -e "$guard" ]; then
		# Debian asks this file before it starts a daemon; 101 forbids.
		as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$guard && chmod 755 $guard"
		# shellcheck disable=SC2064 # expanded now on purpose
		trap "as_root rm -f $guard" EXIT
		trap 'exit 130' INT
		trap 'exit 143' TERM
	else
		guard=
	fi
	before=$(services_at_boot)
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@" ||
		die "apt-get could not install: $*" "its own words are above" \
			"mend apt (often: apt-get update, or a full disk), then run ./setup $GOAL again"
	# What only the demo or a test starts, by itself, has no business at boot either.
	for unit in $(services_at_boot); do
		printf '%s\n' "$before" | grep -qxF "$unit" && continue
		as_root systemctl --quiet disable "$unit" || say "note: $unit will start at boot; systemctl did not disable it"
	done
	if [ -n "$guard" ]; then
		as_root rm -f "$guard"
		trap - EXIT INT TERM
	fi
}
