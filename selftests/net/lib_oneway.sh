# SPDX-License-Identifier: GPL-2.0
#
# Three nodes with one port each, in a ring of one-way lanes:
#
#	gpu0 ----> gpu1 ----> gpu2 ----> gpu0
#
# gpu0 and gpu1 have a lane one way only. Data gpu0 -> gpu1 takes it; its
# acknowledgments, and data gpu1 -> gpu0, are relayed by gpu2. Sourced by the
# oneway_*.sh tests, after ktap.sh.

lab=oneway
work=$(mktemp -d)

oneway_files() {
	cat >"$work/cluster.json" <<-END
	{ "format": "lace-cluster/1", "name": "oneway", "reconfig_s": 0.02,
	  "control_ratio": 0.01, "relay": "data",
	  "ocs": [ { "name": "ocs0", "inputs": 4, "outputs": 4 } ],
	  "nodes": [
	    { "name": "gpu0", "address": "10.77.0.1", "ports": [ { "name": "lane0",
	      "rate_bps": 50000000, "tx": ["ocs0", 1], "rx": ["ocs0", 1] } ] },
	    { "name": "gpu1", "address": "10.77.0.2", "ports": [ { "name": "lane0",
	      "rate_bps": 50000000, "tx": ["ocs0", 2], "rx": ["ocs0", 2] } ] },
	    { "name": "gpu2", "address": "10.77.0.3", "ports": [ { "name": "lane0",
	      "rate_bps": 50000000, "tx": ["ocs0", 3], "rx": ["ocs0", 3] } ] } ] }
	END
	cat >"$work/schedule.json" <<-END
	{ "format": "lace-schedule/1", "name": "oneway", "ranks": 3,
	  "placement": [0, 1, 2], "ops": [ { "name": "all", "parts": [
	    { "transfers": [[0, 1, 1000000], [1, 2, 1000000], [2, 0, 1000000],
	                    [1, 0, 1000], [2, 1, 1000], [0, 2, 1000]] } ] } ] }
	END
}

oneway_down() {
	lacectl lab down "$lab" >/dev/null 2>&1
	rm -rf "$work"
}

trap oneway_down EXIT

oneway_up() {
	modprobe lace 2>/dev/null
	oneway_files &&
		lacec compile -c "$work/cluster.json" -s "$work/schedule.json" \
			-o "$work/plan.json" &&
		lacectl lab up "$work/cluster.json" name "$lab" &&
		lacectl plan apply "$work/plan.json" --lab "$lab"
}

on() {
	ip netns exec "$lab-$1" "${@:2}"
}

# counter NODE DIRECTION NAME: of the node's only port
counter() {
	lacectl -j -s -n "$lab-$1" lane show |
		jq --arg dir "$2" --arg name "$3" \
			'[.[] | select(.dir == $dir) | .stats[$name]] | add'
}
