#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tracepoints of the module: each state change and each drop is there, and says
the same as the counters.

    k0 ====> k1 ----> k2 ----> k0	ports 0; k0 => k1 also ports 1

Answers for k0 => k1 are relayed by k2, as all packets from k1 to k0 are.

kernels: 6.12
in turn: debug
timeout: 300
"""

import os
import re
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (LEAST_RTT_NS, NODE_SET, RX, SEGMENT_ACTIVATE,  # noqa: E402
                      SLOW, TX, UP, Lab, dev, expect, inside, iperf,
                      mac_bytes, main, node_port, poll, prefix, run, u16, u32)
from lib_trace import EVENTS, TRACING, Trace, write  # noqa: E402

NAMES = {"lace_send", "lace_receive", "lace_relay", "lace_drop",
         "lace_lane_state", "lace_mark", "lace_ack", "lace_reorder_hold",
         "lace_reorder_release", "lace_segment", "lace_phase_begin",
         "lace_phase_end", "lace_transition_end", "lace_device_gone"}
CIRCUITS = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 2, 0], [2, 0, 0, 0]]
ROUTES = [[1, 0, [2]], [2, 1, [0]], [0, 2, [1]]]
LAB = Lab(3, 2, rate="50mbit")


def inode(node):
    return os.stat("/run/netns/" + LAB.nodes[node].netns).st_ino


def raw(node, port, frame):
    """A frame that comes in on a port of a node."""
    with inside(Lab.SWITCH):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind(("s%dp%d" % (node, port), 0))
    sock.send(frame)
    sock.close()


def frame(target, source, kind, payload):
    return (mac_bytes(target) + mac_bytes(source) + struct.pack("!H", kind) +
            payload)


def all_there():
    """Every event is in the group, and off until somebody listens."""
    found = {n for n in os.listdir(EVENTS) if n.startswith("lace_")}
    expect(found >= NAMES, NAMES - found)
    for name in found:
        with open(EVENTS + name + "/enable", encoding="ascii") as file:
            expect(file.read().strip() == "0", name)


def packets():
    """Packets sent and received agree with the counters of the lanes."""
    zero, one = LAB.nodes[0], LAB.nodes[1]

    def counters():
        return [n.stats(p, d) for n, d in ((zero, TX), (one, RX))
                for p in range(2)]
    before = counters()
    with Trace("lace_send", "lace_receive") as trace:
        iperf(zero, one, one.v4, seconds=2)
        time.sleep(0.3 * SLOW)
    after = counters()
    for node, name in ((0, "lace_send"), (1, "lace_receive")):
        for port in range(2):
            events = trace.of(name, netns=inode(node), dev="lace0", port=port)
            was, now = (c[2 * node + port] for c in (before, after))
            for field, stat in (("frames", "packets"), ("bytes", "bytes")):
                total = sum(e[field] for e in events)
                expect(total == now[stat] - was[stat],
                       (name, port, field, total, was, now))
            expect(events, "nothing on port %d" % port)
            other = 1 - node
            expect(all(e["peer"] == other and e["peer_port"] == port and
                       e["segment"] == 1 and e["relay"] == 0
                       for e in events), events[:3])


def relays():
    """A relayed packet is received, relayed and sent."""
    with Trace("lace_send", "lace_receive", "lace_relay") as trace:
        LAB.nodes[0].run("ping", "-c", "2", "-i", "0.2", LAB.nodes[1].v4)
    relayed = trace.of("lace_relay", netns=inode(2))
    expect(len(relayed) == 2, trace.events)
    expect(all((e["port"], e["from"], e["to"], e["next"]) == (0, 1, 0, 0)
               for e in relayed), relayed)
    for name in ("lace_receive", "lace_send"):
        expect(len(trace.of(name, netns=inode(2), relay=1)) == 2,
               trace.events)


def marks():
    """Marks are sent, and answers give a round-trip time."""
    before = LAB.nodes[0].acks(0, TX)
    with Trace("lace_mark", "lace_ack") as trace:
        time.sleep(1.5 * SLOW)
    after = LAB.nodes[0].acks(0, TX)
    sent = trace.of("lace_mark", netns=inode(0), port=0)
    acks = trace.of("lace_ack", netns=inode(0), port=0)
    expect(5 <= len(sent) <= after["marks"] - before["marks"],
           (len(sent), before, after))
    expect(5 <= len(acks) <= after["acks"] - before["acks"],
           (len(acks), before, after))
    expect(all(e["peer"] == 1 and e["peer_port"] == 0 for e in sent + acks),
           sent)
    expect(all(LEAST_RTT_NS <= e["rtt_ns"] < 10**9 * SLOW for e in acks), acks)
    expect({e["seq"] for e in acks[1:-1]} <= {e["seq"] for e in sent},
           "an answer to a mark that was not sent")


def lane_states():
    """A lane that goes dark and comes back is told both times."""
    with Trace("lace_lane_state") as trace:
        LAB.cut(0, 1)
        poll(lambda: LAB.nodes[0].lane(1, TX)["state"] != UP, "dark", 20)
        LAB.join(0, 1, 1, 1)
        poll(lambda: LAB.nodes[0].lane(1, TX)["state"] == UP, "up", 20)
    told = [(e["before"], e["state"]) for e in
            trace.of("lace_lane_state", netns=inode(0), port=1, dir="tx")]
    expect(told == [("up", "dark"), ("dark", "up")], told)
    told = [(e["before"], e["state"], e["peer"], e["peer_port"]) for e in
            trace.of("lace_lane_state", netns=inode(1), port=1, dir="rx")]
    expect(told == [("up", "dark", 0, 1), ("dark", "up", 0, 1)], told)


def segments():
    """Activating a segment is told, with what its lanes come to."""
    circuits = [[0, 0, 1, 0], [1, 0, 2, 0], [2, 0, 0, 0]]
    node = LAB.nodes[0]
    LAB.load(node, 2, circuits)
    with Trace("lace_segment", "lace_lane_state") as trace:
        node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 2))
        node.netlink.set(SEGMENT_ACTIVATE, dev())
        node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 1))
        poll(lambda: all(node.lane(p, TX)["state"] == UP for p in range(2)),
             "up", 20)
    told = [(e["from"], e["to"]) for e in
            trace.of("lace_segment", netns=inode(0))]
    expect(told == [(1, 2), (2, -1), (-1, 1)], told)
    told = [(e["before"], e["state"]) for e in
            trace.of("lace_lane_state", netns=inode(0), port=1, dir="tx")]
    expect(told == [("up", "unverified"), ("unverified", "up")], told)


def reorder():
    """Segments held back and let go add up to the counters."""
    one = LAB.nodes[1]
    run("tc", "-n", LAB.SWITCH, "qdisc", "add", "dev", "s1p1", "root", "netem",
        "delay", "4ms", "limit", "10000")
    before = one.dev_stats()
    with Trace("lace_reorder_hold", "lace_reorder_release") as trace:
        iperf(LAB.nodes[0], one, one.v4, seconds=2)
        time.sleep(0.3 * SLOW)
    after = one.dev_stats()
    run("tc", "-n", LAB.SWITCH, "qdisc", "del", "dev", "s1p1", "root")
    held = trace.of("lace_reorder_hold", netns=inode(1))
    expect(len(held) == after["reorder_held"] - before["reorder_held"] > 0,
           (len(held), before, after))
    expect(max(e["depth"] for e in held) <= after["reorder_depth"], after)
    for reason in ("filled", "lost", "expired", "overflow", "flushed"):
        packets = sum(e["packets"] for e in
                      trace.of("lace_reorder_release", netns=inode(1),
                               reason=reason))
        counted = after["reorder_" + reason] - before["reorder_" + reason]
        expect(packets == counted, (reason, packets, counted))


def received_badly():
    """What is wrong with a frame that comes in is the reason that is told."""
    zero, one = LAB.nodes[0], LAB.nodes[1]
    ours = (zero.mac(0), one.mac(0))

    def ip4(source, target, ttl=64):
        from_, to = (socket.inet_aton(a) for a in (source, target))
        words = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20, 0, 0, ttl, 17, 0,
                            from_, to)
        total = sum(struct.unpack("!10H", words))
        total = (total & 0xffff) + (total >> 16)
        return words[:10] + struct.pack("!H", ~total & 0xffff) + words[12:]
    here = one.v4
    bad = {
        "unexpected": frame(ours[1], "02:00:00:00:00:77", 0x800, bytes(64)),
        "malformed": frame(ours[1], ours[0], 0x800, bytes(64)),
        "misaddressed": frame(ours[1], ours[0], 0x800,
                              ip4(zero.v4, "192.0.2.1") + bytes(40)),
        "spoofed": frame(ours[1], ours[0], 0x800,
                         ip4("192.0.2.1", here) + bytes(40)),
        "hop_limit": frame(ours[1], ours[0], 0x800,
                           ip4(zero.v4, LAB.nodes[2].v4, 1) + bytes(40)),
        "refused": frame(ours[1], ours[0], 0x88b5, bytes(64)),
    }
    for reason, data in bad.items():
        with Trace("lace_drop") as trace:
            raw(1, 0, data)
            time.sleep(0.1 * SLOW)
        told = trace.of("lace_drop", netns=inode(1), port=0, dir="rx")
        expect([e["reason"] for e in told] == [reason], (reason, told))


def sent_badly():
    """So are packets that cannot be sent."""
    zero = LAB.nodes[0]
    zero.run("ip", "route", "add", "192.0.2.0/24", "dev", "lace0")
    zero.netlink.set(NODE_SET, dev(), u16(3, 9), prefix("192.0.2.9"),
                     node_port(0, "02:00:00:00:09:00"))
    before = zero.dev_stats()
    with Trace("lace_drop") as trace:
        zero.run("ping", "-c", "1", "-W", "1", "192.0.2.7", check=False)
        zero.run("ping", "-c", "1", "-W", "1", "192.0.2.9", check=False)
    after = zero.dev_stats()
    for reason in ("tx_no_node", "tx_no_lane"):
        told = trace.of("lace_drop", netns=inode(0), reason=reason)
        expect(all((e["port"], e["dir"]) == (-1, "tx") for e in told), told)
        expect(sum(e["packets"] for e in told) ==
               after[reason] - before[reason] > 0, (told, before, after))


def device_goes():
    """A device that goes is told, after its lanes and its segment."""
    two = LAB.nodes[2]
    ino = inode(2)
    with Trace("lace_segment", "lace_device_gone") as trace:
        two.ip("link", "del", "lace0")
    told = [e["event"] for e in trace.events if e["netns"] == ino]
    expect(told == ["lace_segment", "lace_device_gone"], trace.events)


with LAB:
    LAB.plan(1, CIRCUITS, ROUTES)
    poll(lambda: all(LAB.nodes[a].lane(b, TX)["state"] == UP
                     for a, b, _, _ in CIRCUITS), "lanes are up", 20)
    main(all_there, packets, relays, marks, lane_states, segments, reorder,
         received_badly, sent_badly, device_goes)
