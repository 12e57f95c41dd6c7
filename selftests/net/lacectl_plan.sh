#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lacectl plan on a lab of three nodes with one port each. Segment 0 of the plan
# is the ring gpu0 > gpu1 > gpu2 > gpu0, segment 1 the other way round; pairs
# without a circuit take the ring.
#
# kernels: 6.1 6.12
# timeout: 400
. "$(dirname "$0")/../ktap.sh"

PATH=$PWD/build/tools:$PATH
work=$(mktemp -d)
lab=plan$$

cleanup() {
	lacectl lab down "$lab" >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT

node() {
	printf '{ "name": "gpu%d", "address": "10.77.0.%d", "ports": [ { "name": "lane0",
	"rate_bps": 50000000, "tx": ["ocs0", %d], "rx": ["ocs0", %d] } ] }' \
		"$1" $(($1 + 1)) $(($1 + 1)) $(($1 + 1))
}

cat >"$work/cluster.json" <<END
{ "format": "lace-cluster/1", "name": "plan", "reconfig_s": 0.05,
  "control_ratio": 0.01, "relay": "data",
  "ocs": [ { "name": "ocs0", "inputs": 4, "outputs": 4 } ],
  "nodes": [ $(node 0), $(node 1), $(node 2) ] }
END
hash=$(sha256sum <"$work/cluster.json" | cut -d' ' -f1)

# segment OP CIRCUITS ROUTES
segment() {
	echo "{ \"first_op\": $1, \"last_op\": $1, \"transmit_s\": 1,
	\"circuits\": [$2], \"routes\": [$3] }"
}

# plan FILE SEGMENT...
plan() {
	local file=$1 all
	shift
	all=$(printf '%s,' "$@")
	cat >"$work/$file" <<-END
	{ "format": "lace-plan/1", "scheduler": "hand", "cluster_sha256": "$hash",
	  "schedule_sha256": "$hash", "cct_s": 2, "transmit_s": 2,
	  "reconfig_s": 0, "bound_s": 1, "segments": [${all%,}] }
	END
}

ring=$(segment 0 "[0,0,1,0],[1,0,2,0],[2,0,0,0]" "[0,2,[1]],[1,0,[2]],[2,1,[0]]")
back=$(segment 1 "[0,0,2,0],[1,0,0,0],[2,0,1,0]" "[0,1,[2]],[1,2,[0]],[2,0,[1]]")
swap=$(segment 0 "[0,0,2,0],[1,0,0,0],[2,0,1,0]" "[0,1,[2]],[1,2,[0]],[2,0,[1]]")
# gpu1 is told of a route by a circuit that it does not have.
unsound=$(segment 1 "[0,0,1,0],[2,0,0,0]" "[0,2,[1]]")
plan plan.json "$ring" "$back"
plan swap.json "$swap"
plan unsound.json "$swap" "$unsound"
sed 's/"cluster_sha256": "./"cluster_sha256": "/; s/"schedule_sha256"/"x": 1, &/' \
	"$work/plan.json" >"$work/broken.json"
sed "s/\"cluster_sha256\": \"$hash/\"cluster_sha256\": \"$(printf %064d 0)/" \
	"$work/plan.json" >"$work/other.json"

apply() {
	lacectl plan apply "$work/$1" --lab "$lab" "${@:2}" >"$work/out" 2>&1 ||
		{ cat "$work/out"; false; }
}

# says WORDS: the last output is that line
says() {
	cat "$work/out"
	grep -qxF "$1" "$work/out"
}

# state: everything that nodes and OCS have
state() {
	local n
	for n in 0 1 2; do
		lacectl -j -n "$lab-gpu$n" device | jq -c '.[0] | [.node, .segment]'
		lacectl -j -n "$lab-gpu$n" node
		lacectl -j -n "$lab-gpu$n" segment
	done
	lacectl ocs show "$lab" | grep -v dark
}

unchanged() {
	state >"$work/now"
	diff "$work/was" "$work/now"
}

# refused STATUS WORDS COMMAND...
refused() {
	local status=$1 words=$2 got
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	got=$?
	cat "$work/err"
	[ $got = "$status" ] && [ "$(wc -l <"$work/err")" = 1 ] &&
		grep -qF -- "$words" "$work/err"
}

reach() {
	ip netns exec "$lab-gpu0" ping -q -c 1 -W 5 10.77.0.2 &&
		ip netns exec "$lab-gpu0" ping -q -c 1 -W 5 10.77.0.3
}

