#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Transitions between two segments, under traffic.

    ports 0	k0 ----> k1 ----> k2 ----> k0	in both segments
    ports 1	k0 ----> k2 ----> k1 ----> k0	segment 0: each pair has a lane
	k0 ----> k1 ----> k2 ----> k0	segment 1: the way back is relayed

The test is the hook that moves the switch: of all nodes, once all have drained.

kernels: 6.12
in turn: debug
timeout: 900
"""

import hashlib
import os
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (  # noqa: E402
    ABORTED, DARK, DEGRADED, DEV_GET, DEV_SET, DONE, DRAIN, HOOK_DONE,
    HOOK_FAULT, HOOK_SET, IDLE, NODE_SET, PORT_GONE, QUIESCE, ROLLED_BACK,
    SEGMENT_ACTIVATE, SEGMENT_DEL, SEGMENT_GET, SILENT, SLOW, SWITCH,
    TRANSITION_ABORT, TRANSITION_GET, TRANSITION_START, TX, UNDRAINED, UP,
    VERIFY, WRONG_END, Datagrams, HookSocket, Lab, Refused, attr, dev, expect,
    inside, mac_bytes, main, nest, poll, run, succeeds, text, u32, u8,
    unload_module)

RING = [[0, 0, 1, 0], [1, 0, 2, 0], [2, 0, 0, 0]]
SPECIAL = ([[0, 1, 2, 1], [2, 1, 1, 1], [1, 1, 0, 1]],
           [[0, 1, 1, 1], [1, 1, 2, 1], [2, 1, 0, 1]])
ROUTES = ([], [[1, 0, [2]], [2, 1, [0]], [0, 2, [1]]])
DEGRADE = 1
SO_MAX_PACING_RATE = 47
HEADER = "!BBBBHHHBBHHQQQIHBB"	# of a probe and its reply
LAB = Lab(3, 2)
# Of a phase, in ms, where a test does not say: as the module's own, but for
# the switch, which the test moves, and machines may be slow.
DEADLINES = {"quiesce": 1000, "drain": 1000, "switch": 30000, "settle": 2000,
             "verify": 1000, "resume": 1000}


def u64(kind, value):
    return attr(kind, value.to_bytes(8, sys.byteorder))


def start(node, segment, degrade=False, retries=0, **deadlines):
    """Begin a transition; its number."""
    attrs = u32(6, segment) + u8(7, DEGRADE if degrade else 0) + \
        u8(8, retries)
    expect(deadlines.keys() <= DEADLINES.keys(), deadlines)
    attrs += nest(10, *(u32(number, deadlines.get(name, value * SLOW))
                        for number, (name, value) in
                        enumerate(DEADLINES.items(), 1)))
    return node.netlink.get(TRANSITION_START, dev(), attrs)["id"]


def transition(node):
    return node.netlink.get(TRANSITION_GET, dev())


def ended(node, seconds=20):
    """The last transition of a node, when it is over."""
    poll(lambda: transition(node)["phase"] == IDLE, "the end", seconds)
    return transition(node)


class Hook:
    """Moves the switch for a node, when it is told to."""

    def __init__(self, node):
        self.netlink = HookSocket(node.netns)
        self.netlink.set(HOOK_SET, dev(), text(3, "test"),
                         u32(4, 1 << SWITCH))

    def called(self):
        """Wait for a call."""
        return self.netlink.call()

    def done(self, call, error=0, reason=""):
        attrs = [dev(), u32(9, call["call"]), u32(13, error)]
        if reason:
            attrs.append(text(14, reason))
        self.netlink.set(HOOK_DONE, *attrs)

    def close(self):
        self.netlink.close()


class Hooks:
    """Those of all nodes."""

    def __enter__(self):
        self.hooks = [Hook(node) for node in LAB.nodes]
        return self

    def __exit__(self, *_):
        for hook in self.hooks:
            hook.close()

    def called(self):
        return [hook.called() for hook in self.hooks]

    def done(self, calls):
        for hook, call in zip(self.hooks, calls):
            hook.done(call)

    def move(self, segment, wiring=None, **options):
        """All nodes to a segment, with the switch as it should be or as said."""
        for node in LAB.nodes:
            start(node, segment, **options)
        calls = self.called()
        wire(SPECIAL[segment] if wiring is None else wiring)
        self.done(calls)


def wire(circuits):
    """The circuits of ports 1."""
    run("tc", "-n", LAB.SWITCH, "-force", "-batch", "-", check=False,
        commands="\n".join(
            ["filter del dev s%dp1 ingress" % node for node in range(3)] +
            [" ".join(LAB.filter(*one)) for one in circuits]))


def set_up(segment=0):
    """All nodes follow a segment, and the switch too."""
    for node in LAB.nodes:
        if not node.netlink.dump(SEGMENT_GET):
            for number in (0, 1):
                LAB.load(node, number, RING + SPECIAL[number], ROUTES[number])
    wire(SPECIAL[segment])
    for node in LAB.nodes:
        node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, segment))
    all_up()


def all_up():
    for node in LAB.nodes:
        for port in (0, 1):
            poll(lambda: node.lane(port, TX)["state"] == UP and
                 "closed" not in node.lane(port, TX),
                 "%s port %d is up" % (node.netns, port), 20)


def reaches(source, target):
    address = LAB.nodes[target].v4
    return " 0% packet loss" in LAB.nodes[source].run(
        "ping", "-c", "1", "-W", "2", address, check=False)


def all_reach():
    for source in range(3):
        for target in range(3):
            if source != target:
                poll(lambda: reaches(source, target),
                     "%d reaches %d" % (source, target))


def segment_of(node):
    return node.netlink.get(DEV_GET, dev())["segment"]


def closed(node):
    return node.netlink.get(DEV_GET, dev()).get("closed", 0)


def goes():
    """There and back: new lanes only are proved, and all nodes are reached."""
    set_up()
    with Hooks() as hooks:
        for segment in (1, 0):
            before = [node.lane(0, TX)["epoch"] for node in LAB.nodes]
            old = [node.lane(1, TX)["epoch"] for node in LAB.nodes]
            hooks.move(segment)
            for index, node in enumerate(LAB.nodes):
                got = ended(node)
                expect(got["result"] == DONE, got)
                expect(got["ports"] == 2 and got["attempt"] == 1, got)
                expect("faults" not in got and not got.get("reason"), got)
                expect(sum(got["times"].values()) == got["total_ns"], got)
                expect(segment_of(node) == segment, got)
                expect(node.lane(0, TX)["epoch"] == before[index], "kept")
                expect(node.lane(1, TX)["epoch"] > old[index], "changed")
                expect(not closed(node), "closed")
                print("# %s: %.2f ms and that of the switch" % (
                    node.netns, (got["total_ns"] - got["times"]["switch"]) /
                    1e6), flush=True)
            all_reach()


class Stream:
    """Bytes from one node to another over TCP, without end."""

    def __init__(self, source, target, port):
        with inside(LAB.nodes[target].netns):
            listener = socket.create_server(("0.0.0.0", port))
        with inside(LAB.nodes[source].netns):
            self.out = socket.create_connection((LAB.nodes[target].v4, port),
                                                20)
        self.into = listener.accept()[0]
        listener.close()
        self.into.settimeout(60)
        self.ended = False
        self.failed = None
        self.sent = self.received = 0
        self.digests = [hashlib.sha256(), hashlib.sha256()]
        self.threads = [threading.Thread(target=self.guard, args=(what,))
                        for what in (self.send, self.receive)]

    def guard(self, what):
        try:
            what()
        except OSError as error:
            self.failed = error

    def send(self):
        count = 0
        while not self.ended:
            block = hashlib.sha256(b"%d" % count).digest() * 256
            self.out.sendall(block)
            self.digests[0].update(block)
            self.sent += len(block)
            count += 1
            time.sleep(0.005 * SLOW * SLOW)	# leave time for the rest
        self.out.shutdown(socket.SHUT_WR)

    def receive(self):
        while True:
            data = self.into.recv(1 << 16)
            if not data:
                break
            self.digests[1].update(data)
            self.received += len(data)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        for thread in self.threads:
            thread.join()
        self.out.close()
        self.into.close()

    def flows(self):
        before = self.received
        poll(lambda: self.received > before + 50000, "the stream flows", 30)

    def check(self):
        expect(not self.failed, self.failed)
        expect(self.sent == self.received > 0, (self.sent, self.received))
        expect(self.digests[0].digest() == self.digests[1].digest(),
               "other bytes than were sent")


def streams():
    """TCP streams survive transitions, byte for byte, and kept lanes go on."""
    set_up()
    with Hooks() as hooks, Datagrams(*LAB.nodes[:2], 7001) as kept, \
         Stream(0, 1, 7001) as shared, Stream(0, 2, 7002) as moved, \
         Stream(1, 0, 7003) as back:
        for turn in range(8):
            segment = 1 - turn % 2
            shared.flows()
            for node in LAB.nodes:
                start(node, segment)
            calls = hooks.called()
            # The switch moves: who has only lanes that change waits.
            for _ in range(100):
                kept.send(1)
                kept.arrive()
            if segment:
                got = LAB.nodes[0].dev_stats()
                expect(got["gate_held"], got)
            for node in LAB.nodes:
                expect(transition(node)["phase"] == SWITCH, "not in SWITCH")
                expect("drained" in node.lane(1, TX), "not drained")
            wire(SPECIAL[segment])
            hooks.done(calls)
            for node in LAB.nodes:
                got = ended(node)
                expect(got["result"] == DONE, got)
            moved.flows()
            back.flows()
    for stream in (shared, moved, back):
        stream.check()
    for node in LAB.nodes:
        got = node.dev_stats()
        expect(got["gate_held"] == got["gate_passed"] and
               not got["gate_dropped"], got)


def wrong_wiring():
    """A lane that ends elsewhere is named, stays closed, and heals."""
    set_up()
    k0 = LAB.nodes[0]
    with Hooks() as hooks:
        # The circuit of 0/1 is left in place.
        hooks.move(1, [SPECIAL[0][0]] + SPECIAL[1][1:], degrade=True,
                   verify=1500)
        got = ended(k0)
        expect(got["result"] == DEGRADED, got)
        expect(got["faults"] == [{"kind": WRONG_END, "phase": 5, "port": 1,
                                  "peer": 1, "peer_port": 1, "found": 2,
                                  "found_port": 1}], got)
        expect(got["reason"] == "lane 0/1 reaches 2/1, plan says 1/1", got)
        expect(closed(k0) == 2 and "closed" in k0.lane(1, TX), "not closed")
        expect(LAB.nodes[2].acks(1, 1)["refused"], "not counted")
        for node in LAB.nodes[1:]:
            expect(ended(node)["result"] == DONE, transition(node))
        before = k0.stats(1, TX)["packets"]
        all_reach()
        expect(k0.stats(1, TX)["packets"] == before, "it is used")
        LAB.join(*SPECIAL[1][0])
        poll(lambda: not closed(k0), "the lane is opened")
    all_up()


def silent():
    """A lane that nobody hears gates its peer until it is mended."""
    set_up(1)
    k0, k2 = LAB.nodes[0], LAB.nodes[2]
    with Hooks() as hooks:
        hooks.move(0, SPECIAL[0][1:], degrade=True)
        got = ended(k0)
        expect(got["result"] == DEGRADED and
               got["faults"][0]["kind"] == SILENT, got)
        expect(got["reason"] == "lane 0/1 to 2/1 answers no probe", got)
        # The plan has no other way to k2.
        before = k0.dev_stats()
        with Datagrams(k0, k2, 7004) as held:
            held.send(20)
            got = k0.dev_stats()
            expect(got["gate_held"] == before["gate_held"] + 20, got)
            expect(got["gate_passed"] == before["gate_passed"], got)
            LAB.join(*SPECIAL[0][0])
            held.arrive()
        expect(not closed(k0), "closed")


def fails():
    """A hook that fails is tried again, then all goes back, and is reported."""
    set_up()
    k0 = LAB.nodes[0]
    hook = Hook(k0)
    start(k0, 1, retries=1)
    for _ in range(2):
        call = hook.called()
        expect(call["to"] == 1 and call["from"] == 0, call)
        hook.done(call, 5, "stuck")
    call = hook.called()
    expect(call["to"] == 0, call)
    got = transition(k0)
    expect("back" in got and got["phase"] == SWITCH, got)
    hook.done(call)
    got = ended(k0)
    expect(got["result"] == ROLLED_BACK and got["reason"] ==
           "hook test: stuck", got)
    expect([f["kind"] for f in got["faults"]] == [HOOK_FAULT] * 2, got)
    expect(segment_of(k0) == 0 and not closed(k0), got)
    all_reach()
    # Late, and dead.
    began = time.monotonic()
    start(k0, 1, switch=300)
    call = hook.called()
    call = hook.called()
    took = time.monotonic() - began
    expect(call["to"] == 0 and took >= 0.3, took)
    hook.close()
    got = ended(k0)
    # The lanes have not moved, so they are proved where they were.
    expect(segment_of(k0) == 0 and not closed(k0), got)
    expect({f["kind"] for f in got["faults"]} == {HOOK_FAULT}, got)
    all_reach()


def unmoved():
    """Lanes that a switch has not moved, but darkened, are proved and stay open."""
    set_up()
    k0 = LAB.nodes[0]
    port = ("ip", "-n", LAB.SWITCH, "link", "set", "s0p1")
    hook = Hook(k0)
    for node in LAB.nodes:	# marks are too seldom to say anything
        node.netlink.set(DEV_SET, dev(), u32(11, 60000))
    try:
        start(k0, 1)
        call = hook.called()
        run(*port, "down")
        poll(lambda: k0.lane(1, TX)["state"] == DARK, "dark")
        run(*port, "up")
        hook.done(call, 5, "stuck")
        hook.done(hook.called())
        got = ended(k0)
        expect(got["result"] == ROLLED_BACK and not closed(k0),
               (got, closed(k0)))
        expect(k0.lane(1, TX)["state"] == UP, k0.lane(1, TX))
    finally:
        hook.close()
        for node in LAB.nodes:
            node.netlink.set(DEV_SET, dev(), u32(11, 100))
    all_up()


def blip():
    """What waits for a lane that is not closed goes when that has carrier again."""
    set_up()
    k0, k1 = LAB.nodes[:2]
    port = ("ip", "-n", LAB.SWITCH, "link", "set", "s0p0")
    with Datagrams(k0, k1, 7005) as held:
        try:
            # Nobody answers: lane 1 is not proved, and stays closed; of lane 0
            # there is no word, so without carrier it is not closed.
            for node, interval in ((k1, 0), (k0, 0), (k0, 100)):
                node.netlink.set(DEV_SET, dev(), u32(11, interval))
            start(k0, 1, degrade=True, verify=300, drain=300)
            expect(ended(k0)["result"] == DEGRADED and closed(k0) == 2,
                   transition(k0))
            run(*port, "down")
            poll(lambda: "LOWER_UP" not in k0.ip("link", "show", "p0"), "dark")
            before = k0.dev_stats()["gate_held"]
            held.send(20)
            expect(k0.dev_stats()["gate_held"] == before + 20, k0.dev_stats())
            run(*port, "up")
            held.arrive()
            expect(closed(k0) == 2, "opened")
        finally:
            run(*port, "up")
            k1.netlink.set(DEV_SET, dev(), u32(11, 100))


def undrained():
    """A lane that is not proved empty in time is not switched."""
    set_up()
    k0 = LAB.nodes[0]
    for node in LAB.nodes:
        node.netlink.set(DEV_SET, dev(), u32(11, 2000))
    try:
        poll(lambda: "drained" in k0.lane(1, TX), "drained")
        LAB.cut(0, 1)
        k0.run("ping", "-c", "1", "-W", "1", LAB.nodes[2].v4, check=False)
        began = time.monotonic()
        start(k0, 1, drain=400)
        got = ended(k0)
        took = time.monotonic() - began
        expect(got["result"] == ROLLED_BACK, got)
        expect([f["kind"] for f in got["faults"]] == [UNDRAINED], got)
        expect(0.4 <= took < 3 * SLOW and segment_of(k0) == 0, took)
        expect(4e8 <= got["times"]["drain"] < 2e9 * SLOW, got)
        LAB.join(*SPECIAL[0][0])
    finally:
        for node in LAB.nodes:
            node.netlink.set(DEV_SET, dev(), u32(11, 100))
    all_up()


def paced():
    """What a queue that is not first in, first out holds back is waited for."""
    set_up()
    k0 = LAB.nodes[0]
    run("tc", "-n", k0.netns, "qdisc", "add", "dev", "p1", "root", "fq")
    try:
        with Datagrams(k0, LAB.nodes[2], 7006) as held:
            held.out.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 40)
            held.send(3)	# with headers, a second each
            poll(lambda: "drained" in k0.lane(1, TX), "what cannot be known")
            start(k0, 1, degrade=True, drain=9000)
            poll(lambda: transition(k0)["phase"] not in (QUIESCE, DRAIN),
                 "drained", 10)
            held.into.settimeout(0.5)
            held.arrive()
            expect(held.arrived == 3, held.arrived)
            ended(k0)
    finally:
        run("tc", "-n", k0.netns, "qdisc", "del", "dev", "p1", "root")


class Fibre:
    """The switch's end of a port: sees what the node sends, and sends to it."""

    def __init__(self, node, port):
        with inside(LAB.SWITCH):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                        socket.htons(3))
        self.socket.bind(("s%dp%d" % (node.id, port), 3))
        self.socket.settimeout(10)
        self.mac = node.mac(port)

    def seen(self, kind):
        """Fields of the next message of a kind, and where the frame went."""
        while True:
            frame, address = self.socket.recvfrom(65536)
            if (address[1] == 0x88b5 and frame[15] == kind and
                    address[2] != socket.PACKET_OUTGOING):
                return list(struct.unpack_from(HEADER, frame, 14)), frame[:6]

    def send(self, source, payload, target=None):
        self.socket.send((target or mac_bytes(self.mac)) + mac_bytes(source) +
                         struct.pack("!H", 0x88b5) + payload)

    def close(self):
        self.socket.close()


