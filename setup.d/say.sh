# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=sh
# How setup speaks: one prefix, and every failure says what, why and what to do.

say() { printf 'setup: %s\n' "$*"; }

# die WHAT WHY DO: exit 1 with all three.
die() {
	printf 'setup: %s\n' "$1" >&2
	printf '  why: %s\n' "$2" >&2
	printf '  do:  %s\n' "$3" >&2
	exit 1
}

# plan LINE: remember one thing that touches the system outside the clone.
plan() { PLAN="${PLAN}  - $1
"; }

# consent: show the plan, ask once; nothing planned, nothing asked.
consent() {
	[ -n "$PLAN" ] || return 0
	say "for '$GOAL' this is done outside $HERE:"
	printf '%s' "$PLAN"
	[ "$YES" = 1 ] && return 0
	[ -t 0 ] || die "no answer possible: standard input is not a terminal" \
		"the steps above change the system outside the clone" "look at them, then run: ./setup --yes $GOAL"
	printf 'Go on? [y/N] '
	read -r answer
	case $answer in
	y | Y | yes | Yes) ;;
	*) die "stopped, nothing was changed" "you did not say yes" "run ./setup $GOAL again when you like" ;;
	esac
}
