#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a port takes from the fibre, frame by frame: who it must be from, whom it
must be for, and which counter tells of those that were not.

    k0 ----> k1 ----> k2 ----> k0	ports 0; all other pairs are relayed, but
	     k1 <---- k2		ports 1

Frames are written by hand and sent from the switch into a port.

kernels: 6.12
in turn: debug
"""

import os
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (NODE_SET, RX, SEGMENT_ACTIVATE, TX,
                      Lab, Refused, dev, expect, inside, mac_bytes, main,
                      node_port, poll, prefix, ring, u16,
                      u32)  # noqa: E402

LAB = Lab(3, 2)
IPV4, IPV6, ARP, LLDP = 0x0800, 0x86dd, 0x0806, 0x88cc
FAULTS = ("unexpected", "misaddressed", "spoofed", "hop_limit", "malformed")
STRANGER = "02:aa:aa:aa:aa:aa"


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ip4(source, target, ttl=64, version=0x45, length=None, payload=bytes(26),
        spoil=0):
    def header(check):
        return struct.pack("!BBHHHBBH4s4s", version, 0,
                           20 + len(payload) if length is None else length,
                           1, 0, ttl, 253, check, socket.inet_aton(source),
                           socket.inet_aton(target))
    return header(checksum(header(0)) ^ spoil) + payload


def ip6(source, target, hops=64, version=6, length=None, payload=bytes(26)):
    return struct.pack("!IHBB", version << 28,
                       len(payload) if length is None else length, 59,
                       hops) + socket.inet_pton(socket.AF_INET6, source) + \
        socket.inet_pton(socket.AF_INET6, target) + payload


class Injector:
    """Sends frames out of one output of the switch, into a node's port."""

    def __init__(self, node):
        self.node = node
        with inside(Lab.SWITCH):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.socket.bind(("s%dp0" % node.id, 0))
        self.sender = LAB.nodes[(node.id + 2) % 3].mac(0)

    def send(self, payload, kind=IPV4, source=None, target=None, tag=b""):
        self.socket.send(mac_bytes(target or self.node.mac(0)) +
                         mac_bytes(source or self.sender) + tag +
                         struct.pack("!H", kind) + payload)

    def verdict(self, payload, **how):
        """The counters that went up, less those of bytes."""
        def counters():
            stats = dict(self.node.stats(0, RX))
            stats.pop("bytes"), stats.pop("relay_bytes")
            return stats
        before = counters()
        self.send(payload, **how)
        poll(lambda: counters() != before, "the frame is counted", 5)
        after = counters()
        return {k for k in after if after[k] != before[k]}


def table(node, cases):
    injector = Injector(node)
    for name, how, counters in cases:
        got = injector.verdict(how.pop("payload"), **how)
        expect(got == counters, "%s: %s" % (name, got))


def accepted():
    """Sound frames from the right port are accepted."""
    k0, k1, k2 = LAB.nodes
    table(k1, [
        ("IPv4", dict(payload=ip4(k0.v4, k1.v4)), {"packets"}),
        ("IPv6", dict(payload=ip6(k0.v6, k1.v6), kind=IPV6), {"packets"}),
        ("padded", dict(payload=ip4(k0.v4, k1.v4, payload=b"") + bytes(26)),
         {"packets"}),
        ("last hop", dict(payload=ip4(k0.v4, k1.v4, ttl=1)), {"packets"}),
        ("to be relayed", dict(payload=ip4(k0.v4, k2.v4)),
         {"packets", "relay_packets"}),
        ("to be relayed, IPv6", dict(payload=ip6(k0.v6, k2.v6), kind=IPV6),
         {"packets", "relay_packets"}),
    ])
    table(k2, [
        ("relayed to here", dict(payload=ip4(k0.v4, k2.v4)), {"packets"}),
    ])


def unexpected():
    """Frames from another port, or for another one, are dropped."""
    k0, k1, k2 = LAB.nodes
    sound = ip4(k0.v4, k1.v4)
    table(k1, [
        ("stranger", dict(payload=sound, source=STRANGER), {"unexpected"}),
        ("other node", dict(payload=sound, source=k2.mac(0)), {"unexpected"}),
        ("other target", dict(payload=sound, target=STRANGER),
         {"unexpected"}),
        ("not IP, stranger", dict(payload=bytes(46), kind=ARP,
                                  source=STRANGER), {"unexpected"}),
    ])


