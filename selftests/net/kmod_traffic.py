#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Traffic over one-way lanes: a ring of three nodes with one port each.

    k0 ----> k1 ----> k2 ----> k0

Packets from k1 to k0 are relayed by k2.

kernels: 6.1 6.12
in turn: debug
"""

import os
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (Lab, RX, SEGMENT_ACTIVATE, SLOW, TX, dev,  # noqa: E402
                      expect, inside, iperf, main, ring, u32)

LAB = Lab(3, 1)
# A device that tells TCP of congestion for 8 s ends a connection that has
# nothing under way.
OUTAGE_S = 12


def ping(source, target, *options):
    output = source.run("ping", "-c", "3", "-i", "0.2", "-W", "2", *options,
                        target, check=False)
    expect(" 0% packet loss" in output, output)


def ping_all():
    """ping between all pairs, IPv4 and IPv6."""
    for source in LAB.nodes:
        for target in LAB.nodes:
            if source is not target:
                ping(source, target.v4)
                ping(source, target.v6)


def big_ping():
    """Fragments arrive."""
    ping(LAB.nodes[0], LAB.nodes[1].v4, "-s", "8000")
    ping(LAB.nodes[0], LAB.nodes[1].v6, "-s", "8000")


def tcp():
    """TCP both ways over a lane that is there one way only."""
    for address in ("v4", "v6"):
        for source, target in ((0, 1), (1, 0)):
            server = LAB.nodes[target]
            end = iperf(LAB.nodes[source], server, getattr(server, address),
                        seconds=2 * SLOW)
            expect(end["sum_received"]["bytes"] > 1000000, end)


def udp():
    """UDP both ways, none out of order."""
    for address in ("v4", "v6"):
        for source, target in ((0, 1), (1, 0)):
            server = LAB.nodes[target]
            end = iperf(LAB.nodes[source], server, getattr(server, address),
                        "-u", "-b", "5M", "-l", "1200", seconds=2)
            stream = end["streams"][0]["udp"]
            # What the lanes lose is counted below; a busy machine may still
            # drop at the socket.
            expect(end["sum"]["lost_percent"] < 5, end)
            expect(stream["out_of_order"] == 0, end)


def counters():
    """Lane counters: relayed packets, both ends agree, nothing amiss."""
    relay = LAB.nodes[2].stats(0, TX)
    expect(relay["relay_packets"] > 1000, relay)
    for node in LAB.nodes:
        sent = node.stats(0, TX)
        got = LAB.nodes[(node.id + 1) % 3].stats(0, RX)
        expect(sent["packets"] == got["packets"], (sent, got))
        expect(sent["bytes"] == got["bytes"], (sent, got))
        for name in ("unexpected", "misaddressed", "spoofed", "malformed",
                     "hop_limit", "dropped"):
            expect(not sent[name] and not got[name], (node.id, sent, got))


def connection(source, target, address):
    """Both ends of a TCP connection, which may be left alone for a minute."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with inside(target.netns):
        listener = socket.create_server((address, 0), family=family)
    with inside(source.netns):
        out = socket.create_connection(listener.getsockname()[:2], timeout=60)
    incoming = listener.accept()[0]
    incoming.settimeout(60)
    listener.close()
    return out, incoming


def outage():
    """What TCP is given while there are no lanes goes when they are back."""
    source, target = LAB.nodes[:2]
    pairs = [connection(source, target, a) for a in (target.v4, target.v6)]
    source.netlink.set(SEGMENT_ACTIVATE, dev())
    for out, _ in pairs:
        out.send(b"late")
    time.sleep(OUTAGE_S)
    source.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 0))
    for out, incoming in pairs:
        expect(incoming.recv(4) == b"late", "other data")
        out.close()
        incoming.close()


def run():
    with LAB:
        LAB.plan(0, *ring(3))
        main(ping_all, big_ping, tcp, udp, counters, outage)


run()
