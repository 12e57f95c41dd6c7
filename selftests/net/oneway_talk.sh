#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ping, and a conversation of requests and responses as of ssh, between two nodes
# that have a lane one way only.

. selftests/ktap.sh
. selftests/net/lib_oneway.sh

# Serves one connection: for each line "N" it answers N bytes.
server='
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
listener = socket.socket(family)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((sys.argv[1], 7022))
listener.listen()
peer = listener.accept()[0]
for line in peer.makefile("rb"):
    peer.sendall(bytes(i % 251 for i in range(int(line))))
'
client='
import socket, sys
peer = socket.create_connection((sys.argv[1], 7022), 10)
answers = peer.makefile("rb")
for n in [1, 17, 1448, 1449, 30000] * 20:
    peer.sendall(b"%d\n" % n)
    assert answers.read(n) == bytes(i % 251 for i in range(n)), n
'

# talk FROM TO ADDRESS
talk() {
	local pid status
	on "$2" python3 -c "$server" "$3" &
	pid=$!
	poll_until 10 eval "on $2 ss -Htln 'sport = 7022' | grep -q ."
	timeout 30 ip netns exec "$lab-$1" python3 -c "$client" "$3"
	status=$?
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	return "$status"
}

# Neither sender nor receiver is told of another's packets.
nothing_unexpected() {
	local node
	for node in gpu0 gpu1 gpu2; do
		[ "$(counter "$node" rx unexpected)" = 0 ] &&
			[ "$(counter "$node" rx misaddressed)" = 0 ] &&
			[ "$(counter "$node" rx spoofed)" = 0 ] || return 1
	done
}

ktap_plan 10
ktap_check "lab with a lane one way only" oneway_up
[ "$ktap_failed" = 0 ] || exit 1
ktap_check "ping the way of the lane" on gpu0 ping -c 5 -i 0.2 -w 5 10.77.0.2
ktap_check "ping against it" on gpu1 ping -c 5 -i 0.2 -w 5 10.77.0.1
ktap_check "ping over IPv6" on gpu0 ping -c 5 -i 0.2 -w 5 fd77::2
ktap_check "ping of more than a frame" on gpu1 ping -c 3 -i 0.2 -w 5 -s 4000 \
	10.77.0.1
ktap_check "requests the way of the lane" talk gpu0 gpu1 10.77.0.2
ktap_check "requests against it" talk gpu1 gpu0 10.77.0.1
ktap_check "requests over IPv6" talk gpu0 gpu1 fd77::2
ktap_check "requests over IPv6 against it" talk gpu1 gpu0 fd77::1
ktap_check "no frame was where it should not be" nothing_unexpected
ktap_end
