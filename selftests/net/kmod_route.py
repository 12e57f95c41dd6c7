#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A pair of nodes with more than one way: when a relay dies, or a lane behind it,
the other one is taken, and the first one again when it has been verified.

    k0/0 ----> k1/0 ----> k3/0		the route from k0 to k3
    k0/1 ----> k2/0 ----> k3/1		its alternate
    k3/0 ----> k0/0    k1/1 ----> k0/1	ways back

timeout: 400
kernels: 6.1 6.12
in turn: debug
"""

import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (DARK, DEV_GET, DEV_SET, SEGMENT_ACTIVATE,  # noqa: E402
                      SEGMENT_GET, SEGMENT_NTF, SEGMENT_SET, SLOW, TX, UP,
                      Datagrams, Lab, Netlink, Refused, attr, circuit, dev,
                      expect, inside, mac_bytes, main, nest, poll, route, u16,
                      u32)

CIRCUITS = [[0, 0, 1, 0], [1, 0, 3, 0], [0, 1, 2, 0], [2, 0, 3, 1],
            [3, 0, 0, 0], [1, 1, 0, 1]]
ROUTES = [[0, 3, [1]], [3, 1, [0]], [2, 0, [3]], [3, 2, [0]]]
ALTERNATES = [[0, 3, [2]]]
HEADER = "!BBBBHHHBBHHQQQIHBB"	# of a message about a route
LIMIT_S = 3.9 * SLOW	# three intervals of 1 s, and not the fourth
LAB = Lab(4, 2)


def k(number):
    return LAB.nodes[number]


def routes(node=0):
    """{next: route} of those from k0 to k3."""
    found = k(node).netlink.get(SEGMENT_GET, dev(), u32(3, 0))["routes"]
    return {r.get("next"): r for r in found if (r["from"], r["to"]) == (0, 3)}


def broken():
    return {hop for hop, one in routes().items() if "broken" in one}


def sent(port):
    return k(0).stats(port, TX)["packets"]


def reaches(count=3):
    return " 0% packet loss" in k(0).run(
        "ping", "-c", str(count), "-i", "0.2", "-W", "2", k(3).v4, check=False)


def goes_over(port):
    """Packets for k3 arrive, and leave by this port and no other."""
    before = sent(0), sent(1)
    expect(reaches(), "k3 is not reached")
    expect(sent(1 - port) == before[1 - port], "the other way is used")
    expect(sent(port) >= before[port] + 3, "not over %d" % port)


def all_up():
    for source, port, _, _ in CIRCUITS:
        poll(lambda: k(source).lane(port, TX)["state"] == UP and
             "closed" not in k(source).lane(port, TX),
             "lane %d/%d is up" % (source, port), 20)
    poll(lambda: not broken(), "routes are whole", 20)


def set_interval(msecs):
    for node in LAB.nodes:
        node.netlink.set(DEV_SET, dev(), u32(11, msecs))


def told(monitor, wanted):
    """Wait for the event that says which routes are broken."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for message in monitor.receive():
            if message.cmd != SEGMENT_NTF:
                continue
            got = {r["next"] for r in message.decoded().get("routes", ())
                   if "broken" in r}
            if got == wanted:
                return
    raise AssertionError("no event: %s broken" % wanted)


def known():
    """Alternates are kept in order, and none is used as long as the first works.
    """
    all_up()
    for node, hops in ((0, {1, 2}), (1, {3}), (2, {3}), (3, {None})):
        expect(set(routes(node)) == hops, routes(node))
    expect("alternate" in routes()[2] and "alternate" not in routes()[1],
           routes())
    expect("alternate" in routes(2)[3], routes(2))
    goes_over(0)


def second_hop():
    """A lane behind the relay goes dark: the other route, and an event."""
    all_up()
    set_interval(1000)
    time.sleep(2)
    with Netlink(k(0).netns) as monitor:
        monitor.join()
        begin = time.monotonic()
        LAB.cut(1, 0)
        told(monitor, {1})
        took = time.monotonic() - begin
        expect(k(0).lane(0, TX)["state"] == UP, "the first lane is dark")
        goes_over(1)
        set_interval(100)
        LAB.join(1, 0, 3, 0)
        told(monitor, set())
    all_up()
    goes_over(0)
    expect(took < LIMIT_S, "after %.1f s of intervals of 1 s" % took)


def relay_dies():
    """A relay's device goes: the other route, until it is back and verified."""
    all_up()
    k(1).netlink.close()
    k(1).netlink = None
    k(1).ip("link", "del", "lace0")
    try:
        poll(lambda: broken() == {1}, "the route is broken")
        expect(k(0).lane(0, TX)["state"] == DARK, "the lane is not dark")
        goes_over(1)
    finally:
        LAB.up_lace(k(1))
    time.sleep(1)
    expect(broken() == {1}, "used, though it does not relay")
    LAB.load(k(1), 0, CIRCUITS, ROUTES, ALTERNATES)
    k(1).netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 0))
    all_up()
    goes_over(0)


