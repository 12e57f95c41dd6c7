#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iperf3 between two nodes that have a lane one way only: both directions, IPv4
# and IPv6, TCP and UDP; and what the lanes' counters say about the way that the
# acknowledgments took.
# timeout: 240

. selftests/ktap.sh
. selftests/net/lib_oneway.sh

declare -A address=([gpu0-4]=10.77.0.1 [gpu1-4]=10.77.0.2
	[gpu0-6]=fd77::1 [gpu1-6]=fd77::2)

# flow FROM TO FAMILY OPTION...: bits per second that arrived
flow() {
	local from=$1 to=$2 family=$3 pid
	shift 3
	on "$to" iperf3 -s -1 "-$family" >/dev/null 2>&1 &
	pid=$!
	poll_until 10 eval "on $to ss -Htln 'sport = 5201' | grep -q ."
	on "$from" iperf3 "-$family" -c "${address[$to-$family]}" -t 3 -J "$@" \
		>"$work/iperf.json"
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	jq '.end | (.sum_received // .sum) | .bits_per_second | floor' \
		"$work/iperf.json"
}

# check_tcp FROM TO FAMILY: enough arrives on a lane of 50 Mb/s
check_tcp() {
	local bps
	bps=$(flow "$1" "$2" "$3") || return 1
	echo "$bps bit/s"
	[ "$bps" -gt 40000000 ]
}

# 20 Mb/s fit, so all of it has to arrive.
check_udp() {
	flow "$1" "$2" "$3" -u -b 20M -l 1200 >/dev/null || return 1
	jq .end.sum "$work/iperf.json"
	jq -e '.end.sum | .lost_percent < 0.5 and .bits_per_second > 19e6' \
		"$work/iperf.json" >/dev/null
}

# Where the bytes of 3 seconds gpu0 -> gpu1 went: the data on the direct lane
# and nowhere else, acknowledgments on the two lanes of the return route, and
# by way of gpu2 to another host.
check_ack_route() {
	local before after data acks relayed
	before="$(counter gpu0 tx bytes) $(counter gpu1 tx bytes) \
		$(counter gpu2 tx relay_bytes)"
	flow gpu0 gpu1 4 >/dev/null || return 1
	after="$(counter gpu0 tx bytes) $(counter gpu1 tx bytes) \
		$(counter gpu2 tx relay_bytes)"
	read -r data acks relayed < <(echo "$before $after" |
		awk '{ print $4 - $1, $5 - $2, $6 - $3 }')
	echo "data $data, acknowledgments $acks, relayed $relayed"
	[ "$data" -gt 15000000 ] && [ "$acks" -gt 1000 ] &&
		[ "$acks" -lt $((data / 20)) ] && [ "$relayed" = "$acks" ]
}

# Data gpu1 -> gpu0 is relayed, its acknowledgments are not.
check_data_relayed() {
	local before after relayed acks
	before="$(counter gpu2 tx relay_bytes) $(counter gpu0 tx bytes)"
	flow gpu1 gpu0 4 >/dev/null || return 1
	after="$(counter gpu2 tx relay_bytes) $(counter gpu0 tx bytes)"
	read -r relayed acks < <(echo "$before $after" |
		awk '{ print $3 - $1, $4 - $2 }')
	echo "relayed $relayed, acknowledgments $acks"
	[ "$relayed" -gt 15000000 ] && [ "$acks" -gt 1000 ] &&
		[ "$acks" -lt $((relayed / 20)) ]
}

ktap_plan 11
ktap_check "lab with a lane one way only" oneway_up
[ "$ktap_failed" = 0 ] || exit 1
for family in 4 6; do
	for way in "gpu0 gpu1" "gpu1 gpu0"; do
		ktap_check "TCP over IPv$family, ${way/ / to }" \
			check_tcp $way $family
		ktap_check "UDP over IPv$family, ${way/ / to }" \
			check_udp $way $family
	done
done
ktap_check "acknowledgments take the return route" check_ack_route
ktap_check "data without a lane is relayed" check_data_relayed
ktap_end
