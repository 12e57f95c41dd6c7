# SPDX-License-Identifier: GPL-2.0
#
# Sourced by tests of lacec, after ktap.sh: what a command says and how it ends.
# $work is a folder that goes with the test; out and err in it are of the last
# command.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# status N COMMAND...: it exits with N
status() {
	expected=$1
	shift
	"$@" >"$work/out" 2>"$work/err"
	got=$?
	[ "$got" = "$expected" ] && return
	echo "exit status $got, not $expected: $(cat "$work/err")"
	return 1
}

one_line() {
	how=$1
	wanted=$2
	text=$3
	shift 3
	status "$wanted" "$@" || return
	[ "$(wc -l <"$work/err")" = 1 ] && grep "$how" -- "$text" "$work/err" &&
		return
	cat "$work/err"
	return 1
}

# says_line N TEXT COMMAND...: it exits with N and one line that has TEXT
says_line() {
	one_line -qF "$@"
}

# matches_line N PATTERN COMMAND...: it exits with N and one line that matches
matches_line() {
	one_line -q "$@"
}

same() {
	[ "$1" = "$2" ] && return
	echo "$1"
	return 1
}
