#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Random netlink messages, structured by the specification, and random frames of
the lane protocol and of data: the kernel complains of nothing, a refusal changes
nothing, forged frames change nothing, and a new device works afterwards.

usage: kmod_random.py [--seed N] [--messages N] [--checked N] [--frames N]

    kn		lace0 with ports p0 to p6: for messages
    k0 <====> k1	two ports each, both ways, through random_frames

Makes --messages messages by two senders at once, --checked ones of which each
refusal is looked at, and twice --frames frames: without a key and with one. What
is sent follows from --seed, but not what happens at the same time.

kernels: 6.12
in turn: debug
timeout: 600
"""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import time

import yaml

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (DEV_GET, DEV_SET, DONE, IDLE, LANE_GET,  # noqa: E402
                      NODE_GET, NODE_SET, RX, SEGMENT_GET, SEGMENT_SET, SLOW,
                      TRANSITION_GET, TRANSITION_START, TX, UP, Beside, Lab, Netlink,
                      Refused, attr, circuit, dev, expect, inside, main, nest,
                      node_port, poll, prefix, run, succeeds, u16, u32)

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILT = os.path.join(TOP, os.environ.get("LACE_BUILD", "build"),
                     "selftests/net")
SPEC = os.path.join(TOP, "Documentation/netlink/specs/lace.yaml")
NETNS, PORTS, NODES = "kn", 7, 7
ROUND = 20000	# messages to one device
SENDERS = 2
# How often a command is chosen; others have 1.
WEIGHTS = {"node-set": 6, "segment-set": 8, "segment-activate": 4,
           "transition-start": 4, "hook-done": 4, "hook-set": 2, "dev-set": 2}
# What goes on by itself changes the state at any time.
UNCHECKED = ("transition-start",)
LIMITS = {"u8": 0xff, "u16": 0xffff, "u32": 0xffffffff, "s32": 0x7fffffff,
          "u64": (1 << 64) - 1}
KEY = bytes(range(16))


# Messages.

def attribute_line(spec, owner, value, attribute):
    """What random_netlink is to know of an attribute."""
    checks = attribute.get("checks", {})
    kind = attribute["type"]
    least, most = checks.get("min", 0), checks.get("max", LIMITS.get(kind, 0))
    if "enum" in attribute:
        most = next(len(d["entries"]) for d in spec["definitions"]
                    if d["name"] == attribute["enum"]) - 1
    if most == "s32-max":
        most = LIMITS["s32"]
    exact = checks.get("exact-len", 0)
    return "attr %s %d %s %s %d %d %d %d %s %d" % (
        owner, value, attribute["name"], kind, least % (1 << 64), most,
        checks.get("min-len", exact), checks.get("max-len", exact),
        attribute.get("nested-attributes", "-"),
        attribute.get("multi-attr", False))


def specification(netlink, but=()):
    """The specification as random_netlink reads it, but for some commands."""
    with open(SPEC, encoding="utf-8") as file:
        spec = yaml.safe_load(file)
    lines = ["family %d" % netlink.family]
    lines += ["group %d" % group for group in netlink.groups.values()]
    lines += ["state %d" % command for command in (NODE_GET, SEGMENT_GET)]
    for one in spec["attribute-sets"]:
        lines += [attribute_line(spec, one["name"], value, attribute)
                  for value, attribute in enumerate(one["attributes"], 1)]
    for number, operation in enumerate(spec["operations"]["list"], 1):
        if "do" in operation and operation["name"] not in but:
            lines.append("command %d %s %s %d %d %s" % (
                number, operation["name"], operation["attribute-set"],
                WEIGHTS.get(operation["name"], 1), "dump" in operation,
                " ".join(operation["do"]["request"]["attributes"])))
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def device():
    """A device that knows nodes and has segments, so that much is sound."""
    run("ip", "netns", "add", NETNS)
    try:
        run("ip", "-n", NETNS, "-batch", "-", commands="\n".join(
            ["link add lace0 type lace"] +
            ["link add p%d up master lace0 type dummy" % port
             for port in range(PORTS)] + ["link set lace0 up"]))
        with Netlink(NETNS) as netlink:
            netlink.set(DEV_SET, dev(), u16(3, 0))
            for node in range(NODES):
                netlink.set(NODE_SET, dev(), u16(3, node),
                            prefix("10.9.%d.0/24" % node),
                            *(node_port(port, "02:00:00:00:%02x:%02x" % (
                                node, port)) for port in range(PORTS)))
            for segment in range(4):
                netlink.set(SEGMENT_SET, dev(), u32(3, segment),
                            circuit(segment, TX, 1, segment))
            yield netlink
    finally:
        succeeds("ip", "netns", "del", NETNS)


class Counts:
    """What random_netlink says that it has done."""

    def __init__(self):
        self.sent, self.done, self.errors = {}, {}, {}

    def add(self, output):
        for line in output.splitlines():
            word, key, *numbers = line.split()
            if word == "command":
                for table, number in zip((self.sent, self.done), numbers):
                    table[key] = table.get(key, 0) + int(number)
            else:
                self.errors[key] = self.errors.get(key, 0) + int(numbers[0])

    def print(self):
        for key in self.sent:
            print("# %-16s %8d sent %8d done" % (key, self.sent[key],
                                                 self.done[key]))
        print("# errno: " + ", ".join("%s: %d" % e
                                      for e in self.errors.items()))

    def expect_all(self):
        """Every command was carried out, and refused, in several ways."""
        expect(all(self.done.values()), self.done)
        expect(all(self.sent[k] > self.done[k] for k in self.sent), self.sent)
        expect(len(self.errors) > 8, self.errors)


def sender(netlink, first, count, *options, but=()):
    """random_netlink, at work."""
    with inside(NETNS):
        process = subprocess.Popen(
            [BUILT + "/random_netlink", "--seed", str(OPTIONS.seed), "--first",
             str(first), "--count", str(count), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
    process.stdin.write(specification(netlink, but))
    process.stdin.close()
    return process


def finish(process, counts):
    """Wait for random_netlink."""
    counts.add(process.stdout.read())
    errors = process.stderr.read()
    expect(process.wait() == 0, errors)


def messages():
    """Random messages by two senders at once"""
    counts = Counts()
    for first in range(0, OPTIONS.messages, ROUND):
        share = min(ROUND, OPTIONS.messages - first) // SENDERS
        with device() as netlink:
            processes = [sender(netlink, first + i * share, share)
                         for i in range(SENDERS)]
            for process in processes:
                finish(process, counts)
            for command in (DEV_GET, NODE_GET, LANE_GET, SEGMENT_GET,
                            TRANSITION_GET):
                netlink.dump(command)
    counts.print()
    counts.expect_all()


def checked():
    """A refused message changes no node and no segment"""
    counts = Counts()
    with device() as netlink:
        finish(sender(netlink, 0, OPTIONS.checked, "--check",
                      but=UNCHECKED), counts)
    expect(sum(counts.errors.values()) > OPTIONS.checked / 4, counts.errors)


# Frames.

CIRCUITS = [[[0, 0, 1, 0], [1, 0, 0, 0]], [[0, 1, 1, 1], [1, 1, 0, 1]],
            [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1], [1, 1, 0, 1]]]


class Fibre(Lab):
    """Two nodes with random_frames between them instead of a switch."""

    def __init__(self):
        super().__init__(2, 2)
        self.process = None

    def up(self):
        run("modprobe", "-a", "lace", "tun")
        for node in self.nodes:
            run("ip", "netns", "add", node.netns)
        self.process = subprocess.Popen(
            [BUILT + "/random_frames", "--seed", str(OPTIONS.seed)] +
            [node.netns for node in self.nodes] + ["2"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        expect(self.process.stdout.readline() == "ready\n", "not ready")
        for node in self.nodes:
            for port in range(2):
                # A fibre that is behind must not have frames wait for long.
                node.ip("link", "set", "p%d" % port, "address",
                        node.mac(port), "txqueuelen", "16")
            self.up_node(node)
            node.netlink.set(DEV_SET, dev(), u32(11, 100 * SLOW))
        for node in self.nodes:
            for segment, circuits in enumerate(CIRCUITS):
                self.load(node, segment, circuits)

    def down(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None
        super().down()

    def put_in(self, count):
        """Have frames put in, and wait until they are."""
        self.process.stdin.write("%d\n" % count)
        self.process.stdin.flush()
        self.process.stdout.readline()

    def anew(self):
        """Other devices on the same ports."""
        for node in self.nodes:
            node.netlink.close()
            node.ip("link", "del", "lace0")
            self.up_lace(node)
        for node in self.nodes:
            self.load(node, 0, CIRCUITS[0])
        self.activate(0)


class Talk(Beside):
    """Datagrams to and fro, whatever becomes of them."""

    def __init__(self, lab):
        super().__init__(self.talk)
        self.sockets = []
        for node in lab.nodes:
            with inside(node.netns):
                self.sockets.append(socket.socket(socket.AF_INET,
                                                  socket.SOCK_DGRAM))
                self.sockets.append(socket.socket(socket.AF_INET6,
                                                  socket.SOCK_DGRAM))
        self.targets = [lab.nodes[1].v4, lab.nodes[1].v6, lab.nodes[0].v4,
                        lab.nodes[0].v6]

    def talk(self):
        while not self.ended.wait(0.005 * SLOW * SLOW):	# what lanes can carry
            for one, target in zip(self.sockets, self.targets):
                with contextlib.suppress(OSError):
                    one.sendto(bytes(200), (target, 9))

    def __exit__(self, *_):
        super().__exit__()
        for one in self.sockets:
            one.close()


class Turns(Beside):
    """Transitions of both nodes from segment to segment, without end."""

    def __init__(self, lab):
        super().__init__(self.turn)
        self.lab = lab
        self.started = 0

    def turn(self):
        netlinks = [Netlink(node.netns) for node in self.lab.nodes]
        while not self.ended.wait(0.05 * SLOW):
            for netlink in netlinks:
                with contextlib.suppress(Refused):
                    netlink.set(TRANSITION_START, dev(),
                                u32(6, self.started // 2 % 3),
                                nest(10, *(u32(phase, 200 * SLOW)
                                           for phase in range(1, 7))))
                self.started += 1
        for netlink in netlinks:
            netlink.close()


def reaches(lab):
    return succeeds("ping", "-c", "1", "-W", "5", lab.nodes[1].v4,
                    netns=lab.nodes[0].netns)


def refused_frames(lab):
    """What was refused so far, by reason, over all lanes."""
    total = {}
    for node in lab.nodes:
        for lane in node.netlink.dump(LANE_GET):
            for name in ("refused", "forged", "replayed", "malformed",
                         "unexpected", "spoofed", "misaddressed"):
                total[name] = total.get(name, 0) + lane["stats"][name]
    return total


def frames():
    """Random frames, amid transitions; a new device works afterwards"""
    with Fibre() as lab:
        lab.activate(2)
        poll(lambda: reaches(lab), "a way to begin with")
        with Talk(lab), Turns(lab) as turns:
            lab.put_in(OPTIONS.frames)
        found = refused_frames(lab)
        print("# %d transitions, %s" % (turns.started, found))
        expect(all(found[name] for name in
                   ("refused", "replayed", "unexpected", "malformed")), found)
        lab.anew()
        poll(lambda: reaches(lab), "a way at the end")
        poll(lambda: all(node.lane(0, TX)["state"] == UP
                         for node in lab.nodes), "lanes are up")


def is_idle(node):
    return node.netlink.get(TRANSITION_GET, dev())["phase"] == IDLE


def turn_now(lab, segment):
    """A transition that nobody disturbs but who must not be able to."""
    for node in lab.nodes:
        node.netlink.set(TRANSITION_START, dev(), u32(6, segment),
                         nest(10, *(u32(phase, 5000 * SLOW)
                                    for phase in range(1, 7))))
    poll(lambda: all(is_idle(node) for node in lab.nodes), "the end", 40)
    for node in lab.nodes:
        got = node.netlink.get(TRANSITION_GET, dev())
        expect(got["result"] == DONE, got)


def forged_frames():
    """With a key, random frames change nothing: lanes stay up and are proved"""
    with Fibre() as lab:
        for node in lab.nodes:
            node.netlink.set(DEV_SET, dev(), attr(12, KEY))
        lab.activate(2)
        poll(lambda: all(node.lane(port, TX)["state"] == UP
                         for node in lab.nodes for port in (0, 1)), "up")
        with Talk(lab):
            for turn in range(4):
                lab.put_in(OPTIONS.frames // 4)
                turn_now(lab, turn % 2)
                turn_now(lab, 2)
        found = refused_frames(lab)
        print("# %s" % found)
        expect(found["forged"] and found["replayed"], found)
        poll(lambda: all(node.lane(port, direction)["state"] == UP
                         for node in lab.nodes for port in (0, 1)
                         for direction in (TX, RX)), "lanes are up")


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=int(time.time()))
parser.add_argument("--messages", type=int, default=100000)
parser.add_argument("--checked", type=int, default=2000)
parser.add_argument("--frames", type=int, default=20000)
OPTIONS = parser.parse_args()
print("# --seed %d" % OPTIONS.seed)
run("modprobe", "-a", "lace", "dummy")
main(messages, checked, frames, forged_frames)
