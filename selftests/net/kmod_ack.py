#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The lane protocol: what the sender of a lane learns of it.

    k0 ====> k1 ----> k2 ----> k0	ports 0; k0 => k1 also ports 1

No lane has one that leads straight back: answers for k0 => k1 are relayed by k2,
as all packets from k1 to k0 are.

kernels: 6.12
in turn: debug
timeout: 600
"""

import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (DARK, DEV_GET, DEV_SET, LANE_GET, LANE_NTF,  # noqa: E402
                      LEAST_RTT_NS, RX, SEGMENT_ACTIVATE, SLOW, TX,
                      UNVERIFIED, UP, Lab, Netlink, Refused, attr, background,
                      dev, expect, inside, iperf, mac_bytes, main, poll, run,
                      u32)

ETHERTYPE, ETH_P_ALL = 0x88b5, 3
MARK, ACK, PROBE, REPLY = 1, 2, 3, 4
STALE = 2	# a flag
CIRCUITS = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 2, 0], [2, 0, 0, 0]]
ROUTES = [[1, 0, [2]], [2, 1, [0]], [0, 2, [1]]]
KEY = bytes(range(16))
MS = 1000000
LAB = Lab(3, 2)


# What the specification says, written a second time.

def siphash(key, data):
    """SipHash-2-4, in the byte order of its reference implementation."""
    mask = (1 << 64) - 1
    k = struct.unpack("<QQ", key)
    v = [k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d,
         k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573]

    def rotate(x, n):
        return (x << n | x >> (64 - n)) & mask

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & mask
            v[2] = (v[2] + v[3]) & mask
            v[1] = rotate(v[1], 13) ^ v[0]
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[1]) & mask
            v[0] = (v[0] + v[3]) & mask
            v[1] = rotate(v[1], 17) ^ v[2]
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])


def message(kind, source, target, epoch, seq, stamp, body, flags=0, hops=None,
            version=1, queue=0, key=None, length=None):
    """A message; source and target are (node, port)."""
    hops = hops or (64 if kind in (ACK, REPLY) else 1)
    size = 40 + len(body) + (8 if key else 0)
    flags |= 1 if key else 0

    def header(hops):
        return struct.pack("!BBBBHHHBBHHQQQ", version, kind, flags, hops,
                           length or size, source[0], target[0], source[1],
                           target[1], queue, 0, epoch, seq, stamp) + body
    return header(hops) + (siphash(key, header(0)) if key else b"")


def ack_body(floor, life=1, number=1 << 40, bitmap=0, counts=(0, 0, 0, 0)):
    return struct.pack("!QQQQQQQQQ", floor, life, number, bitmap, *counts, 0)


class Message:
    """A message as it was seen on the fibre."""

    def __init__(self, data):
        self.data = data
        (self.version, self.kind, self.flags, self.hops, self.length,
         self.from_node, self.to_node, self.from_port, self.to_port,
         self.queue, _, self.epoch, self.seq,
         self.stamp) = struct.unpack_from("!BBBBHHHBBHHQQQ", data)


def listener(name):
    """Hears all frames of an interface: others come after the switch."""
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                          socket.htons(ETH_P_ALL))
    found.bind((name, ETH_P_ALL))
    return found


def received(sock):
    """A message that came in there; None for another frame."""
    frame, address = sock.recvfrom(65536)
    if address[1] != ETHERTYPE or address[2] == socket.PACKET_OUTGOING:
        return None
    return Message(frame[14:])


class Fibre:
    """The switch's end of a port: sees what the node sends, and sends to it."""

    def __init__(self, node, port=0):
        with inside(Lab.SWITCH):
            self.socket = listener("s%dp%d" % (node.id, port))
        self.socket.settimeout(10)
        self.mac = node.mac(port)

    def close(self):
        self.socket.close()

    def seen(self, kind, origin):
        """The next message of a kind from a node that passes here."""
        while True:
            got = received(self.socket)
            if got and (got.kind, got.from_node) == (kind, origin):
                return got

    def send(self, source, payload, target=None):
        self.socket.send(mac_bytes(target or self.mac) + mac_bytes(source) +
                         struct.pack("!H", ETHERTYPE) + payload)


def state(node, port=0, direction=TX):
    return LAB.nodes[node].lane(port, direction)["state"]


def wait_for(what, node, port=0, direction=TX, seconds=20):
    poll(lambda: state(node, port, direction) == what,
         "k%d port %d %d: state %d" % (node, port, direction, what), seconds)


