#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The emulated OCS: frames of one lane come out at the lane that the
cross-connect says, and nowhere else.

    o-a: lane0, lane1 \\                / o-b: lane0, lane1
                       o-ocs: BPF OCS
    o-c: lane0, lane1 /  ocs0    ocs1  \\ o-d: p0 (two OCSes)

Fibres of ocs0 are plugged crosswise: input and output numbers of a port differ.
c's lane0 has no RX lane and its lane1 no TX lane; d's ports are on ocs1.
No lace device is needed: frames are raw, lanes are bare.
timeout: 180
"""

import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (SO_RCVBUFFORCE, expect, inside, main,  # noqa: E402
                      run)

LAB = "o"
ETHERTYPE = 0x88b6
PINS = "/sys/fs/bpf/lace/" + LAB

# node, port, input, output; OCS and fibre number, or None
PORTS = [
    ("a", "lane0", ("ocs0", 1), ("ocs0", 8)),
    ("a", "lane1", ("ocs0", 2), ("ocs0", 7)),
    ("b", "lane0", ("ocs0", 3), ("ocs0", 6)),
    ("b", "lane1", ("ocs0", 4), ("ocs0", 5)),
    ("c", "lane0", ("ocs0", 5), None),
    ("c", "lane1", None, ("ocs0", 4)),
    ("d", "p0", ("ocs1", 1), ("ocs1", 1)),
    ("d", "p1", ("ocs1", 2), ("ocs1", 2)),
]


def cluster():
    nodes = {}
    for node, port, tx, rx in PORTS:
        nodes.setdefault(node, []).append(
            {"name": port, "rate_bps": 1000000000,
             "tx": tx and list(tx), "rx": rx and list(rx)})
    return {"format": "lace-cluster/1", "name": LAB, "reconfig_s": 0.02,
            "control_ratio": 0.01,
            "ocs": [{"name": "ocs0", "inputs": 8, "outputs": 8},
                    {"name": "ocs1", "inputs": 2, "outputs": 3}],
            "nodes": [{"name": n, "ports": p} for n, p in nodes.items()]}


class Lane:
    """A raw socket on a node's port."""

    def __init__(self, node, port, tx, rx):
        self.name = "%s/%s" % (node, port)
        self.tx = tx
        self.rx = rx
        with inside("%s-%s" % (LAB, node)):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                        socket.htons(ETHERTYPE))
        self.socket.bind((port, ETHERTYPE))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)

    def send(self, number):
        self.socket.send(b"\2\0\0\0\0\2\2\0\0\0\0\1" +
                         struct.pack("!HI", ETHERTYPE, number) + bytes(42))

    def received(self, wait=0.0):
        """Numbers of the frames that came in, our own not counted."""
        numbers = []
        self.socket.settimeout(wait or 0.000001)
        while True:
            try:
                data, address = self.socket.recvfrom(2048)
            except (TimeoutError, BlockingIOError):
                return numbers
            if address[2] != socket.PACKET_OUTGOING:
                numbers.append(struct.unpack_from("!I", data, 14)[0])
            self.socket.settimeout(0.000001)