def malformed():
    """Frames that hold no sound IP packet are dropped."""
    k0, k1 = LAB.nodes[:2]
    everybody = "ff:ff:ff:ff:ff:ff"
    table(k1, [
        ("ARP", dict(payload=bytes(46), kind=ARP), {"malformed"}),
        ("broadcast", dict(payload=ip4(k0.v4, k1.v4), target=everybody),
         {"malformed"}),
        ("empty", dict(payload=b""), {"malformed"}),
        ("19 bytes", dict(payload=ip4(k0.v4, k1.v4)[:19]), {"malformed"}),
        ("version", dict(payload=ip4(k0.v4, k1.v4, version=0x65)),
         {"malformed"}),
        ("IPv6 as IPv4", dict(payload=ip6(k0.v6, k1.v6)), {"malformed"}),
        ("header length", dict(payload=ip4(k0.v4, k1.v4, version=0x44)),
         {"malformed"}),
        ("options not there", dict(payload=ip4(k0.v4, k1.v4, version=0x4f)),
         {"malformed"}),
        ("shorter than header", dict(payload=ip4(k0.v4, k1.v4, length=19)),
         {"malformed"}),
        ("longer than frame", dict(payload=ip4(k0.v4, k1.v4, length=47)),
         {"malformed"}),
        ("length 0", dict(payload=ip4(k0.v4, k1.v4, length=0)),
         {"malformed"}),
        ("checksum", dict(payload=ip4(k0.v4, k1.v4, spoil=1)),
         {"malformed"}),
        ("IPv6, 39 bytes", dict(payload=ip6(k0.v6, k1.v6)[:39], kind=IPV6),
         {"malformed"}),
        ("IPv6, version", dict(payload=ip6(k0.v6, k1.v6, version=4),
                               kind=IPV6), {"malformed"}),
        ("IPv6, longer than frame",
         dict(payload=ip6(k0.v6, k1.v6, length=27), kind=IPV6),
         {"malformed"}),
        ("VLAN", dict(payload=ip4(k0.v4, k1.v4),
                      tag=struct.pack("!HH", 0x8100, 5)), {"malformed"}),
    ])


def addresses():
    """Source and target have to be a pair that comes in on this lane."""
    k0, k1, k2 = LAB.nodes
    table(k1, [
        ("no node", dict(payload=ip4("10.78.0.1", k1.v4)), {"spoofed"}),
        ("itself", dict(payload=ip4(k1.v4, k1.v4)), {"spoofed"}),
        ("comes in on another lane", dict(payload=ip4(k2.v4, k1.v4)),
         {"spoofed"}),
        ("to no node", dict(payload=ip4(k0.v4, "10.78.0.1")),
         {"misaddressed"}),
        ("to multicast", dict(payload=ip4(k0.v4, "224.0.0.1")),
         {"misaddressed"}),
        ("pair not through here", dict(payload=ip4(k2.v4, k0.v4)),
         {"misaddressed"}),
        ("IPv6, no node", dict(payload=ip6("fd78::1", k1.v6), kind=IPV6),
         {"spoofed"}),
        ("IPv6, to no node", dict(payload=ip6(k0.v6, "ff02::1"), kind=IPV6),
         {"misaddressed"}),
    ])
    # k2 -> k0 is a circuit; what says it came that way must not come by k1.
    table(k2, [
        ("own address", dict(payload=ip4(k2.v4, k0.v4)), {"spoofed"}),
        ("relayed pair", dict(payload=ip4(k1.v4, k0.v4)),
         {"packets", "relay_packets"}),
    ])


def hop_limit():
    """A packet to be relayed that has no hop left ends, and its sender is told."""
    k0, k1, k2 = LAB.nodes
    table(k2, [
        ("TTL 1", dict(payload=ip4(k1.v4, k0.v4, ttl=1)), {"hop_limit"}),
        ("TTL 0", dict(payload=ip4(k1.v4, k0.v4, ttl=0)), {"hop_limit"}),
        ("IPv6", dict(payload=ip6(k1.v6, k0.v6, hops=1), kind=IPV6),
         {"hop_limit"}),
    ])
    for address, words in ((k0.v4, "Time to live exceeded"),
                           (k0.v6, "Time exceeded")):
        output = k1.run("ping", "-c", "1", "-W", "2", "-t", "1", address,
                        check=False)
        expect(words in output, output)


def control():
    """LLDP goes past lace to who listens on the port."""
    node = LAB.nodes[1]
    injector = Injector(node)
    with inside(node.netns):
        listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                 socket.htons(LLDP))
        listener.bind(("p0", LLDP))
        listener.settimeout(5)
    before = node.stats(0, RX)
    injector.send(b"hello", kind=LLDP, target="01:80:c2:00:00:0e",
                  source=STRANGER)
    expect(listener.recv(100)[14:19] == b"hello", "not received")
    expect(node.stats(0, RX) == before, "counted")


def lace0_sees():
    """What is delivered is received by lace0, and nothing else is."""
    k0, k1 = LAB.nodes[:2]
    before = k1.received()
    injector = Injector(k1)
    injector.verdict(ip4(k0.v4, k1.v4))
    injector.verdict(ip4(k0.v4, k1.v4), source=STRANGER)
    injector.verdict(ip4(k0.v4, LAB.nodes[2].v4))
    expect(k1.received() == before + 1, k1.received() - before)


