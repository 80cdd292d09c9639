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

lock_hash() { sha256sum "$HERE/setup.d/requirements.txt" | cut -d' ' -f1; }

venv_fresh() {
	[ -x "$CACHE/venv/bin/python" ] && "$CACHE/venv/bin/python" -c '' 2>/dev/null &&
		[ "$(cat "$CACHE/venv/netnice.lock" 2>/dev/null)" = "$(lock_hash)" ]
}

make_venv() {
	venv_fresh && return 0
	python=$(find_python) || die "no Python $PYTHON_FLOOR or newer with venv and ensurepip" \
		"python3 is $(python3 --version 2>&1 || echo missing)" "on Debian: apt-get install python3-venv; then ./setup $GOAL again"
	say "making the Python environment in $CACHE/venv"
	rm -rf "$CACHE/venv"
	mkdir -p "$CACHE"
	"$python" -m venv "$CACHE/venv"
	"$CACHE/venv/bin/python" -m pip install --disable-pip-version-check --require-hashes --only-binary :all: \
		-r "$HERE/setup.d/requirements.txt" ||
		die "pip could not install setup.d/requirements.txt" "its own words are above" \
			"check the way to the Python package index, then run ./setup $GOAL again"
	lock_hash >"$CACHE/venv/netnice.lock"
}
