#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lacectl's objects on one lace device with one port: what it sets, the module
# has; what the module refuses, lacectl says in one line, and exits with 1; what
# makes no sense to lacectl exits with 2.
#
#	lace0 -- v0 ==== v1
#
# timeout: 400
. "$(dirname "$0")/../ktap.sh"

PATH=$PWD/build/tools:$PATH
work=$(mktemp -d)
ns=lacectl-$$

cleanup() {
	ip netns del "$ns" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

on() {
	lacectl -n "$ns" "$@"
}

# refused STATUS WORDS COMMAND...: lacectl ends with STATUS and one line that
# contains WORDS
refused() {
	local status=$1 words=$2 got
	shift 2
	on "$@" >"$work/out" 2>"$work/err"
	got=$?
	cat "$work/err"
	[ "$got" = "$status" ] || { echo "exit status $got"; return 1; }
	[ ! -s "$work/out" ] || { echo "something on standard output"; return 1; }
	[ "$(wc -l <"$work/err")" = 1 ] || { echo "not one line"; return 1; }
	grep -qF -- "lacectl: $words" "$work/err"
}

# json FILTER COMMAND...: jq's FILTER is true of what lacectl prints
json() {
	local filter=$1
	shift
	on -j "$@" | tee "$work/json"
	jq -e "$filter" <"$work/json" >/dev/null
}

not_root() {
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		--bounding-set -all --inh-caps -all --no-new-privs \
		ip netns exec "$ns" true 2>/dev/null && return 1
	nsenter --net="/run/netns/$ns" setpriv --reuid 65534 --regid 65534 \
		--clear-groups --bounding-set -all --inh-caps -all \
		--no-new-privs lacectl "$@"
}

unprivileged_set() {
	not_root device set lace0 node 3 2>"$work/err"
	[ $? = 1 ] && cat "$work/err" &&
		grep -qF "lace0: not permitted" "$work/err" &&
		json '.[0].node == 0' device show lace0
}

# The kernel loads a family's module when it is asked for, if it can.
without_module() {
	local status loader
	loader=$(cat /proc/sys/kernel/modprobe)
	echo /bin/false >/proc/sys/kernel/modprobe
	lacectl device 2>"$work/err"
	status=$?
	echo "$loader" >/proc/sys/kernel/modprobe
	cat "$work/err"
	[ $status = 1 ] && grep -qxF \
		"lacectl: the lace module is not loaded: modprobe lace" "$work/err"
}

modprobe -r lace 2>/dev/null
ktap_plan 68

ktap_check "the module is not loaded" without_module
modprobe lace && modprobe veth
ip netns add "$ns" &&
	ip -n "$ns" link add lace0 type lace &&
	ip -n "$ns" link add v0 address 02:00:00:00:00:01 type veth peer name v1 &&
	ip -n "$ns" link set v0 master lace0
ktap_result "a device with a port" $?

# ---- set and show ----

ktap_check "device set" on device set lace0 node 0
ktap_check "device show" json '.[0] | .ifname == "lace0" and .node == 0 and
	.segment == null and .steer_prog_id == null and
	.ports[0].ifname == "v0" and .ports[0].number == 0 and
	.stats.tx_no_node == 0' device
ktap_check "device set reorder" on device set lace0 reorder 20ms
ktap_check "device show reorder" json '.[0].reorder_us == 20000 and
	.[0].stats.reorder_held == 0' device
ktap_check "device set ack" on device set lace0 ack 20ms
ktap_check "device show ack" json '.[0].ack_ms == 20 and (.[0].ack_keyed | not)' \
	device
echo 000102030405060708090a0b0c0d0eFF >"$work/key"
ktap_check "device set key" on device set lace0 key "$work/key"
ktap_check "there is a key" json '.[0].ack_keyed' device
ktap_check "device set key none" on device set lace0 key none
ktap_check "port set" on port set v0 number 5
ktap_check "port show" json '.[0] | .dev == "lace0" and .ifname == "v0" and
	.number == 5' port show dev lace0
ktap_check "node add" on node add dev lace0 id 0 prefix 10.0.0.1 \
	port 5 mac 02:00:00:00:00:01
ktap_check "node set" on node set dev lace0 id 1 prefix 10.1.0.0/16 \
	prefix 10.0.0.2 prefix fd00::2 port 0 mac 02:00:00:00:01:00 \
	port 31 02:00:00:00:01:1f
ktap_check "node show" json '.[1] | .id == 1 and
	(.prefixes | sort) == ["10.0.0.2/32", "10.1.0.0/16", "fd00::2/128"] and
	.ports == [{"number": 0, "mac": "02:00:00:00:01:00"},
		   {"number": 31, "mac": "02:00:00:00:01:1f"}]' node
ktap_check "node show of one" json 'length == 1 and .[0].id == 0' \
	node show dev lace0 id 0
ktap_check "node set replaces as a whole" on node set dev lace0 id 1 \
	prefix 10.0.0.2 port 0 mac 02:00:00:00:01:00
ktap_check "nothing of the old node is left" json '.[0].prefixes ==
	["10.0.0.2/32"] and (.[0].ports | length) == 1' node show dev lace0 id 1
on node add dev lace0 id 2 prefix 10.0.0.3 port 0 mac 02:00:00:00:02:00
ktap_check "segment load" on segment load dev lace0 id 7 tx 5 1 0 rx 5 2 0 \
	route 2 1 prev 2 next 1 alternate route 1 0 prev 2 route 0 2 next 1
ktap_check "segment show" json '.[0] | .id == 7 and (.active | not) and
	.circuits == [{"port": 5, "dir": "tx", "peer": 1, "peer_port": 0},
		      {"port": 5, "dir": "rx", "peer": 2, "peer_port": 0}] and
	.routes == [{"from": 0, "to": 2, "prev": null, "next": 1,
		     "alternate": false, "broken": false},
		    {"from": 1, "to": 0, "prev": 2, "next": null,
		     "alternate": false, "broken": false},
		    {"from": 2, "to": 1, "prev": 2, "next": 1,
		     "alternate": true, "broken": false}]' segment
ktap_check "abbreviations" on seg act dev lace0 id 7
ktap_check "it is active" json '.[0].active' segment show dev lace0 id 7
ktap_check "the device says so" json '.[0].segment == 7' device show
ktap_check "lane show" json '[.[] | [.port, .ifname, .dir, .peer, .peer_port]]
	== [[5, "v0", "tx", 1, 0], [5, "v0", "rx", 2, 0]]' lane show dev lace0
ktap_check "counters of a lane" json '.[0].stats | keys == ["acks", "bytes",
	"control_bytes", "control_packets",
	"delivered", "delivered_bytes", "dropped", "forged", "hop_limit", "lost",
	"lost_bytes", "malformed", "marks", "misaddressed", "packets", "refused",
	"relay_bytes", "relay_packets", "replayed", "spoofed", "unexpected"]' lane