def counted(node, port, counter, act):
    """What is done is counted once, on an RX lane."""
    before = node.acks(port, 1)[counter]
    act()
    poll(lambda: node.acks(port, 1)[counter] == before + 1, counter)


def frames():
    """Probes are to all; only a reply to one of the last proves a lane."""
    set_up()
    k0, k1, k2 = LAB.nodes
    LAB.cut(0, 1)
    start(k0, 1, degrade=True, verify=20000)
    fibre = Fibre(k0, 1)
    probe, target = fibre.seen(3)
    fibre.close()
    expect(target == b"\xff" * 6, target)
    (_, _, flags, hops, _, origin, to_node, origin_port, to_port, queue, _,
     epoch, seq, stamp, segment, meant, meant_port, _) = probe
    expect((flags, hops, origin, origin_port, to_node, to_port, queue,
            segment, meant, meant_port) == (0, 1, 0, 1, 1, 1, 0, 1, 0, 0),
           probe)
    expect(epoch == k0.lane(1, TX)["epoch"], probe)

    def reply(epoch=epoch, seq=seq, stamp=stamp, segment=1, meant=(1, 1)):
        return struct.pack(HEADER, 1, 4, 0, 64, 48, 1, 0, 1, 1, 0, 0, epoch,
                           seq, stamp, segment, *meant, 0)
    fibre = Fibre(k0, 0)
    for wrong in ({"epoch": epoch - 1}, {"seq": seq + 1000},
                  {"stamp": stamp + 1}, {"segment": 0}, {"meant": (2, 1)}):
        counted(k0, 0, "replayed", lambda: fibre.send(k2.mac(0),
                                                      reply(**wrong)))
    counted(k0, 0, "refused", lambda: fibre.send(k1.mac(0), reply()))
    expect(transition(k0)["phase"] == VERIFY and closed(k0) == 2, "proved")
    wire_tap = Fibre(k0, 1)
    while transition(k0)["phase"] == VERIFY:	# to the last one of all
        last = wire_tap.seen(3)[0]
        fibre.send(k2.mac(0), reply(seq=last[12], stamp=last[13]))
    expect(ended(k0)["result"] == DONE, transition(k0))
    wire_tap.close()
    fibre.close()
    # It is proved, and yet nobody ever answers on it.
    poll(lambda: "closed" in k0.lane(1, TX), "it fails in service")
    # What k1 says of probes that it gets.
    set_up()
    fibre = Fibre(k1, 0)

    def ask(node, port, source=(0, 0)):
        return struct.pack(HEADER, 1, 3, 0, 1, 48, source[0], node, source[1],
                           port, 0, 0, 5, 6, 7, 8, 0, 0, 0)
    everybody = b"\xff" * 6
    back = Fibre(k1, 1)	# segment 0 has this lane to k0
    fibre.send(k0.mac(0), ask(1, 0), everybody)
    got = back.seen(4)[0]
    expect(got[5:9] == [1, 0, 0, 0] and got[11:17] == [5, 6, 7, 8, 1, 0], got)
    counted(k1, 0, "refused",
            lambda: fibre.send(k0.mac(0), ask(2, 1), everybody))
    got = back.seen(4)[0]
    expect(got[5:9] == [1, 0, 0, 0] and got[15:17] == [2, 1], got)
    for source, payload, target in (
            (k0.mac(0), ask(1, 0), None),	# to one
            (k2.mac(0), ask(1, 0), everybody),	# from another port
            (k0.mac(0), ask(1, 0, (2, 0)), everybody),	# of another lane
            (k0.mac(0), reply(), everybody)):	# no probe
        counted(k1, 0, "refused",
                lambda: fibre.send(source, payload, target))
    fibre.close()
    back.close()


