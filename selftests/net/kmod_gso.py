#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""TCP in pieces of more than 64 KiB: who may set how large, that each of their
frames is counted, and that nothing is wrong where a lane does not take them.

    k0 <====> k1	two ports each, both ways

kernels: 6.1 6.12
timeout: 300
"""

import hashlib
import json
import math
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (RX, TX, Lab, expect, inside, main, poll, run,  # noqa: E402
                      succeeds)
from lib_trace import Trace  # noqa: E402

RAISED, USUAL = 196608, 65536
CIRCUITS = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 1]]
LAB = Lab(2, 2, gso=None)
DATA = os.urandom(1 << 20) * 16
# A frame's headers: Ethernet, IP, and TCP with a time stamp.
HEADERS = {socket.AF_INET: 14 + 20 + 32, socket.AF_INET6: 14 + 40 + 32}
MTU = 1500
# IPv4 has no limit of its own, and never exceeds 64 KiB, before Linux 6.3.
IP4_IS_BIG = [int(x) for x in os.uname().release.split(".")[:2]] >= [6, 3]


def limit(node, device):
    return json.loads(node.ip("-d", "-j", "link", "show",
                              device))[0]["gso_max_size"]


def is_at(node, **wanted):
    found = {device: limit(node, device) for device in wanted}
    expect(found == wanted, (found, wanted))


def limits():
    """Ports are raised and put back, settings of others stay, lace0 follows."""
    node = LAB.nodes[0]
    anew()
    node.ip("link", "del", "lace0")
    is_at(node, p0=USUAL, p1=USUAL)
    node.ip("link", "add", "lace0", "type", "lace")
    is_at(node, lace0=USUAL)
    node.ip("link", "set", "p0", "master", "lace0")
    is_at(node, lace0=RAISED, p0=RAISED)
    # ip sets the limit last, and nobody is told.
    node.ip("link", "set", "p1", "gso_max_size", "30000", "master", "lace0")
    node.ip("link", "set", "p1", "down")
    node.ip("link", "set", "p1", "up")
    is_at(node, lace0=30000, p0=RAISED, p1=30000)
    node.ip("link", "set", "p1", "nomaster")
    is_at(node, lace0=RAISED, p1=30000)
    # Set by somebody else, it stays.
    node.ip("link", "set", "lace0", "gso_max_size", "40000")
    node.ip("link", "set", "p1", "gso_max_size", str(USUAL))
    node.ip("link", "set", "p1", "master", "lace0")
    is_at(node, lace0=40000, p0=RAISED, p1=RAISED)
    node.ip("link", "set", "p0", "gso_max_size", "50000")
    node.ip("link", "set", "p0", "nomaster")
    is_at(node, lace0=40000, p0=50000)
    node.ip("link", "set", "p0", "gso_max_size", str(USUAL))
    # No more than a driver takes.
    expect(not succeeds("ip", "-n", node.netns, "link", "set", "lace0",
                        "gso_max_size", "600000"), "not refused")
    is_at(node, lace0=40000)
    node.ip("link", "del", "lace0")
    is_at(node, p0=USUAL, p1=USUAL)


def anew():
    """lace0 in both namespaces, with the limits that it has by itself."""
    for node in LAB.nodes:
        node.netlink.close()
        if "lace0" in node.ip("-br", "link", "show"):
            node.ip("link", "del", "lace0")
        LAB.up_lace(node)
        for port in range(2):
            run("ip", "-n", LAB.SWITCH, "link", "set",
                "s%dp%d" % (node.id, port), "gso_max_size", str(RAISED))
    LAB.plan(0, CIRCUITS)


def serve(listener, found):
    connection, _ = listener.accept()
    digest = hashlib.sha256()
    while data := connection.recv(1 << 20):
        digest.update(data)
    found.append(digest.digest())


def carry(family):
    """DATA from k0 to k1, over one connection."""
    address = LAB.nodes[1].v4 if family == socket.AF_INET else LAB.nodes[1].v6
    found = []
    with inside(LAB.nodes[1].netns):
        listener = socket.create_server((address, 5300), family=family)
    with inside(LAB.nodes[0].netns):
        client = socket.socket(family)
    server = threading.Thread(target=serve, args=(listener, found))
    server.start()
    with listener, client:
        client.connect((address, 5300))
        client.sendall(DATA)
        client.shutdown(socket.SHUT_WR)
        server.join()
    expect(found == [hashlib.sha256(DATA).digest()], "data is wrong")


def agree():
    """Both ends of all lanes count the same."""
    def sums(node, direction):
        stats = [LAB.nodes[node].stats(port, direction) for port in range(2)]
        return [sum(one[field] for one in stats)
                for field in ("packets", "bytes")]
    poll(lambda: sums(0, TX) == sums(1, RX), "counters agree", 5)


def frames_of(event, family):
    """How many frames the bytes of an event are."""
    payload = event["bytes"] - event["frames"] * HEADERS[family]
    return math.ceil(payload / (MTU + 14 - HEADERS[family]))


def counted(family, is_big):
    anew()
    with Trace("lace_send") as trace:
        carry(family)
    pieces = [e for e in trace.of("lace_send") if e["bytes"] > 20000]
    wrong = [e for e in pieces if frames_of(e, family) != e["frames"]]
    expect(not wrong, wrong[:3])
    largest = max(e["bytes"] for e in pieces)
    # 64 KiB make 68 of frames.
    expect((largest > 72000) == is_big, largest)
    agree()


def over_ip4():
    """IPv4: pieces of more than 64 KiB where the kernel has them."""
    counted(socket.AF_INET, IP4_IS_BIG)


def over_ip6():
    """IPv6: the same, and the header that says so is none of the fibre's."""
    counted(socket.AF_INET6, True)


def cut_up():
    """A lane that does not take such pieces gets them cut up."""
    anew()
    for node in LAB.nodes:
        node.run("ethtool", "-K", "p0", "tso", "off")
        node.ip("link", "set", "p1", "gso_max_size", str(USUAL))
    for family in HEADERS:
        carry(family)
    agree()
    for port in range(2):
        expect(LAB.nodes[0].stats(port, TX)["packets"] > 100, port)


with LAB:
    main(over_ip4, over_ip6, cut_up, limits)
