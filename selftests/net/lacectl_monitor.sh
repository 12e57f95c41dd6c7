#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lacectl monitor: one JSON line an event, at once, of one device if asked for;
# says when events were lost, and how things are then; ends well on SIGINT.
#
# timeout: 400
. "$(dirname "$0")/../ktap.sh"

PATH=$PWD/build/tools:$PATH
work=$(mktemp -d)
ns=monitor-$$
monitor=

cleanup() {
	[ -z "$monitor" ] || kill -CONT "$monitor" 2>/dev/null
	[ -z "$monitor" ] || kill -KILL "$monitor" 2>/dev/null
	ip netns del "$ns" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

on() {
	lacectl -n "$ns" "$@"
}

# listener: the monitor's socket, the only one of the namespace in a group
listener() {
	ip netns exec "$ns" cat /proc/net/netlink |
		awk '$2 == 16 && $4 != "00000000"'
}

listens() {
	listener | grep -q .
}

# Starts it in this shell, which has to know its number; no events yet.
start() {
	lacectl -n "$ns" -j monitor "$@" >"$work/events" 2>"$work/err" &
	monitor=$!
	poll_until 30 listens
}

# stop SIGNAL: sends it, and sees how the monitor ends
stop() {
	local status
	kill -"$1" "$monitor"
	wait "$monitor"
	status=$?
	monitor=
	[ $status = 0 ] && [ ! -s "$work/err" ]
}

# saw FILTER: an event for which jq's FILTER is true has come
saw() {
	jq -es "any(.[]; $1)" <"$work/events" >/dev/null
}

comes() {
	poll_until 10 saw "$1" || { cat "$work/events"; false; }
}

lost_some() {
	listener | awk '$9 > 0' | grep -q .
}

# More than a socket's buffer holds, while nobody reads: large events.
flood() {
	local words tries
	mapfile -t words < <(seq -f "fd00::%g" 1000 1999 | sed 's/^/prefix\n/')
	kill -STOP "$monitor"
	for ((tries = 0; tries < 500; tries++)); do
		lost_some && return
		on node set dev lace0 id 1 "${words[@]}"
	done
	return 1
}

modprobe lace && modprobe veth
ip netns add "$ns" &&
	ip -n "$ns" link add lace0 type lace &&
	ip -n "$ns" link add lace1 type lace &&
	ip -n "$ns" link add v0 type veth peer name v1 || ktap_skip_all "no device"

ktap_plan 17
start
ktap_result "it listens" $?
ip -n "$ns" link set v0 master lace0
ktap_check "a port comes" comes '.event == "lane" and .data.dev == "lace0" and
	.data.port == 0 and .data.ifname == "v0"'
on device set lace0 node 0
ktap_check "the own node" comes '.event == "device" and .data.node == 0'
on node set dev lace0 id 0 prefix 10.0.0.1 port 0 mac 02:00:00:00:00:00
on node set dev lace0 id 1 prefix 10.0.0.2 port 0 mac 02:00:00:00:01:00
ktap_check "a node" comes '.event == "node" and .data.id == 1 and
	.data.prefixes == ["10.0.0.2/32"]'
on segment load dev lace0 id 0 tx 0 1 0
ktap_check "a segment" comes '.event == "segment" and .data.id == 0 and
	(.data.active | not)'
on segment activate dev lace0 id 0
ktap_check "it becomes active" comes '.event == "segment" and .data.active'
on segment activate dev lace0 id none && on segment del dev lace0 id 0
ktap_check "it goes" comes '.event == "segment_deleted" and .data.id == 0'
on node del dev lace0 id 1
ktap_check "a node goes" comes '.event == "node_deleted" and .data.id == 1'
ip -n "$ns" link set v0 nomaster
ktap_check "a port goes" comes '.event == "lane" and .data.ifname == null'
ktap_check "one line an event" sh -c \
	"[ \$(wc -l <$work/events) = \$(jq -s length <$work/events) ]"
stop INT
ktap_result "SIGINT ends it well" $?

start dev lace1
ktap_result "one device only" $?
on device set lace0 node 1 && on device set lace1 node 2
comes '.event == "device" and .data.ifname == "lace1"' &&
	! saw '.event == "device" and .data.ifname == "lace0"'
ktap_result "is all that is heard of" $?
stop TERM
ktap_result "SIGTERM ends it well" $?

start && flood
ktap_result "nobody reads, and events are lost" $?
kill -CONT "$monitor"
ktap_check "it says so" comes '.event == "lost"'
poll_until 10 sh -c "jq -es '
	([.[].event] | rindex(\"lost\")) as \$at | .[\$at + 1:] |
	any(.[]; .event == \"device\" and .data.ifname == \"lace0\") and
	any(.[]; .event == \"node\" and .data.id == 1)' <$work/events"
ktap_result "and how things are now" $?
stop INT
ktap_end
