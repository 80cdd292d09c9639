# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=sh
# The Python environment: outside the tree, its packages pinned and checked by hash.

PYTHON_FLOOR=3.11

find_python() {
	for python in python3 python3.11 python3.12 python3.13 python3.14 /usr/bin/python3; do
		"$python" -c "import sys, venv, ensurepip
sys.exit(sys.version_info < (${PYTHON_FLOOR%%.*}, ${PYTHON_FLOOR##*.}))" 2>/dev/null && echo "$python" && return 0
	done
	return 1
}

# locks: the locks that the goal needs, in order.
locks() { case $GOAL in build | demo) echo "${GOAL#build}" ;; tools) echo demo builder test ;; *) echo builder "$GOAL" ;; esac }

# stamp LOCK: what is noted in the environment once that lock is installed.
stamp() { echo "$1 $(sha256sum "$HERE/setup.d/locked/$1.txt" | cut -d' ' -f1)"; }

# has LOCK: whether the environment has all of a lock's packages; those of verify are all there are.
has() {
	for either in "$1" verify; do
		grep -qxF "$(stamp "$either")" "$CACHE/venv/netnice.lock" 2>/dev/null && return 0
	done
	return 1
}

venv_fresh() {
	"$CACHE/venv/bin/python" -c '' 2>/dev/null || return 1
	for lock in $(locks); do
		has "$lock" || return 1
	done
}

# venv_current: whether what is installed is of these locks, so that others may be added.
venv_current() {
	"$CACHE/venv/bin/python" -c '' 2>/dev/null && [ -e "$CACHE/venv/netnice.lock" ] || return 1
	while read -r lock _; do
		has "$lock" || return 1
	done <"$CACHE/venv/netnice.lock"
}

venv_size() { case $GOAL in verify) echo 900 ;; demo) echo 180 ;; test) echo 150 ;; *) echo 300 ;; esac }

make_venv() {
	venv_fresh && return 0
	python=$(find_python) || die "no Python $PYTHON_FLOOR or newer with venv and ensurepip" \
		"python3 is $(python3 --version 2>&1 || echo missing)" "on Debian: apt-get install python3-venv; then ./setup $GOAL again"
	say "making the Python environment in $CACHE/venv"
	venv_current || rm -rf "$CACHE/venv"
	mkdir -p "$CACHE"
	[ -d "$CACHE/venv" ] || "$python" -m venv --without-pip "$CACHE/venv"
	# pip is there while it is needed: it takes as much room as a linter.
	"$CACHE/venv/bin/python" -m ensurepip >/dev/null
	for lock in $(locks); do
		has "$lock" && continue
		# reuse is compiled for no machine: its source is the same for every Python.
		"$CACHE/venv/bin/python" -m pip install --disable-pip-version-check --require-hashes --only-binary :all: \
			--no-binary reuse --no-build-isolation -r "$HERE/setup.d/locked/$lock.txt" ||
			die "pip could not install setup.d/locked/$lock.txt" "its own words are above" \
				"check the way to the Python package index, then run ./setup $GOAL again"
		stamp "$lock" >>"$CACHE/venv/netnice.lock"
	done
	# verify has a test of what pip itself receives.
	[ "$GOAL" = verify ] || "$CACHE/venv/bin/python" -m pip uninstall --quiet --yes pip setuptools
}