def lacectl(*words, status=0):
    done = subprocess.run(("lacectl",) + words, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(done.returncode == status, "lacectl %s: status %d, not %d\n%s" % (
        " ".join(words), done.returncode, status, done.stderr))
    return done.stdout if status == 0 else done.stderr


def connected():
    return {"%s:%d-%d" % (unit["ocs"], c["input"], c["output"])
            for unit in json.loads(lacectl("-j", "ocs", "show", LAB))
            for c in unit["connections"]}


def connect(*crosses, switch_time="0"):
    """Make these the only ones, none of them a leftover that is still dark."""
    lacectl("ocs", "disconnect", LAB, "all")
    lacectl("ocs", "set", LAB, "switch-time", switch_time, *crosses)
    expect(connected() == set(crosses), connected())


def counters(ocs, number):
    units = json.loads(lacectl("-j", "-s", "ocs", "show", LAB))
    return [c for unit in units if unit["ocs"] == ocs
            for c in unit["counters"] if c["input"] == number][0]


def cross(sender, receiver):
    return "%s:%d-%d" % (sender.tx[0], sender.tx[1], receiver.rx[1])


LANES = []


def lane(name):
    return next(x for x in LANES if x.name == name)


def lanes(ocs="ocs0"):
    return ([x for x in LANES if x.tx and x.tx[0] == ocs],
            [x for x in LANES if x.rx and x.rx[0] == ocs])


def drain(wait=0.0):
    return {x.name: x.received(wait) for x in LANES}


def arrivals(wait=0.05):
    """Where frames have come in, {lane: numbers}."""
    time.sleep(wait)
    return {name: numbers for name, numbers in drain().items() if numbers}


def any_to_any():
    """Any input reaches any output, and no other."""
    senders, receivers = lanes()
    for sender in senders:
        for receiver in receivers:
            connect(cross(sender, receiver))
            sender.send(7)
            found = {receiver.name: receiver.received(2)}
            found.update(arrivals(0))
            expect(found == {receiver.name: [7]}, found)


def permutations():
    """All lanes at once, in any permutation, reach each its own."""
    senders, receivers = lanes()
    count = min(len(senders), len(receivers))
    for seed in range(5):
        shuffle = random.Random(seed)
        pairs = list(zip(shuffle.sample(senders, count),
                         shuffle.sample(receivers, count)))
        connect(*(cross(s, r) for s, r in pairs))
        drain()
        for number, (sender, _) in enumerate(pairs):
            sender.send(number)
        want = {r.name: [n] for n, (_, r) in enumerate(pairs)}
        found = arrivals(0.2)
        expect(found == want, (found, want))


def unconnected_is_dark():
    """An input without a connection is dark, and counts what it drops."""
    connect()
    before = counters("ocs0", 1)
    for number in range(10):
        lane("a/lane0").send(number)
    expect(arrivals(0.1) == {}, "frames came through")
    after = counters("ocs0", 1)
    expect(after["dark_packets"] - before["dark_packets"] == 10, after)
    expect(after["dark_bytes"] - before["dark_bytes"] == 600, after)
    expect(after["packets"] == before["packets"], after)


def lit_is_counted():
    """A lit input counts what it forwards."""
    connect("ocs0:1-6")
    before = counters("ocs0", 1)
    for number in range(10):
        lane("a/lane0").send(number)
    expect(arrivals(0.1) == {"b/lane0": list(range(10))}, "frames are lost")
    after = counters("ocs0", 1)
    expect(after["packets"] - before["packets"] == 10, after)
    expect(after["bytes"] - before["bytes"] == 600, after)
    expect(after["dark_packets"] == before["dark_packets"], after)


def dark_while_switching():
    """A circuit that moves is dark for the switching time, then lit."""
    switch_s = 0.4
    connect("ocs0:1-6")
    drain()
    start = time.monotonic()
    lacectl("ocs", "set", LAB, "switch-time", "400ms", "ocs0:1-5")
    done = time.monotonic()
    sent = []
    while time.monotonic() < done + switch_s + 0.3:
        sent.append(time.monotonic())
        lane("a/lane0").send(len(sent) - 1)
        time.sleep(0.002)
    found = arrivals()
    expect(list(found) == ["b/lane1"], list(found))
    first = found["b/lane1"][0]
    expect(sent[first] >= start + switch_s,
           "lit %.3f s after it was asked for" % (sent[first] - start))
    # One frame before it, light was still missing.
    expect(sent[first - 1] <= done + switch_s,
           "dark %.3f s after it was done" % (sent[first - 1] - done))
    expect(found["b/lane1"] == list(range(first, len(sent))), "then lost")


def show_says_dark():
    """ocs show says what is still dark, and for how long."""
    connect()
    lacectl("ocs", "connect", LAB, "switch-time", "30s", "ocs0:1-6")
    state = json.loads(lacectl("-j", "ocs", "show", LAB))[0]["connections"][0]
    expect(not state["lit"] and 20 < state["dark_s"] <= 30, state)
    expect("dark for" in lacectl("ocs", "show", LAB), "text says nothing")
    # What stays keeps its time: it is not lit by setting it once more.
    lacectl("ocs", "set", LAB, "switch-time", "0", "ocs0:1-6", "ocs0:2-5")
    state = json.loads(lacectl("-j", "ocs", "show", LAB))[0]["connections"]
    expect(not state[0]["lit"] and state[1]["lit"], state)


def circuits_that_stay():
    """Circuits that stay lose no frame while others move."""
    connect("ocs0:1-6", "ocs0:2-5")
    drain()
    stop = threading.Event()
    sent = [0]

    def send():
        while not stop.is_set():
            lane("a/lane0").send(sent[0])
            sent[0] += 1
            time.sleep(0.0005)

    sender = threading.Thread(target=send)
    sender.start()
    for turn in range(15):
        others = (["ocs0:2-5", "ocs0:3-8"] if turn % 2 else
                  ["ocs0:2-8", "ocs0:4-7"])
        lacectl("ocs", "set", LAB, "switch-time", "5ms", "ocs0:1-6", *others)
    stop.set()
    sender.join()
    expect(sent[0] > 100, "only %d frames were sent" % sent[0])
    found = arrivals(0.2)
    expect(list(found) == ["b/lane0"], list(found))
    expect(found["b/lane0"] == list(range(sent[0])),
           "%d of %d frames" % (len(found["b/lane0"]), sent[0]))


def swapped():
    """Two circuits that swap outputs never feed one output together."""
    connect("ocs0:1-6", "ocs0:2-5")
    drain()
    first, second = lane("a/lane0"), lane("a/lane1")
    for turn in range(10):
        there = turn % 2 == 0
        lacectl("ocs", "set", LAB, "switch-time", "0",
                *(["ocs0:1-5", "ocs0:2-6"] if there else
                  ["ocs0:1-6", "ocs0:2-5"]))
        first.send(1)
        second.send(2)
        want = {"b/lane0": [2], "b/lane1": [1]} if there else \
            {"b/lane0": [1], "b/lane1": [2]}
        found = arrivals()
        expect(found == want, (found, want))


def refused():
    """What contradicts itself or the front panel is refused as a whole."""
    connect("ocs0:1-6")
    for words, status, reason in (
            (("connect", LAB, "ocs0:2-6"), 1, "fed by input 1"),
            (("connect", LAB, "ocs0:1-5"), 1, "connected to output 6"),
            (("connect", LAB, "ocs0:2-5", "ocs0:2-7"), 1, "connected to"),
            (("disconnect", LAB, "ocs0:2-6"), 1, "not connected"),
            (("set", LAB, "ocs0:1-5", "ocs0:2-5"), 2, "fed by input 1"),
            (("set", LAB, "ocs0:2-5", "ocs0:2-7"), 2, "connected to"),
            (("set", LAB, "ocs0:0-5"), 2, "no input 0"),
            (("set", LAB, "ocs0:2-5", "ocs0:9-7"), 2, "no input 9"),
            (("set", LAB, "ocs0:2-9"), 2, "no output 9"),
            (("set", LAB, "ocs2:1-1"), 2, "no OCS"),
            (("set", LAB, "1-1"), 2, "which of the 2"),
            (("set", LAB, "ocs0:1"), 2, "is not"),
            (("set", LAB, "ocs0:1-2-3"), 2, "is not"),
            (("set", LAB, "ocs0:-1-2"), 2, "is not"),
            (("set", LAB, "ocs0:99999999999-2"), 2, "is not"),
            (("set", LAB, "switch-time", "-1", "ocs0:2-5"), 2, "no time"),
            (("set", LAB, "switch-time", "2h", "ocs0:2-5"), 2, "no time"),
            (("set", LAB, "switch-time", "nan", "ocs0:2-5"), 2, "no time"),
            (("set", LAB, "switch-time", "9999", "ocs0:2-5"), 2, "not from"),
            (("connect", LAB), 2, "missing"),
            (("show", "nolab"), 1, "no lab nolab"),
            (("show", "../o"), 2, "not the name"),
            (("show",), 2, "missing")):
        said = lacectl("ocs", *words, status=status)
        expect(reason in said and said.count("\n") == 1, (words, said))
        expect(connected() == {"ocs0:1-6"}, (words, connected()))


def planes():
    """OCSes do not leak into each other."""
    connect("ocs1:1-2", "ocs1:2-1", "ocs0:1-6")
    drain()
    lane("d/p0").send(1)
    lane("d/p1").send(2)
    lane("a/lane0").send(3)
    found = arrivals()
    expect(found == {"d/p1": [1], "d/p0": [2], "b/lane0": [3]}, found)
    lacectl("ocs", "disconnect", LAB, "ocs1:1-2", "ocs1:2-1")
    lane("a/lane0").send(4)
    lane("d/p0").send(5)
    found = arrivals()
    expect(found == {"b/lane0": [4]}, found)


def null_lanes():
    """Lanes that do not exist carry nothing."""
    # Input 6 has no fibre, nor has output 3 of ocs0 or output 3 of ocs1.
    connect("ocs0:6-6", "ocs0:1-3", "ocs1:1-3")
    drain()
    before = counters("ocs0", 1)["dark_packets"]
    lane("c/lane1").send(1)
    lane("a/lane0").send(2)
    lane("d/p0").send(3)
    found = arrivals()
    expect(found == {}, found)
    expect(counters("ocs0", 1)["dark_packets"] == before + 1, "not counted")


def together():
    """Changes by several at once do not undo each other."""
    connect()

    def work(number):
        for _ in range(8):
            words = (LAB, "ocs0:%d-%d" % (number, 9 - number))
            lacectl("ocs", "connect", *words)
            lacectl("ocs", "disconnect", *words)
        lacectl("ocs", "connect", *words)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expect(connected() == {"ocs0:%d-%d" % (n, 9 - n) for n in range(1, 5)},
           connected())


def bpftool_names():
    """bpftool prints the maps with the names of their fields."""
    connect("ocs0:1-6")
    dump = json.loads(run("bpftool", "-j", "map", "dump", "pinned",
                          PINS + "/ocs_connect"))
    one = [x["formatted"]["value"] for x in dump
           if x["formatted"]["key"] == {"ocs": 0, "port": 1}]
    expect(one and one[0]["output"] == 6, dump)
    dump = json.loads(run("bpftool", "-j", "map", "dump", "pinned",
                          PINS + "/ocs_count"))
    expect("dark_packets" in dump[0]["formatted"]["value"], dump)


def close_lanes():
    while LANES:
        LANES.pop().socket.close()


def stale_pins():
    """Pins of an older layout are refused, and replaced by a new lab."""
    close_lanes()
    lacectl("lab", "down", LAB)
    expect(not os.path.exists(PINS), "pins are left")
    os.makedirs(PINS)
    run("bpftool", "map", "create", PINS + "/ocs_layout", "type", "array",
        "key", "4", "value", "8", "entries", "1", "name", "ocs_layout")
    run("bpftool", "map", "update", "pinned", PINS + "/ocs_layout", "key",
        *"0 0 0 0".split(), "value", *"99 0 0 0 1 0 0 0".split())
    run("bpftool", "map", "create", PINS + "/ocs_of_before", "type", "hash",
        "key", "4", "value", "4", "entries", "1", "name", "ocs_of_before")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cluster(), file)
        file.flush()
        said = run("lacectl", "lab", "up", file.name, "bare")
    expect("layout is 99" in said, said)
    expect(not os.path.exists(PINS + "/ocs_of_before"), "an old pin is left")
    connect("ocs0:1-6")
    run("bpftool", "map", "update", "pinned", PINS + "/ocs_layout", "key",
        *"0 0 0 0".split(), "value", *"99 0 0 0 1 0 0 0".split())
    said = lacectl("ocs", "show", LAB, status=1)
    expect("layout 99" in said, said)


def up():
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cluster(), file)
        file.flush()
        run("lacectl", "lab", "up", file.name, "bare")
    LANES.extend(Lane(*port) for port in PORTS)


try:
    up()
    main(any_to_any, permutations, unconnected_is_dark, lit_is_counted,
         dark_while_switching, show_says_dark, circuits_that_stay, swapped,
         refused, planes, null_lanes, together, bpftool_names, stale_pins)
finally:
    close_lanes()
    subprocess.run(("lacectl", "lab", "down", LAB), check=False,
                   stderr=subprocess.DEVNULL)