def all_up():
    for source, port, target, target_port in CIRCUITS:
        wait_for(UP, source, port)
        wait_for(UP, target, target_port, RX)
        poll(lambda: "closed" not in LAB.nodes[source].lane(port, TX),
             "port %d of node %d is open" % (port, source))


def set_interval(msecs, nodes=None):
    for node in nodes or LAB.nodes:
        node.netlink.set(DEV_SET, dev(), u32(11, msecs))


def set_key(key, nodes=None):
    for node in nodes or LAB.nodes:
        node.netlink.set(DEV_SET, dev(), attr(12, key))


def settled(port, node=0):
    """Counters of a TX lane when nothing is under way on it."""
    poll(lambda: "drained" in LAB.nodes[node].lane(port, TX), "drained", 20)
    return LAB.nodes[node].lane(port, TX)["stats"]


def comes_up():
    """All lanes come up, over a return path that is relayed."""
    all_up()
    for source, port, _, _ in CIRCUITS:
        lane = LAB.nodes[source].lane(port, TX)
        expect(LEAST_RTT_NS <= lane.get("rtt_ns", 0) < 10000 * MS, lane)
        expect(lane["silence_ms"] < 10000 and lane["epoch"], lane)
    expect(UNVERIFIED == state(1, 1), "a lane without circuit has a state")
    for node in LAB.nodes:
        for port in range(2):
            stats = node.acks(port, RX)
            expect(not stats["forged"] and not stats["replayed"], stats)


def counts():
    """What is delivered agrees with both ends, to the packet and the byte."""
    k0, k1 = LAB.nodes[:2]
    end = iperf(k0, k1, k1.v4, seconds=2)
    total = 0
    for port in range(2):
        got, rx = settled(port), k1.stats(port, RX)
        expect(got["delivered"] == got["packets"] == rx["packets"], (got, rx))
        expect(got["delivered_bytes"] == got["bytes"] == rx["bytes"],
               (got, rx))
        expect(not got["lost"] and not got["lost_bytes"], got)
        expect(got["packets"] > 10, got)
        total += got["delivered_bytes"]
    expect(total > end["sum_received"]["bytes"], (total, end))


def losses():
    """What the fibre loses is counted to the packet and the byte."""
    k0, k1 = LAB.nodes[:2]
    run("tc", "-n", Lab.SWITCH, "qdisc", "add", "dev", "s1p1", "root",
        "netem", "loss", "5%")
    try:
        iperf(k0, k1, k1.v4, "-u", "-b", "2M", "-l", "1000", "-P", "16",
              seconds=3)
        k0.run("ping", "-f", "-c", "300", "-W", "1", k1.v6, check=False)
    finally:
        run("tc", "-n", Lab.SWITCH, "qdisc", "del", "dev", "s1p1", "root")
    all_up()
    missing = 0
    for port in range(2):
        got, rx = settled(port), k1.stats(port, RX)
        expect(got["delivered"] == rx["packets"], (got, rx))
        expect(got["lost"] == got["packets"] - rx["packets"], (got, rx))
        expect(got["lost_bytes"] == got["bytes"] - rx["bytes"], (got, rx))
        missing += got["lost"]
    expect(missing > 10, missing)


def goes_on(node, address, port):
    """Packets that a lane got of ten that all arrive."""
    before = node.stats(port, TX)["packets"]
    for count in range(10):	# an identifier each: another lane, perhaps
        output = node.run("ping", "-c", "1", "-W", "5", "-e",
                          str(count + 1), address, check=False)
        expect(" 0% packet loss" in output, output)
    return node.stats(port, TX)["packets"] - before


def events(netlink, port, wanted, seconds=10):
    """Wait for word that a TX lane has a state."""
    deadline = time.monotonic() + seconds * SLOW
    while time.monotonic() < deadline:
        for one in netlink.receive():
            if one.cmd != LANE_NTF:
                continue
            lane = one.decoded()
            if (lane["port"], lane["dir"], lane["state"]) == (port, TX,
                                                              wanted):
                return
    raise AssertionError("no event: port %d is %d" % (port, wanted))