ktap_check "the lane protocol of a lane" json '.[0] | .state == "unverified" and
	.silence_ms == null and .rtt_ns == null and (.drained | not)' lane
ktap_check "its state as text" sh -c \
	"lacectl -n $ns lane | grep -q 'tx to node 1 port 0 unverified$'"
ktap_check "counters as text" sh -c \
	"lacectl -n $ns -s lane | grep -q 'packets 0 bytes 0'"
ktap_check "-p indents" sh -c "lacectl -n $ns -p device | grep -q '^        \"ifname\"'"

# ---- what the module refuses: its own words, exit status 1 ----

ktap_check "a node that is there" refused 1 \
	'lace0: there is a node 1; "set" replaces it' \
	node add dev lace0 id 1 prefix 10.0.0.9
ktap_check "an address of another node" refused 1 \
	"lace0: node PREFIX: belongs to another node" \
	node add dev lace0 id 3 prefix 10.0.0.2
ktap_check "a node in use" refused 1 \
	"lace0: node ID: the active segment uses it" node del dev lace0 id 1
ktap_check "a segment in use" refused 1 \
	"lace0: segment ID: that segment is active" segment del dev lace0 id 7
ktap_check "a segment that is active, again" refused 1 \
	"lace0: segment ID: that segment is active" segment load dev lace0 id 7
ktap_check "a segment that is not there" refused 1 \
	"lace0: segment ID: there is no such segment" segment act dev lace0 id 8