# first LANES: which way gpu0's lane leads
leads_to() {
	lacectl -j -n "$lab-gpu0" lane | tee "$work/json" |
		jq -e --argjson peer "$1" \
			'any(.[]; .dir == "tx" and .peer == $peer)' >/dev/null ||
		{ cat "$work/json"; false; }
}

gpu0() {
	lacectl -n "$lab-gpu0" plan "$1" "$work/$2" -c "$work/cluster.json" \
		dev lace0 --node gpu0 "${@:3}"
}

modprobe lace && modprobe veth
ktap_plan 38
ktap_check "a lab" lacectl lab up "$work/cluster.json" name "$lab" \
	switch-time 50ms

# ---- a whole lab ----

ktap_check "apply" apply plan.json
ktap_check "it counts what it changed" says "$lab: 12 changes, segment 0 active"
ktap_check "the plan is in force" leads_to 1
ktap_check "and carries traffic, relayed too" reach
state >"$work/was"
ktap_check "apply again" apply plan.json
ktap_check "changes nothing" says "$lab: unchanged, segment 0 active"
ktap_check "and nothing has changed" unchanged
ktap_check "another segment" apply plan.json --segment 1
ktap_check "is in force" leads_to 2
ktap_check "and carries traffic" reach
ktap_check "another plan, whose active segment differs" apply swap.json
ktap_check "is in force" leads_to 2
ktap_check "and carries traffic" reach
ktap_check "no spare segment is left" sh -c \
	"[ \"\$(lacectl -j -n $lab-gpu0 segment | jq -c '[.[].id]')\" = '[0]' ]"
apply plan.json
state >"$work/was"
ktap_check "a plan that a node refuses" refused 1 \
	"gpu1: lace0: route NEXT: no circuit of the segment leads there" \
	lacectl plan apply "$work/unsound.json" --lab "$lab"
ktap_check "changes nothing anywhere" unchanged
ktap_check "a plan for another cluster" refused 2 "another cluster file" \
	lacectl plan apply "$work/other.json" --lab "$lab"
ktap_check "a broken plan" refused 2 "broken.json:1: cluster_sha256" \
	lacectl plan apply "$work/broken.json" --lab "$lab"
ktap_check "a segment that is not there" refused 2 "no segment 2" \
	lacectl plan apply "$work/plan.json" --lab "$lab" --segment 2
ktap_check "a lab that is not there" refused 1 "there is no lab none" \
	lacectl plan apply "$work/plan.json" --lab none
ktap_check "none of it changed anything" unchanged

# ---- one node ----

ktap_check "one node has its part" gpu0 diff plan.json
ktap_check "of another plan it has not" refused 1 "lace0 differs from the plan" \
	gpu0 diff swap.json
ktap_check "diff says what differs" grep -qx "activate segment 2" "$work/out"
ktap_check "and changes nothing" unchanged
ktap_check "apply on one node" gpu0 apply swap.json
ktap_check "does it" gpu0 diff swap.json
ktap_check "other nodes keep theirs" sh -c \
	"[ \"\$(lacectl -j -n $lab-gpu1 segment | jq length)\" = 2 ]"
gpu0 apply plan.json >/dev/null
ktap_check "and back" unchanged

# ---- MAC addresses from files ----

for n in 0 1 2; do
	lacectl -n "$lab-gpu$n" plan macs -c "$work/cluster.json" \
		--node "gpu$n" dev lace0 >"$work/macs$n.json" || break
done
ktap_result "each host prints its part" $?
ktap_check "without all of them it is refused" refused 2 \
	"the MAC address of gpu2 lane0 is not known" \
	gpu0 apply plan.json --macs "$work/macs1.json"
ktap_check "and nothing is changed" unchanged
ktap_check "together they do" gpu0 apply plan.json --macs "$work/macs0.json" \
	--macs "$work/macs1.json" --macs "$work/macs2.json"
ktap_check "the lab's own state does, too" gpu0 apply plan.json \
	--macs "/run/lace/$lab/lab.json"
ktap_check "as it was" unchanged

# ---- ports ----

lacectl -n "$lab-gpu0" segment activate dev lace0 id none &&
	lacectl -n "$lab-gpu0" port set lane0 number 4
ktap_result "a port under another number" $?
ktap_check "is found out" refused 1 \
	"lace0: lane0 is port 4, and port 0 in the cluster" gpu0 apply plan.json
ktap_end