def dark():
    """A lane without word is dark within three intervals, and is left alone."""
    k0, k1 = LAB.nodes[:2]
    set_interval(1000)
    monitor = Netlink(k0.netns)
    monitor.join()
    with background("iperf3", "-s", netns=k1.netns):
        poll(lambda: ":5201" in k1.run("ss", "-Htln"), "iperf3 listens")
        with background("iperf3", "-c", k1.v4, "-t", "60", netns=k0.netns):
            poll(lambda: k0.stats(1, TX)["packets"] > 1000, "traffic")
            all_up()
            LAB.cut(0, 1)
            try:
                start = time.monotonic()
                wait_for(DARK, 0, 1)
                took = time.monotonic() - start
                events(monitor, 1, DARK)
                left = k0.stats(1, TX)["packets"]
                other = k0.stats(0, TX)["packets"]
                poll(lambda: k0.stats(0, TX)["packets"] > other + 100,
                     "traffic goes on over the other lane", 20)
                expect(k0.stats(1, TX)["packets"] == left,
                       "the dark lane is used")
                expect(state(0, 0) == UP, "the other lane is dark")
            finally:
                LAB.join(0, 1, 1, 1)
            wait_for(UP, 0, 1)
            events(monitor, 1, UP)
            poll(lambda: k0.stats(1, TX)["packets"] > left + 100,
                 "the lane is used again", 20)
    monitor.close()
    set_interval(100)
    expect(took < 3.9 * SLOW, "dark after %.1f s of intervals of 1 s" % took)


def unplugged():
    """A lane whose port loses carrier is dark at once, and then verified anew."""
    k0, k1 = LAB.nodes[:2]
    all_up()
    set_interval(60000)
    run("ip", "-n", Lab.SWITCH, "link", "set", "s0p1", "down")
    try:
        wait_for(DARK, 0, 1, seconds=5)
        expect(goes_on(k0, k1.v4, 1) == 0, "a lane without carrier is used")
    finally:
        run("ip", "-n", Lab.SWITCH, "link", "set", "s0p1", "up")
    poll(lambda: "LOWER_UP" in k0.ip("link", "show", "p1"), "carrier")
    expect(state(0, 1) == DARK, "a carrier is no word")
    set_interval(100)
    wait_for(UP, 0, 1)


def all_dark():
    """Where all lanes to a node are dark, they are closed, and packets wait."""
    k0, k1 = LAB.nodes[:2]
    LAB.cut(2, 0)	# no answer comes back
    try:
        wait_for(DARK, 0, 0)
        wait_for(DARK, 0, 1)
        expect(state(1, 0, RX) == UP, "marks arrive")
        poll(lambda: all("closed" in k0.lane(p, TX) for p in range(2)),
             "closed")
        held = k0.dev_stats()["gate_held"]
        before = sum(k1.stats(p, RX)["packets"] for p in range(2))
        k0.run("ping", "-c", "3", "-i", "0.2", "-W", "1", k1.v4, check=False)
        expect(k0.dev_stats()["gate_held"] >= held + 3, "they do not wait")
        time.sleep(3)	# they do, for longer than the socket they came from
    finally:
        LAB.join(2, 0, 0, 0)
    all_up()
    poll(lambda: sum(k1.stats(p, RX)["packets"] for p in range(2)) >=
         before + 3, "packets arrive")
    poll(lambda: not any("closed" in k0.lane(p, TX) for p in range(2)),
         "open again")


def unverified():
    """A peer that never answers is unverified, not dark, and its lanes are used."""
    k0, k1 = LAB.nodes[:2]
    set_interval(0, [k1])
    wait_for(DARK, 0, 0)
    poll(lambda: "closed" in k0.lane(0, TX), "closed")
    set_interval(0)
    expect(state(0, 0) == UNVERIFIED, "off, and yet a state")
    expect("closed" not in k0.lane(0, TX), "off, and yet closed")
    set_interval(100, [node for node in LAB.nodes if node != k1])
    marks = k0.acks(0, TX)["marks"]
    poll(lambda: k0.acks(0, TX)["marks"] > marks + 8, "marks")
    expect(state(0, 0) == state(0, 1) == UNVERIFIED, "not unverified")
    expect(goes_on(k0, k1.v4, 0) <= 10, "more packets than were sent")
    set_interval(100, [k1])
    all_up()


def refused(injected, node, source, cases, counter):
    """Each frame is counted as that, and the lanes of all nodes stay as they are.
    """
    fibre = Fibre(LAB.nodes[node])
    for name, payload in cases:
        before = LAB.nodes[node].acks(0, RX)[counter]
        fibre.send(source, payload)
        poll(lambda: LAB.nodes[node].acks(0, RX)[counter] == before + 1,
             "%s: %s is counted as %s" % (injected, name, counter), 5)
    fibre.close()


