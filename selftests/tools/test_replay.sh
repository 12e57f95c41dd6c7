#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lace-replay by itself: three nodes that are addresses of this host. What is
# measured here says nothing; that everything arrives, and what happens when
# something does not, is the same as in a lab.

. selftests/ktap.sh

replay=$LACE_BUILD/tools/lace-replay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Another build's tools may be tested at the same time.
PORT=$((7000 + $$ % 1000))

port() {
	echo '{ "name": "lane0", "rate_bps": 1000000000,' \
		'"tx": ["ocs0", '"$1"'], "rx": ["ocs0", '"$1"'] }'
}

# cluster ADDRESS ADDRESS ADDRESS
cluster() {
	cat <<-END
	{ "format": "lace-cluster/1", "name": "here", "reconfig_s": 0,
	  "control_ratio": 0, "relay": "none",
	  "ocs": [ { "name": "ocs0", "inputs": 3, "outputs": 3 } ],
	  "nodes": [
	    { "name": "a", "address": "$1", "ports": [ $(port 1) ] },
	    { "name": "b", "address": "$2", "ports": [ $(port 2) ] },
	    { "name": "c", "address": "$3", "ports": [ $(port 3) ] } ] }
	END
}

# schedule BYTES: a third of it in seven rounds of odd sizes, the rest at once
schedule() {
	cat <<-END
	{ "format": "lace-schedule/1", "name": "here", "ranks": 4,
	  "placement": [0, 1, 2, 2], "ops": [
	    { "name": "ring.0", "repeat": 7, "parts": [ { "transfers": [
	        [0, 1, 14286], [1, 2, 1], [2, 0, 300007], [3, 0, 3]] } ] },
	    { "name": "local", "parts": [ { "transfers": [[2, 3, 500]] } ] },
	    { "name": "sum", "parts": [ { "collective": "all_reduce",
	        "algorithm": "ring", "bytes": 1000, "groups": [[0, 1, 2]] } ] },
	    { "name": "ring.1", "parts": [ { "transfers": [
	        [0, 2, $1], [1, 0, $1]] } ] } ] }
	END
}

cluster 127.0.1.1 127.0.1.2 127.0.1.3 >"$work/cluster"
schedule 1000000 >"$work/schedule"
schedule 9000000000000 >"$work/endless"

run() {
	"$replay" -c "$work/cluster" -s "$work/schedule" --tcp-port "$PORT" "$@"
}

# 7 rounds, and on each of 3 edges 4/3 of 1000 bytes, rounded.
everything_arrives() {
	run -j >"$work/out" || return 1
	cat "$work/out"
	jq -e '.payload_bytes == 7 * (14286 + 1 + 300010) + 3 * 1333 + 2000000
		and .bad_bytes == 0 and .extra_bytes == 0
		and (.ops | length) == 4
		and ([.ops[].name] == ["ring.0", "local", "sum", "ring.1"])
		and .ops[0].bytes == 7 * (14286 + 1 + 300010)
		and .ops[1].bytes == 0
		and all(.ops[]; .measured_s >= 0)' "$work/out"
}

bytes_are_scaled() {
	run -j --scale-bytes 0.1 >"$work/out" &&
		jq -e '.payload_bytes ==
			7 * (1429 + 1 + 30001) + 3 * 133 + 200000' "$work/out"
}

table_and_file() {
	run -o "$work/result" >"$work/out" || return 1
	cat "$work/out"
	grep -Eq '^ring +2 +8 ' "$work/out" &&
		grep -q '^total' "$work/out" && jq -e .measured_s "$work/result"
}

unreachable() {
	cluster ::1 127.0.1.2 127.0.1.3 >"$work/mixed"
	# IPv6 does not reach IPv4; which pair is first to fail is open.
	! "$replay" -c "$work/mixed" -s "$work/schedule" --tcp-port "$PORT" \
		2>"$work/err" && grep -qE "a -> [bc]|[bc] -> a" "$work/err"
}

# expect STATUS TEXT COMMAND...: one line on standard error that holds TEXT
expect() {
	local due=$1 text=$2 status
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	status=$?
	cat "$work/err"
	echo "status $status"
	[ "$status" = "$due" ] && grep -q -- "$text" "$work/err" &&
		[ "$(wc -l <"$work/err")" = 1 ]
}

no_address() {
	jq 'del(.nodes[1].address)' "$work/cluster" >"$work/no-address"
	expect 2 "'b' has no address" "$replay" -c "$work/no-address" \
		-s "$work/schedule"
}

not_our_address() {
	cluster 127.0.1.1 192.0.2.7 127.0.1.3 >"$work/elsewhere"
	expect 1 "b: cannot use 192.0.2.7" "$replay" -c "$work/elsewhere" \
		-s "$work/schedule" --tcp-port "$PORT"
}

# start: plays without end; $pid is the coordinator
start() {
	"$replay" -c "$work/cluster" -s "$work/endless" --tcp-port "$PORT" \
		"$@" >"$work/out" 2>"$work/err" &
	pid=$!
	poll_until 10 eval '[ "$(pgrep -cP $pid)" = 3 ]' || return 1
	nodes=$(pgrep -P "$pid")
	poll_until 10 eval "ss -Htn 'dport = $PORT' | grep -q ."
}

# Processes that nobody waits for stay as zombies for a while.
nodes_gone() {
	! ps -o stat= -p "$(echo $nodes | tr ' ' ,)" | grep -qv Z
}

# ended STATUS TEXT: it did, with its nodes
ended() {
	local status
	wait "$pid"
	status=$?
	cat "$work/err"
	echo "status $status"
	[ "$status" = "$1" ] && grep -q -- "$2" "$work/err" &&
		poll_until 5 nodes_gone
}

node_killed() {
	start || return 1
	kill -KILL $(echo "$nodes" | sed -n 2p)
	ended 1 'b: its process was ended by signal 9'
}

node_stopped() {
	start --timeout 2 || return 1
	kill -STOP $(echo "$nodes" | sed -n 3p)
	ended 1 'a -> c: op 3 (ring.1): .* no progress for 2 s'
}

interrupted() {
	start || return 1
	kill -TERM "$pid"
	ended 1 interrupted
}

coordinator_killed() {
	start || return 1
	kill -KILL "$pid"
	echo >>"$work/err"	# it has no last words
	ended 137 ''
}

ktap_plan 14
ktap_check "everything arrives, and is counted" everything_arrives
ktap_check "bytes are scaled" bytes_are_scaled
ktap_check "tables and a file" table_and_file
ktap_check "an address that cannot be reached" unreachable
ktap_check "a node without an address" no_address
ktap_check "an address of another host" not_our_address
ktap_check "no cluster" expect 2 'are needed' "$replay" -s "$work/schedule"
ktap_check "a plan without a lab" expect 2 'needs --lab' run -p x
ktap_check "a negative scale" expect 2 'above 0' run --scale-bytes -1
ktap_check "a lab that is not there" expect 1 'no lab nowhere' run -l nowhere
ktap_check "a node's process is killed" node_killed
ktap_check "a node's process is stopped" node_stopped
ktap_check "interrupted" interrupted
ktap_check "the coordinator is killed" coordinator_killed
ktap_end