ktap_check "a node that is not there" refused 1 \
	"lace0: node ID: there is no such node" node show dev lace0 id 9
ktap_check "a circuit to the node itself" refused 1 \
	"lace0: circuit PEER: is this node itself" \
	segment load dev lace0 id 9 tx 5 0 0
ktap_check "a route without a circuit" refused 1 \
	"lace0: route NEXT: no circuit" \
	segment load dev lace0 id 9 tx 5 1 0 route 0 9 next 2
ktap_check "another node while segments are loaded" refused 1 \
	"lace0: device NODE: segments are loaded" device set lace0 node 4
ktap_check "a device that is not there" refused 1 "lace9: " device show lace9
ktap_check "a device of another kind" refused 1 "v1: " node show dev v1
ktap_check "a setting of a device that is not there" refused 1 \
	"lace9: IFNAME: there is no such device" device set lace9 node 0
ktap_check "a name too long for a device" refused 1 \
	"a-name-that-is-too-long: no device has such a name" \
	device show a-name-that-is-too-long
ktap_check "an interface that is no port" refused 1 \
	"v1: port IFINDEX, IFNAME: not a port" port set v1 number 1
ktap_check "nobody may who is not root" unprivileged_set
ktap_check "a namespace that is not there" sh -c \
	'lacectl -n none-such device 2>&1 |
		grep -qxF "lacectl: there is no network namespace \"none-such\""'

# ---- what lacectl refuses: exit status 2 ----

ktap_check "an unknown object" refused 2 '"thing" is none of: ' thing
ktap_check "an ambiguous object" refused 2 '"l" could be more than one of: ' l
ktap_check "an unknown command" refused 2 '"put" is none of: show, ' node put
ktap_check "a number too large" refused 2 \
	'node "65535" is not a number from 0 to 65534' \
	device set lace0 node 65535
ktap_check "a negative number" refused 2 \
	'node "-1" is not a number' device set lace0 node -1
ktap_check "a number with a tail" refused 2 'node "1x"' device set lace0 node 1x
ktap_check "a port too large" refused 2 'number "32"' port set v0 number 32
ktap_check "no setting" refused 2 \
	'"node NUMBER", "reorder TIME", "ack TIME" or "key FILE" is missing' \
	device set lace0
ktap_check "too long a time" refused 2 "reorder 2s: not from 1 us to 1 s" \
	device set lace0 reorder 2s
ktap_check "too short a time" refused 2 "ack 9ms: not from 10 ms to 60 s" \
	device set lace0 ack 9ms
echo 000102030405060708090a0b0c0d0e0f1 >"$work/long"
ktap_check "a key too long" refused 2 \
	"$work/long: not a key of 32 hexadecimal digits" \
	device set lace0 key "$work/long"
ktap_check "no device" refused 2 '"dev DEVICE" is missing' node del id 1
ktap_check "no id" refused 2 '"id NUMBER" is missing' segment del dev lace0
ktap_check "one word too many" refused 2 '"extra" is one word too many' \
	device show lace0 extra
ktap_check "no address" refused 2 '"10.0.0" is neither' \
	node set dev lace0 id 1 prefix 10.0.0
ktap_check "bits beyond the prefix" refused 2 '"10.0.0.1/24" has bits' \
	node set dev lace0 id 1 prefix 10.0.0.1/24
ktap_check "no MAC address" refused 2 '"02:00" is not a MAC address' \
	node set dev lace0 id 1 port 0 mac 02:00
ktap_check "a port twice" refused 2 'port 0 is given twice' \
	node set dev lace0 id 1 port 0 02:00:00:00:00:01 port 0 02:00:00:00:00:02

# ---- and down again ----

ktap_check "none of this changed anything" json '.[0].node == 0 and
	.[0].segment == 7' device
on segment activate dev lace0 id none && on segment del dev lace0 id 7 &&
	on node del dev lace0 id 1 && on node del dev lace0 id 2
ktap_result "segments and nodes go" $?
ktap_check "they are gone" sh -c "
	[ \"\$(lacectl -n $ns -j segment)\" = '[]' ] &&
	[ \"\$(lacectl -n $ns -j node | jq length)\" = 1 ]"
ktap_end