def forged_marks():
    """Marks that are not sound or not the lane's change nothing and are counted."""
    k0 = LAB.nodes[0]
    all_up()
    before = k0.lane(0, TX)
    epoch = before["epoch"]
    body = struct.pack("!QQQQ", 0, 0, 0, 0)

    def mark(source=(0, 0), target=(1, 0), **more):
        return message(MARK, source, target, epoch + 1, 1, 1, body, **more)
    refused("mark", 1, k0.mac(0), [
        ("version", mark(version=2)),
        ("length", mark(length=71)),
        ("trailing garbage", mark() + b"\0"),
        ("cut off", mark()[:-1]),
        ("empty", b""),
        ("flag", mark(flags=2)),
        ("hops", mark(hops=2)),
        ("from another node", mark(source=(2, 0))),
        ("from another port", mark(source=(0, 1))),
        ("to another node", mark(target=(2, 0))),
        ("to another port", mark(target=(1, 1))),
        ("probe", message(PROBE, (0, 0), (1, 0), 1, 1, 1, bytes(8))),
    ], "refused")
    refused("mark", 1, LAB.nodes[2].mac(0), [("other sender", mark())],
            "refused")
    refused("mark", 1, k0.mac(0), [
        ("stale epoch", message(MARK, (0, 0), (1, 0), epoch - 1, 1, 1, body)),
    ], "replayed")
    refused("mark", 1, k0.mac(0), [("tag without a key", mark(key=KEY))],
            "forged")
    fibre = Fibre(k0)
    seen = fibre.seen(MARK, 0)
    fibre.close()
    expect((seen.epoch, seen.from_node, seen.to_node) == (epoch, 0, 1),
           seen.data)
    refused("mark", 1, k0.mac(0), [("once more", seen.data)], "replayed")
    after = k0.lane(0, TX)
    expect(after["epoch"] == epoch and after["state"] == UP, after)


def forged_answers():
    """Answers to what was never sent change nothing and are counted."""
    k0, k2 = LAB.nodes[0], LAB.nodes[2]
    all_up()
    before = settled(0)
    epoch = k0.lane(0, TX)["epoch"]
    fibre = Fibre(k0)
    mark = fibre.seen(MARK, 0)
    fibre.close()

    def ack(target=(0, 0), source=(1, 0), at=epoch, seq=mark.seq,
            stamp=mark.stamp, **more):
        return message(ACK, source, target, at, seq, stamp,
                       ack_body(at, counts=(1 << 50, 1 << 60, 0, 0)), **more)
    refused("answer", 0, k2.mac(0), [
        ("stale epoch", ack(at=epoch - 1)),
        ("epoch to come", ack(at=epoch + 1)),
        ("mark not sent", ack(seq=mark.seq + 1000000)),
        ("mark of long ago", ack(seq=1, at=epoch, stamp=1)),
        ("wrong time", ack(stamp=mark.stamp + 1)),
        ("another lane's time", ack(target=(0, 1), source=(1, 1))),
    ], "replayed")
    refused("answer", 0, k2.mac(0), [
        ("from another node", ack(source=(2, 0))),
        ("from another port", ack(source=(1, 5))),
        ("about a port that is not there", ack(target=(0, 9))),
        ("not through here", ack(target=(2, 0))),
        ("hops", ack(source=(2, 0), target=(1, 0), hops=1)),
    ], "refused")
    refused("answer", 2, LAB.nodes[1].mac(0), [
        ("no hop left to relay", ack(hops=1)),
        ("against the route", ack(source=(0, 0), target=(1, 0))),
    ], "refused")
    after = settled(0)
    for name in ("delivered", "delivered_bytes", "lost", "lost_bytes"):
        expect(after[name] == before[name], (name, before, after))
    expect(k0.lane(0, TX)["state"] == UP, "not up")


def ahead():
    """A receiver that is ahead is believed, and what is under way stays so."""
    k0, k1, k2 = LAB.nodes
    set_interval(1000)
    all_up()
    before = settled(0)["packets"]

    def sends():
        with inside(k0.netns), socket.socket(type=socket.SOCK_DGRAM) as flow:
            flow.sendto(b"", (k1.v4, 9))	# each on the lane of its hash
        return k0.stats(0, TX)["packets"] > before
    LAB.cut(0, 0)
    fibre = Fibre(k0)
    try:
        poll(sends, "packets that do not arrive")
        mark = fibre.seen(MARK, 0)
        fibre.send(k2.mac(0), message(
            ACK, (1, 0), (0, 0), mark.epoch, mark.seq, mark.stamp,
            ack_body(mark.epoch + 5), flags=STALE))
        poll(lambda: k0.lane(0, TX)["epoch"] > mark.epoch + 5,
             "an epoch above the receiver's")
        lane = k0.lane(0, TX)
        expect(lane["state"] == UP and "drained" not in lane, lane)
    finally:
        fibre.close()
        LAB.join(0, 0, 1, 0)
        set_interval(100)
    all_up()
    settled(0)


