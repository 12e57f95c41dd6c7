# SPDX-License-Identifier: GPL-2.0
#
# Sourced by tests in shell: prints results the way kselftest does (KTAP) and
# sees to it that a test that stops half way cannot look like one that passed.
#
#	. "$(dirname "$0")/../ktap.sh"
#	ktap_plan 3
#	ktap_check "two and two is four" test $((2 + 2)) = 4
#	ktap_result "the file is there" $?
#	ktap_skip "needs IPv6" "this kernel has none"
#	ktap_end
#
# ktap_skip_all REASON, before the plan, ends a test that cannot run here.

ktap_planned=
ktap_seen=0
ktap_failed=0

ktap_plan() {
	ktap_planned=$1
	echo "KTAP version 1"
	echo "1..$1"
}

ktap_skip_all() {
	echo "KTAP version 1"
	echo "1..0 # SKIP $*"
	exit 4
}

# What is said for people goes to lines that no parser takes for a result.
ktap_note() {
	echo "$*" | sed 's/^/# /'
}

# ktap_result NAME STATUS: NAME passed if STATUS is 0
ktap_result() {
	ktap_seen=$((ktap_seen + 1))
	if [ "$2" = 0 ]; then
		echo "ok $ktap_seen - $1"
	else
		ktap_failed=$((ktap_failed + 1))
		echo "not ok $ktap_seen - $1"
	fi
}

# ktap_check NAME COMMAND...: NAME passed if COMMAND did; its output becomes
# notes if it did not
ktap_check() {
	ktap_name=$1
	shift
	if ktap_output=$("$@" 2>&1); then
		ktap_result "$ktap_name" 0
	else
		ktap_result "$ktap_name" $?
		ktap_note "$*"
		ktap_note "$ktap_output"
	fi
}

ktap_skip() {
	ktap_seen=$((ktap_seen + 1))
	echo "ok $ktap_seen - $1 # SKIP $2"
}

ktap_end() {
	[ "$ktap_seen" = "$ktap_planned" ] || {
		ktap_note "planned $ktap_planned results, had $ktap_seen"
		exit 1
	}
	[ "$ktap_failed" = 0 ] || exit 1
	exit 0
}

# poll_until SECONDS COMMAND...: waits until COMMAND succeeds. On a kernel that
# is slower than others by a factor, LACE_SLOW, it waits so much longer.
poll_until() {
	ktap_tries=$(($1 * 10 * ${LACE_SLOW:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$ktap_tries" -gt 0 ] || return 1
		ktap_tries=$((ktap_tries - 1))
		sleep 0.1
	done
}
