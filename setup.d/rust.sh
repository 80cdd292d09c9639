# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # RUST_DIR and RUST_PARTIAL are read in setup
# Finds a Rust toolchain that is new enough, or the packages that bring one.

# The floor is the workspace's own.
rust_floor() { sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' "$HERE/Cargo.toml"; }

# at_least VERSION FLOOR: compares major.minor.
at_least() {
	printf '%s %s\n' "$1" "$2" | awk '{ split($1, a, "."); split($2, b, "."); exit !(a[1] > b[1] || (a[1] == b[1] && a[2] >= b[2])) }'
}

# rust_version DIR: of DIR/rustc, or nothing when it does not run.
rust_version() { [ -x "$1/rustc" ] && "$1/rustc" --version 2>/dev/null | awk '{ print $2 }'; }

# rust_complete DIR: cargo is there, and for tests the linters too.
rust_complete() {
	"$1/cargo" --version >/dev/null 2>&1 || return 1
	[ "$(rank "$GOAL")" -lt 3 ] && return 0
	PATH="$1:$PATH" "$1/cargo" fmt --version >/dev/null 2>&1 &&
		PATH="$1:$PATH" "$1/cargo" clippy --version >/dev/null 2>&1
}

# find_rust: sets RUST_DIR to the first good toolchain, RUST_PARTIAL to one that lacks only linters.
find_rust() {
	RUST_DIR='' RUST_PARTIAL=''
	for dir in $(printf '%s' "$PATH" | tr ':' ' ') "$HOME/.cargo/bin" /usr/lib/rust-*/bin; do
		version=$(rust_version "$dir") || continue
		at_least "${version:-0.0}" "$(rust_floor)" || continue
		if rust_complete "$dir"; then
			RUST_DIR=$dir
			return 0
		fi
		[ -n "$RUST_PARTIAL" ] || RUST_PARTIAL=$dir
	done
	return 1
}

# rust_packages: the first set on offer that is new enough. Debian 12's own rustc is too old, but it
# carries a newer one, built for the browsers, under the names …-web; Ubuntu has versioned ones.
rust_packages() {
	for set in rustc,cargo,rustfmt,rust-clippy rustc-web,cargo-web,rustfmt-web,rust-web-clippy \
		rustc-1.85,cargo-1.85,rustfmt-1.85,rust-1.85-clippy; do
		version=$(candidate "${set%%,*}")
		version=${version#*:}
		at_least "${version:-0.0}" "$(rust_floor)" || continue
		[ "$(rank "$GOAL")" -ge 3 ] || set=$(printf '%s' "$set" | cut -d, -f1,2)
		printf '%s\n' "$set" | tr ',' ' '
		return 0
	done
}

no_rust() {
	die "no Rust $(rust_floor) or newer to be found" \
		"none is on PATH or in ~/.cargo/bin, and this system's packages offer $(candidate rustc | grep . || echo none)" \
		"install one from https://rustup.rs (needs no root), then run ./setup $GOAL again"
}