def keys():
    """With a key all is tagged, who has another is dark, and nobody shows it."""
    k0, k1, k2 = LAB.nodes
    for key in (b"x", KEY[:15], KEY + b"x"):
        try:
            set_key(key, [k0])
            raise AssertionError("accepted: a key of %d bytes" % len(key))
        except Refused:
            pass
    set_key(KEY)
    try:
        for node in LAB.nodes:
            got = node.netlink.get(DEV_GET, dev())
            expect(got["ack_keyed"], got)
            expect(KEY not in node.netlink.answers(DEV_GET, dev())[0].attrs,
                   "shown")
        time.sleep(1)
        all_up()
        for node, kind, origin in ((k0, MARK, 0), (k1, ACK, 1),
                                   (k2, ACK, 1)):
            fibre = Fibre(node)
            seen = fibre.seen(kind, origin)
            fibre.close()
            untagged = bytearray(seen.data[:-8])
            untagged[3] = 0
            expect(seen.flags & 1 and
                   siphash(KEY, bytes(untagged)) == seen.data[-8:], seen.data)
            expect(seen.hops == {k0: 1, k1: 64, k2: 63}[node], seen.hops)
        body = struct.pack("!QQQQ", 0, 0, 0, 0)
        far = (1 << 63) - 1
        refused("mark", 1, k0.mac(0), [
            ("no tag", message(MARK, (0, 0), (1, 0), far, 1, 1, body)),
            ("wrong tag", message(MARK, (0, 0), (1, 0), far, 1, 1, body,
                                  key=KEY[::-1])),
        ], "forged")
        refused("relayed answer", 2, k1.mac(0), [
            ("no tag", message(ACK, (1, 0), (0, 0), 1, 1, 1, ack_body(1))),
        ], "forged")
        expect(state(0, 0) == UP, "not up")
        set_key(KEY[::-1], [k1])
        wait_for(DARK, 0, 0)
        expect(k1.acks(0, RX)["forged"] > 2, k1.acks(0, RX))
    finally:
        set_key(b"")
    all_up()
    expect("ack_keyed" not in k0.netlink.get(DEV_GET, dev()), "still a key")


def restarts():
    """A node that begins anew is recognised, at either end of a lane."""
    for node in (LAB.nodes[1], LAB.nodes[0]):
        node.netlink.close()
        node.ip("link", "del", "lace0")
        wait_for(DARK, 2)
        LAB.up_lace(node)
        LAB.load(node, 0, CIRCUITS, ROUTES)
        node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 0))
        all_up()
    # k0 is the one that began last: its counts are k1's from there on.
    k0, k1 = LAB.nodes[:2]
    before = [k1.stats(port, RX) for port in range(2)]
    iperf(k0, k1, k1.v4, seconds=1)
    for port in range(2):
        got, rx = settled(port), k1.stats(port, RX)
        for name in ("packets", "bytes"):
            delivered = got["delivered" if name == "packets" else
                            "delivered_bytes"]
            expect(delivered == got[name] == rx[name] - before[port][name],
                   (got, rx))
        expect(not got["lost"], got)


def priority():
    """Pure acknowledgments of TCP go before data."""
    k0, k1 = LAB.nodes[:2]
    run("tc", "-n", k1.netns, "qdisc", "add", "dev", "p0", "root", "handle",
        "1:", "prio", "bands", "3")

    def ordinary():
        """Packets without priority."""
        words = run("tc", "-s", "-n", k1.netns, "class", "show", "dev",
                    "p0").split("class prio 1:2")[1].split()
        return int(words[words.index("Sent") + 3])
    set_interval(0)	# marks have to stay behind what they speak for
    try:
        before, sent = ordinary(), k1.stats(0, TX)["packets"]
        iperf(k0, k1, k1.v4, seconds=1)
        sent = k1.stats(0, TX)["packets"] - sent
        expect(sent > 50, sent)
        expect(ordinary() - before < sent * 0.5, (ordinary() - before, sent))
    finally:
        set_interval(100)
        run("tc", "-n", k1.netns, "qdisc", "del", "dev", "p0", "root")


