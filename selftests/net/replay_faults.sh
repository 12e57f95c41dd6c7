#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What lace-replay says when the network fails it: payload that changes on the
# way, a lane that goes dark, a lab or plan that is not what it was told.
# timeout: 180

. selftests/ktap.sh
. selftests/net/lib_oneway.sh

play() {
	lace-replay -l "$lab" -c "$work/cluster.json" -s "$work/schedule.json" \
		-p "$work/plan.json" "$@"
}

# One byte of each of gpu0's packets is overwritten as it leaves.
tampering() {
	if [ "$1" = on ]; then
		tc -n "$lab-gpu0" qdisc add dev lane0 clsact &&
			tc -n "$lab-gpu0" filter add dev lane0 egress matchall \
				action pedit munge offset 200 u8 set 0x55
	else
		tc -n "$lab-gpu0" qdisc del dev lane0 clsact
	fi
}

all_is_well() {
	play -j >"$work/out" && jq -e '.bad_bytes == 0' "$work/out"
}

changed_payload_is_counted() {
	local status
	tampering on || return 1
	play -j >"$work/out"
	status=$?
	tampering off
	cat "$work/out"
	[ "$status" = 1 ] && jq -e '.bad_bytes > 20' "$work/out"
}

# Far more than can be through when the lane goes dark.
dark_lane_is_named() {
	local pid status
	play --scale-bytes 100 --timeout 3 >"$work/out" 2>"$work/err" &
	pid=$!
	poll_until 20 eval "[ \"\$(counter gpu0 tx packets)\" -gt 5000 ]"
	ip -n "$lab-gpu0" link set lane0 down
	wait "$pid"
	status=$?
	cat "$work/err"
	local where='gpu[012] -> gpu[012]: op 0 \(all\)'
	local what='[0-9]+ of [0-9]+ bytes (sent|received), no progress for 3 s'
	[ "$status" = 1 ] &&
		grep -Eq "^lace-replay: $where: $what\$" "$work/err" &&
		! pgrep lace-replay
}

another_schedule() {
	sed 's/1000000/1000001/' "$work/schedule.json" >"$work/other.json"
	! lace-replay -l "$lab" -c "$work/cluster.json" -s "$work/other.json" \
		-p "$work/plan.json" 2>"$work/err"
	cat "$work/err"
	[ "$(wc -l <"$work/err")" = 1 ]
}

another_lab() {
	! lace-replay -l other -c "$work/cluster.json" \
		-s "$work/schedule.json" -p "$work/plan.json" 2>"$work/err"
	grep -q 'no lab other' "$work/err"
}

ktap_plan 6
ktap_check "lab with a lane one way only" oneway_up
[ "$ktap_failed" = 0 ] || exit 1
ktap_check "nothing is bad as long as nothing is" all_is_well
ktap_check "payload that changes on the way is counted" \
	changed_payload_is_counted
ktap_check "a plan for another schedule" another_schedule
ktap_check "a lab that is not there" another_lab
ktap_check "the pair on a dark lane is named" dark_lane_is_named
ktap_end
