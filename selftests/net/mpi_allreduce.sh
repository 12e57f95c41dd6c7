#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unmodified Open MPI on eight nodes of a lab: its daemons and its TCP transport
# use lace0 and nothing else, and an all-reduce gets the right sums.
#
# The plan is a ring in both directions, which an all-to-all makes routes on for
# all other pairs: MPI talks to whom it likes.
# timeout: 240

. selftests/ktap.sh

lab=mpi
nodes=8
work=$(mktemp -d)
agent=$PWD/selftests/net/mpi/rsh
export LACE_LAB=$lab LACE_CLUSTER=$work/cluster.json
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Any pair may talk, data too, and has no lane of its own.
make_cluster() {
	lacec cluster --servers "$nodes" --ports 2 --rate 100M |
		jq '.relay = "data" | .nodes |= [to_entries[] | .value +
			{ address: "10.77.0.\(.key + 1)" }]'
}

make_schedule() {
	cat <<-END
	{ "format": "lace-schedule/1", "name": "mpi", "ranks": $nodes,
	  "placement": [0, 1, 2, 3, 4, 5, 6, 7], "ops": [ { "name": "all", "parts": [
	    { "collective": "all_reduce", "algorithm": "ring", "bytes": 8000000,
	      "groups": [[0, 1, 2, 3, 4, 5, 6, 7]] },
	    { "collective": "all_to_all", "algorithm": "direct", "bytes": 8000,
	      "groups": [[0, 1, 2, 3, 4, 5, 6, 7]] } ] } ] }
	END
}

down() {
	lacectl lab down "$lab" >/dev/null 2>&1
	rm -rf "$work"
}

trap down EXIT

up() {
	modprobe lace 2>/dev/null
	make_cluster >"$work/cluster.json" &&
		make_schedule >"$work/schedule.json" &&
		lacec compile -c "$work/cluster.json" -s "$work/schedule.json" \
			-o "$work/plan.json" &&
		lacectl lab up "$work/cluster.json" name "$lab" &&
		lacectl plan apply "$work/plan.json" --lab "$lab"
}

all_reduce() {
	seq 1 "$nodes" | sed 's/.*/10.77.0.& slots=1/' >"$work/hosts"
	"$agent" 10.77.0.1 timeout 120 mpirun -np "$nodes" \
		--hostfile "$work/hosts" --mca plm_rsh_agent "$agent" \
		--mca btl tcp,self --mca btl_tcp_if_include lace0 \
		--mca oob_tcp_if_include lace0 "$work/allreduce" >"$work/out" 2>&1
	status=$?
	cat "$work/out"
	[ "$status" = 0 ] && grep -qx "sums right: 3 of $nodes ranks" "$work/out"
}

# The longest vector alone is 2 MiB, which each rank sends and receives about
# twice; lanes that carried less were not what MPI used.
lanes_carried_it() {
	for node in $(jq -r '.nodes[].name' "$work/cluster.json"); do
		bytes=$(lacectl -j -s -n "$lab-$node" lane show |
			jq '[.[] | select(.dir == "tx") | .stats.bytes] | add')
		echo "$node sent $bytes bytes"
		[ "$bytes" -gt 2000000 ] || return 1
	done
}

ktap_plan 4
ktap_check "compiler of MPI" mpicc -O2 -Wall -Wextra -Werror \
	selftests/net/mpi/allreduce.c -o "$work/allreduce"
ktap_check "lab of $nodes nodes" up
[ "$ktap_failed" = 0 ] || exit 1
ktap_check "all-reduce over lace0 has the right sums" all_reduce
ktap_check "its bytes went over the lanes" lanes_carried_it
ktap_end