def ethtool():
    """ethtool -S names the counters of all lanes."""
    k0 = LAB.nodes[0]
    names = ("packets", "delivered", "lost")

    def said():
        words = k0.run("ethtool", "-S", "lace0").split()
        return dict(zip(words[2::2], words[3::2]))
    # A packet may leave between the two readings, not time after time.
    poll(lambda: [settled(1)[n] for n in names] ==
         [int(said()["p1_tx_%s:" % n]) for n in names],
         "ethtool says what netlink says")
    values = said()
    expect(int(values["p0_rx_acks:"]) > 0, values)
    expect("tx_no_node:" in values, values)


def several_queues():
    """Ports with four transmit queues: nothing is lost, and all are drained."""
    LAB.down()
    with Lab(2, 1, queues=4) as lab:
        lab.plan(0, [[0, 0, 1, 0], [1, 0, 0, 0]])
        k0, k1 = lab.nodes
        for address in (k1.v4, k1.v6):
            iperf(k0, k1, address, "-P", "8", seconds=2)
        poll(lambda: "drained" in k0.lane(0, TX), "drained", 20)
        got, rx = k0.lane(0, TX)["stats"], k1.stats(0, RX)
        expect(got["delivered"] == got["packets"] == rx["packets"], (got, rx))
        expect(got["delivered_bytes"] == got["bytes"], got)
        expect(not got["lost"], got)
        fibre = Fibre(k0)
        queues = set()
        with background("iperf3", "-s", netns=k1.netns):
            poll(lambda: ":5201" in k1.run("ss", "-Htln"), "iperf3 listens")
            with background("iperf3", "-c", k1.v4, "-u", "-b", "200k", "-l",
                            "200", "-P", "8", "-t", "60", netns=k0.netns):
                for _ in range(200):
                    queues.add(fibre.seen(MARK, 0).queue)
                    if len(queues) > 1:
                        break
        fibre.close()
        expect(len(queues) > 1, "marks on queues %s only" % queues)


def many_queues():
    """Marks of many busy queues stay known until their answers come."""
    LAB.down()
    with Lab(2, 1, queues=32) as lab:
        lab.plan(0, [[0, 0, 1, 0], [1, 0, 0, 0]])
        k0, k1 = lab.nodes
        run("tc", "-n", Lab.SWITCH, "qdisc", "add", "dev", "s1p0", "root",
            "netem", "delay", "40ms", "limit", "100000")
        with inside(k0.netns):
            flows = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(256)]
        poll(lambda: k0.lane(0, TX)["state"] == UP, "up")
        answers, late = k0.acks(0, TX)["acks"], k0.acks(0, RX)["replayed"]
        deadline = time.monotonic() + 2 * SLOW
        while time.monotonic() < deadline:
            for flow in flows:
                flow.sendto(b"", (k1.v4, 9))
            expect(k0.lane(0, TX)["state"] == UP, k0.lane(0, TX))
        answers = k0.acks(0, TX)["acks"] - answers
        late = k0.acks(0, RX)["replayed"] - late
        # The machine may add to what the fibre takes.
        expect(answers > 50 and late < answers / 10, (answers, late))
        for flow in flows:
            flow.close()


def settings():
    """The interval is checked, shown, and kept."""
    k0 = LAB.nodes[0]
    for value in (1, 9, 60001):
        try:
            set_interval(value, [k0])
            raise AssertionError("accepted: %d" % value)
        except Refused:
            pass
    expect(k0.netlink.get(DEV_GET, dev())["ack_msecs"] == 100, "changed")
    for value in (10, 60000, 0, 100):
        set_interval(value, [k0])
        expect(k0.netlink.get(DEV_GET, dev())["ack_msecs"] == value, value)
    expect(len(k0.netlink.dump(LANE_GET, dev())) == 4, "lanes")
    all_up()


TESTS = (comes_up, counts, losses, dark, unplugged, all_dark, unverified,
         forged_marks, forged_answers, ahead, keys, restarts, priority,
         ethtool, settings)


def main_inside():
    with LAB:
        LAB.plan(0, CIRCUITS, ROUTES)
        main(*(t for t in TESTS + (several_queues, many_queues)
               if len(sys.argv) < 2 or t.__name__ in sys.argv[1:]))


main_inside()
