# SPDX-License-Identifier: GPL-2.0
#
# What the demo and the benchmark share: they show what they do. Sourced from
# scripts that run in the top folder.

# step TEXT: a heading
step() {
	printf '\n==== %s ====\n' "$*"
}

# say TEXT: a word to the reader
say() {
	printf '\n%s\n' "$*" | fold -s -w 78
}

# show COMMAND...: prints a command as one would type it, and runs it
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

# play CASE: in the lab of that name, by the plans of both schedulers; results
# are in $out/CASE-SCHEDULER.json
play() {
	for scheduler in symmetric lace; do
		show lace-replay -l "$1" -c "$out/$1-cluster.json" \
			-s "$out/$1-schedule.json" \
			-p "$out/$1-$scheduler.plan" \
			-o "$out/$1-$scheduler.json"
	done
}

# lab CASE SCALE: the nodes of a cluster, with its rates times SCALE. TCP here
# takes packets that overtake each other for lost, and two lanes to one peer
# make some overtake: it is told to wait for more of them.
lab() {
	show lacectl lab up "$out/$1-cluster.json" name "$1" \
		rate-scale "$2" \
		sysctl net.ipv4.tcp_recovery=0 \
		sysctl net.ipv4.tcp_reordering=127
}

# compile CASE: the plans of both schedulers
compile() {
	for scheduler in symmetric lace; do
		show lacec compile -c "$out/$1-cluster.json" \
			-s "$out/$1-schedule.json" --scheduler "$scheduler" \
			-o "$out/$1-$scheduler.plan"
	done
}