def refusals():
    """What cannot be asked for, and what a transition that runs forbids."""
    set_up()
    k0 = LAB.nodes[0]

    def refused(words, act, *args, **more):
        try:
            act(*args, **more)
        except Refused as error:
            expect(words in error.message, error)
            return
        raise AssertionError("accepted: not %s" % words)
    refused("active already", start, k0, 0)
    refused("no such segment", start, k0, 7)
    refused("no transition runs", k0.netlink.set, TRANSITION_ABORT, dev())
    hook = Hook(k0)
    start(k0, 1)
    call = hook.called()
    refused("a transition runs", start, k0, 1)
    refused("transition", k0.netlink.set, SEGMENT_DEL, dev(), u32(3, 1))
    refused("transition", k0.netlink.set, SEGMENT_ACTIVATE, dev(), u32(3, 1))
    k0.netlink.set(TRANSITION_ABORT, dev())
    call = hook.called()
    expect(call["to"] == 0, call)
    refused("on its way back", k0.netlink.set, TRANSITION_ABORT, dev())
    hook.done(call)
    got = ended(k0)
    expect(got["result"] == ROLLED_BACK and got["reason"] == "aborted" and
           got["faults"][0]["kind"] == ABORTED, got)
    hook.close()
    all_reach()


def port_goes():
    """A port that is taken away in a transition fails its lane only."""
    set_up()
    k0 = LAB.nodes[0]
    hook = Hook(k0)
    start(k0, 1, degrade=True)
    call = hook.called()
    k0.ip("link", "set", "p1", "nomaster")
    hook.done(call)
    got = ended(k0)
    expect(got["result"] == DEGRADED and
           got["faults"][0]["kind"] == PORT_GONE, got)
    # Answers for the other lane may have come in over the port that is gone.
    expect(closed(k0) & 2, got)
    k0.netlink.set(NODE_SET, dev(), LAB.nodes[1].description())
    k0.ip("link", "set", "p1", "master", "lace0")
    hook.close()
    for node in LAB.nodes[1:]:
        node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 1))
    wire(SPECIAL[1])
    poll(lambda: not closed(k0), "the lane is opened")
    all_up()
    all_reach()


def ends():
    """Devices, namespaces and the module go in the middle of transitions."""
    set_up()
    hooks = [Hook(node) for node in LAB.nodes]
    for node, hook in zip(LAB.nodes, hooks):
        start(node, 1)
        hook.called()
    LAB.nodes[0].ip("link", "del", "lace0")
    LAB.nodes[1].netlink.close()
    LAB.nodes[1].netlink = None
    hooks[1].close()
    run("ip", "netns", "del", LAB.nodes[1].netns)
    poll(lambda: not succeeds("ip", "-n", LAB.SWITCH, "link", "show", "s1p0"),
         "the namespace is gone", 20)
    unload_module("lace")
    expect(not os.path.exists("/sys/module/lace"), "still there")
    for hook in hooks:
        hook.close()


TESTS = (goes, streams, wrong_wiring, silent, frames, blip, fails, unmoved,
         undrained, paced, refusals, port_goes, ends)


def main_inside():
    with LAB:
        for one in RING:
            LAB.join(*one)
        main(*(t for t in TESTS
               if len(sys.argv) < 2 or t.__name__ in sys.argv[1:]))


main_inside()