def none_left():
    """Without another way what is sent waits, and goes when there is one."""
    all_up()
    LAB.cut(0, 0)
    LAB.cut(0, 1)
    poll(lambda: broken() == {1, 2}, "both are broken")
    poll(lambda: k(0).netlink.get(DEV_GET, dev()).get("closed") == 3,
         "both lanes are closed")
    with Datagrams(k(0), k(3), 7000) as held:
        before = k(0).dev_stats()["gate_held"]
        held.send(100)
        expect(k(0).dev_stats()["gate_held"] == before + 100, k(0).dev_stats())
        LAB.join(0, 1, 2, 0)	# the alternate
        while broken() == {1, 2}:
            held.send(1)	# behind those that wait, on their new way, too
        held.arrive()
    poll(lambda: broken() == {1}, "the alternate works")
    goes_over(1)
    LAB.join(0, 0, 1, 0)
    all_up()
    goes_over(0)


def remembered():
    """What is broken is so in the next segment, too, until there is a reply."""
    all_up()
    for node in LAB.nodes:
        LAB.load(node, 1, CIRCUITS, ROUTES, ALTERNATES)
    LAB.cut(1, 0)
    poll(lambda: broken() == {1}, "the route is broken")
    for segment in (1, 0):
        for node in LAB.nodes:
            node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, segment))
        goes_over(1)
    expect(k(0).lane(0, TX)["state"] == UP, "the first lane is dark")
    LAB.join(1, 0, 3, 0)
    all_up()
    goes_over(0)


def off():
    """Without the lane protocol no route is known to be broken."""
    all_up()
    LAB.cut(1, 0)
    poll(lambda: broken() == {1}, "the route is broken")
    goes_over(1)
    set_interval(0)
    expect(not broken(), routes())
    before = sent(0)
    expect(not reaches() and sent(0) >= before + 3, "not sent that way")
    LAB.join(1, 0, 3, 0)
    set_interval(100)
    all_up()
    goes_over(0)


def refused():
    """Alternates that make no sense."""
    def load(node, words, *attrs):
        try:
            node.netlink.set(SEGMENT_SET, dev(), u32(3, 9), *attrs)
        except Refused as error:
            expect(words in error.message, error)
            return
        raise AssertionError("accepted: not %s" % words)
    first = circuit(0, TX, 1, 0) + circuit(1, TX, 2, 0)
    load(k(0), "no circuit or route before it", first,
         route(0, 3, None, 1, True))
    load(k(0), "another path of the pair goes there", first,
         route(0, 3, None, 1), route(0, 3, None, 1, True))
    load(k(0), "the pair has another route", first, route(0, 3, None, 1),
         route(0, 3, None, 2))
    load(k(0), "not for the user", first, nest(
        6, u16(1, 0), u16(2, 3), u16(4, 1), attr(6, b"")))
    both = circuit(0, TX, 3, 0) + circuit(0, 1, 0, 0) + \
        circuit(1, 1, 2, 0) + circuit(1, TX, 2, 1)
    load(k(1), "another route of the pair passes here", both,
         route(0, 3, 0, 3), route(0, 3, 2, 3, True))
    load(k(3), "another path of the pair comes from there",
         circuit(0, 1, 1, 0), route(0, 3, 1), route(0, 3, 1, None, True))


def forged():
    """Only a reply to one of the last probes, once, says that a route works."""
    all_up()
    with inside(LAB.SWITCH):
        fibre = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                              socket.htons(3))
    fibre.bind(("s0p0", 3))
    fibre.settimeout(10)
    reply = None
    while not reply:
        frame, address = fibre.recvfrom(65536)
        if address[1] == 0x88b5 and frame[15] == 6 and \
           address[2] == socket.PACKET_OUTGOING:
            reply = list(struct.unpack_from(HEADER, frame, 14))
    expect(reply[5:9] == [3, 0, 0, reply[8]] and reply[8] in (0, 1), reply)
    lan = mac_bytes(k(0).mac(0)) + mac_bytes(k(3).mac(0)) + \
        struct.pack("!H", 0x88b5)
    LAB.cut(0, 0)
    LAB.cut(0, 1)
    poll(lambda: broken() == {1, 2}, "both are broken")
    for field, more in ((None, 0), (11, 1), (12, 1 << 20), (13, 1), (14, 1),
                        (8, 5)):
        wrong = list(reply)
        if field is not None:
            wrong[field] += more
        before = k(0).acks(0, 1)["replayed"]
        fibre.send(lan + struct.pack(HEADER, *wrong))
        poll(lambda: k(0).acks(0, 1)["replayed"] == before + 1,
             "field %s is refused" % field)
    expect(broken() == {1, 2}, "believed")
    fibre.close()
    LAB.join(0, 0, 1, 0)
    LAB.join(0, 1, 2, 0)
    all_up()


with LAB:
    LAB.plan(0, CIRCUITS, ROUTES, ALTERNATES)
    main(known, second_hop, relay_dies, none_left, remembered, off,
         refused, forged)
