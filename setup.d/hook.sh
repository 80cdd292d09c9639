# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=sh
# The git hook of this clone (and of no other): hooks/pre-commit runs make check before a commit.
# 'build' and 'demo' are for users: they bring no linters, and no hook.

install_hook() {
	[ "$HOOK" = 1 ] || return 0
	[ "$(rank "$GOAL")" -ge 3 ] || return 0
	command -v git >/dev/null 2>&1 || return 0
	[ "$(git -C "$HERE" rev-parse --show-toplevel 2>/dev/null)" = "$HERE" ] || return 0
	now=$(git -C "$HERE" config --local --get core.hooksPath || :)
	[ "$now" = hooks ] && return 0
	if [ -n "$now" ]; then
		say "git hook not installed: this clone's core.hooksPath is already $now"
		return 0
	fi
	git -C "$HERE" config --local core.hooksPath hooks
	say "git hook installed in this clone (make check before each commit; undo: git config --unset core.hooksPath)"
}