def misrouted():
    """A circuit that leads elsewhere than the plan says delivers nothing: it is
    dark to who sends, and what is for it waits until it is proved."""
    k0, k1, k2 = LAB.nodes
    before, held = k2.stats(0, RX), k0.dev_stats()["gate_held"]
    rx_before = k2.received()
    LAB.cut(1, 0)
    LAB.join(0, 0, 2, 0)
    try:
        poll(lambda: "closed" in k0.lane(0, TX), "the lane is closed")
        k0.run("ping", "-c", "3", "-i", "0.2", "-W", "1", k1.v4, check=False)
        after = k2.stats(0, RX)
        expect(k0.dev_stats()["gate_held"] == held + 3, k0.dev_stats())
        expect(after["packets"] == before["packets"], after)
        expect(k2.received() == rx_before, "lace0 received something")
    finally:
        LAB.join(0, 0, 1, 0)
        LAB.join(1, 0, 2, 0)


def no_circuit():
    """Without an active segment nothing is accepted and nothing is sent."""
    k0, k1 = LAB.nodes[:2]
    k1.netlink.set(SEGMENT_ACTIVATE, dev())
    try:
        expect(Injector(k1).verdict(ip4(k0.v4, k1.v4)) == {"unexpected"},
               "accepted")
        before = k1.dev_stats()["tx_no_lane"]
        k1.run("ping", "-c", "1", "-W", "1", k0.v4, check=False)
        expect(k1.dev_stats()["tx_no_lane"] > before, k1.dev_stats())
    finally:
        k1.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 0))


def no_node():
    """A packet for no node is counted, and its sender is told."""
    k0 = LAB.nodes[0]
    before = k0.dev_stats()["tx_no_node"]
    output = k0.run("ping", "-c", "1", "-W", "2", "10.77.0.99", check=False)
    expect("Host Unreachable" in output, output)
    output = k0.run("ping", "-c", "1", "-W", "2", "fd77::99", check=False)
    expect("unreachable" in output, output)
    expect(k0.dev_stats()["tx_no_node"] >= before + 2, k0.dev_stats())


def new_mac():
    """A node that gets another MAC address is known by it at once."""
    k0, k1 = LAB.nodes[:2]
    renamed = u16(3, 0) + prefix(k0.v4) + prefix(k0.v6) + \
        node_port(0, STRANGER)
    sound = ip4(k0.v4, k1.v4)
    k1.netlink.set(NODE_SET, dev(), renamed)
    try:
        table(k1, [
            ("old", dict(payload=sound), {"unexpected"}),
            ("new", dict(payload=sound, source=STRANGER), {"packets"})])
    finally:
        k1.netlink.set(NODE_SET, dev(), k0.description())


def prefixes():
    """The longest prefix that an address is in says whose it is, at once when
    it changes, whatever the number of prefixes."""
    k0, k1, k2 = LAB.nodes
    many = b"".join(prefix("10.100.%d.%d/31" % (i // 128, i % 128 * 2))
                    for i in range(400)) + \
        b"".join(prefix("fd99:%x::/48" % i) for i in range(400))

    def behind(node, more):
        k1.netlink.set(NODE_SET, dev(), node.description() + more)

    def judge(name, verdict):
        table(k1, [(name + a, dict(payload=ip4(a, k1.v4)), verdict)
                   for a in ("10.100.0.7", "10.100.3.31")] +
              [(name + a, dict(payload=ip6(a, k1.v6), kind=IPV6), verdict)
               for a in ("fd99::1", "fd99:18f::7")])
    try:
        for turn in ("first ", "again "):
            judge(turn + "nobody's ", {"spoofed"})
            behind(k0, many)
            judge(turn + "the peer's ", {"packets"})
            behind(k2, b"".join(map(prefix, (
                "10.100.0.7", "10.100.3.31", "fd99::1/128", "fd99:18f::/64"))))
            judge(turn + "another's ", {"spoofed"})
            behind(k2, b"")
            judge(turn + "the peer's once more ", {"packets"})
            behind(k0, b"")
        judge("nobody's at last ", {"spoofed"})
    finally:
        behind(k2, b"")
        behind(k0, b"")


def dead_port():
    """What is for a lane whose port went away waits, and one that comes back
    works."""
    k0, k1 = LAB.nodes[:2]

    def waits():
        before, got = k0.dev_stats()["gate_held"], k1.received()
        k0.run("ping", "-c", "1", "-W", "1", k1.v4, check=False)
        expect(k0.dev_stats()["gate_held"] > before, k0.dev_stats())
        expect(k1.received() == got, "it did not wait")

    k0.ip("link", "set", "p0", "nomaster")
    waits()
    k0.ip("link", "set", "p0", "master", "lace0")
    k0.run("ping", "-c", "1", "-W", "2", k1.v4)
    k0.ip("link", "set", "p0", "down")
    waits()
    k0.ip("link", "set", "p0", "up")
    k0.run("ping", "-c", "1", "-W", "2", k1.v4)


with LAB:
    RING, ROUTES = ring(3)
    LAB.plan(0, RING + [[2, 1, 1, 1]],
             [r for r in ROUTES if r[:2] != [2, 1]])
    main(accepted, unexpected, malformed, addresses, hop_limit, control,
         lace0_sees, misrouted, no_circuit, no_node, new_mac, prefixes,
         dead_port)
