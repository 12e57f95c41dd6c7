#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Memory that cannot be had: what fails for it says so and has changed nothing, and
the kernel complains of nothing.

usage: kmod_failslab.py [--percent N TEST...]

    k0 ====> k1 ====> k2 ====> k0	two lanes each

First each command once for each allocation that it makes, which fails alone (for
links, of which the kernel makes most, each seventh); then
traffic and transitions while one of a hundred allocations of the module fails,
one of twenty, one of ten, whoever makes them.

With --percent and names of other Python programs here: runs those, while as many
allocations of the module fail in each of their tests, but not before the first one.
What they say of it does not count, but they have to end; what the kernel says counts.

in turn: debug
timeout: 400
"""

import argparse
import contextlib
import errno
import functools
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
import lib_kmod  # noqa: E402
from lib_failslab import (MANY, SHORT, Nth, allow_faults,  # noqa: E402
                          contents, failed_so_far, percent_of_module)
from lib_kmod import (DEV_GET, DEV_SET, HOOK_DEL, HOOK_GET,  # noqa: E402
                      HOOK_SET, IDLE, LANE_GET, NLM_F_ACK, NLM_F_DUMP,
                      NLM_F_ECHO, NLM_F_REQUEST, NLMSG_ERROR, NODE_DEL,
                      NODE_GET, NODE_SET, PORT_SET, QUIESCE, RX,
                      SEGMENT_ACTIVATE, SEGMENT_DEL, SEGMENT_GET, SEGMENT_SET,
                      SLOW, TRANSITION_GET, TRANSITION_START, TX, Beside, Lab,
                      Netlink, Refused, attr, circuit, dev, expect, iperf,
                      load_module, main, nest, node_port, poll, prefix, ring,
                      route, run, succeeds, text, u8, u16, u32, unload_module)

HERE = os.path.dirname(os.path.realpath(__file__))
ISOLATE = os.path.join(HERE, "../harness/isolate")
LIMIT_S = 1200
LINK_STEP = 7
RTM_NEWLINK, RTM_DELLINK = 16, 17
NLM_F_CREATE, NLM_F_EXCL = 0x400, 0x200
IFLA_IFNAME, IFLA_MASTER, IFLA_LINKINFO = 3, 10, 18
IFLA_INFO_KIND = 1


# Commands, one allocation at a time.

class Links:
    """Links, by hand: the thread that asks is the one whose allocations fail."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.bind((0, 0))
        self.socket.settimeout(20 * SLOW)

    def ask(self, kind, flags, index, *attrs):
        body = struct.pack("=BxHiII", 0, 0, index, 0, 0) + b"".join(attrs)
        self.socket.send(struct.pack(
            "=IHHII", 16 + len(body), kind, NLM_F_REQUEST | NLM_F_ACK | flags,
            1, 0) + body)

    def receive(self):
        data = self.socket.recv(1 << 16)
        expect(struct.unpack_from("=H", data, 4)[0] == NLMSG_ERROR, data)
        code = -struct.unpack_from("=i", data, 16)[0]
        if code:
            raise Refused(code, "", None)

    def set(self, *request):
        self.ask(*request)
        self.receive()


class Command:
    """A command in two steps, and how to undo what it did."""

    def __init__(self, name, ask, receive, undo):
        self.name, self.ask, self.receive = name, ask, receive
        self.undo = undo or (lambda: None)


class Place:
    """lace0, its nodes and segments, and how it looks."""

    def __init__(self):
        run("ip", "-batch", "-", commands="\n".join(
            ["link add lace0 type lace"] +
            ["link add p%d up master lace0 type dummy" % i for i in (0, 1)] +
            ["link set lace0 up", "link add q0 up type dummy"]))
        self.netlink = Netlink()
        self.links = Links()
        self.listener = Netlink()
        for group in ("monitor", "transition", "hook"):
            self.listener.join(group)
        self.netlink.set(DEV_SET, dev(), u16(3, 0))
        for number in range(3):
            self.netlink.set(NODE_SET, node(number))
        for number in (7, 8):
            self.netlink.set(SEGMENT_SET, segment(number, number - 7))
        self.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 7))

    def close(self):
        self.netlink.close()
        self.listener.close()
        for name in ("lace0", "p0", "p1", "q0", "q1"):
            succeeds("ip", "link", "del", name)

    def look(self):
        """All that a command of the family could change."""
        return self.netlink.state(), self.netlink.dump(HOOK_GET)

    def look_at_links(self):
        """All that a command about links could change."""
        folder = "/sys/class/net/"
        return self.look(), {
            name: (contents(folder + name + "/flags"),
                   contents(folder + name + "/mtu"),
                   os.path.exists(folder + name + "/master"))
            for _, name in socket.if_nameindex()}


def node(number, *more):
    return dev() + u16(3, number) + prefix("10.0.%d.0/24" % number) + \
        prefix("fd00:%d::/32" % number) + \
        node_port(0, "02:00:00:00:%02x:00" % number) + \
        node_port(1, "02:00:00:00:%02x:01" % number) + b"".join(more)


def segment(number, port):
    return dev() + u32(3, number) + circuit(port, TX, 1, port) + \
        circuit(port, RX, 2, port) + route(0, 2, None, 1) + route(2, 1, 2, 1)


def link_commands(place):
    links, index = place.links, socket.if_nametoindex
    lace0, q0 = index("lace0"), index("q0")

    def command(name, request, undo):
        return Command(name, lambda: links.ask(*request), links.receive,
                       lambda: links.set(*undo()))
    return [
        command("add a device",
                (RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0,
                 text(IFLA_IFNAME, "lace1"),
                 nest(IFLA_LINKINFO, attr(IFLA_INFO_KIND, b"lace"))),
                lambda: (RTM_DELLINK, 0, index("lace1"))),
        command("add a port", (RTM_NEWLINK, 0, q0, u32(IFLA_MASTER, lace0)),
                lambda: (RTM_NEWLINK, 0, q0, u32(IFLA_MASTER, 0)))]


def commands(netlink):
    """Those of the family."""
    def to(command, *attrs):
        return lambda: netlink.set(command, *attrs)

    def settle():
        poll(lambda: netlink.get(TRANSITION_GET, dev())["phase"] == IDLE,
             "the end of a transition", 20)
        netlink.set(SEGMENT_ACTIVATE, dev())
        netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 7))

    def command(name, flags, undo, number, *attrs):
        return Command(name, lambda: netlink.send(number, b"".join(attrs),
                                                  flags),
                       netlink.receive_answers, undo)
    short = nest(10, *(u32(phase, 1) for phase in range(1, 7)))
    table = [
        ("set a key", to(DEV_SET, dev(), attr(12, b"")),
         DEV_SET, dev(), attr(12, bytes(16))),
        ("set an interval", to(DEV_SET, dev(), u32(11, 100)),
         DEV_SET, dev(), u32(11, 50)),
        ("number a port", to(PORT_SET, text(2, "q1"), u8(3, 2)),
         PORT_SET, text(2, "q1"), u8(3, 9)),
        ("add a node", to(NODE_DEL, dev(), u16(3, 3)), NODE_SET, node(3)),
        ("replace a node in use", to(NODE_SET, node(1)),
         NODE_SET, node(1, prefix("10.9.0.0/16"))),
        ("delete a node", to(NODE_SET, node(4)), NODE_DEL, dev(), u16(3, 4)),
        ("add a segment", to(SEGMENT_DEL, dev(), u32(3, 9)),
         SEGMENT_SET, segment(9, 0)),
        ("replace a segment", None, SEGMENT_SET, segment(8, 1)),
        ("delete a segment", to(SEGMENT_SET, segment(8, 1)),
         SEGMENT_DEL, dev(), u32(3, 8)),
        ("activate a segment", to(SEGMENT_ACTIVATE, dev(), u32(3, 7)),
         SEGMENT_ACTIVATE, dev(), u32(3, 8)),
        ("start a transition", settle,
         TRANSITION_START, dev(), u32(6, 8), short),
        ("set a hook", to(HOOK_DEL, dev(), text(3, "h")),
         HOOK_SET, dev(), text(3, "h"), u32(4, 1 << QUIESCE))]
    questions = [("get a device", DEV_GET, dev()),
                 ("get a node", NODE_GET, dev(), u16(3, 1)),
                 ("get a lane", LANE_GET, dev(), u8(3, 0), u8(5, TX)),
                 ("get a segment", SEGMENT_GET, dev(), u32(3, 7))]
    dumps = [("dump devices", DEV_GET), ("dump nodes", NODE_GET),
             ("dump lanes", LANE_GET), ("dump segments", SEGMENT_GET),
             ("dump transitions", TRANSITION_GET), ("dump hooks", HOOK_GET)]
    return [command(name, NLM_F_ACK | NLM_F_ECHO, undo, *request)
            for name, undo, *request in table] + \
        [command(name, NLM_F_ACK, None, *request)
         for name, *request in questions] + \
        [command(name, NLM_F_DUMP, None, *request) for name, *request in dumps]


def each_command():
    """Commands are refused as a whole, whichever allocation fails"""
    place = Place()
    nth = Nth()
    try:
        for command in link_commands(place):	# most are none of the module
            nth.exhaust(command, place.look_at_links, LINK_STEP)
        run("ip", "link", "add", "q1", "master", "lace0", "type", "dummy")
        place.netlink.set(NODE_SET, node(4))
        for command in commands(place.netlink):
            nth.exhaust(command, place.look)
    finally:
        place.close()


def load_with(nth, number):
    """Whether the module is loaded, and after how many allocations, if none
    failed."""
    nth.set(number)
    try:
        load_module("/tmp/lace.ko")
        loaded = True
    except OSError as error:
        expect(error.errno in SHORT, error)
        loaded = False
    finally:
        left = nth.left()
        nth.set(0)
    expect(loaded == os.path.exists("/sys/module/lace"), number)
    if loaded:
        unload_module("lace")
    return loaded, number - left


def loading():
    """The module is loaded, or not at all, whichever allocation fails"""
    run("strip", "-g", "-o", "/tmp/lace.ko",
        run("modinfo", "-n", "lace").strip())
    unload_module("lace")
    nth = Nth()
    total = load_with(nth, MANY)[1]
    numbers = range(max(1, total - 40), total + 1)	# its own are the last
    refused = sum(not load_with(nth, number)[0] for number in numbers)
    load_module("/tmp/lace.ko")
    print("# the last %d of %d allocations failed, refused for %d" % (
        len(numbers), total, refused))
    # How many of them the kernel can do without differs from time to time.
    expect(refused, "each of them can be done without")


# Traffic.

LANES = ring(3, 2)
# What a command may also answer, as what it builds on may not be there.
FOLLOWS = SHORT + (errno.EBUSY, errno.EEXIST, errno.ENOENT, errno.EALREADY,
                   errno.EINVAL, errno.ENODEV, errno.ENETDOWN)


class Churn(Beside):
    """Nodes, segments, ports, keys and transitions, as long as it lasts."""

    def __init__(self, lab):
        super().__init__(self.churn)
        self.lab = lab
        self.failures = []
        self.done, self.refused = 0, 0

    def attempt(self, node, command, *attrs):
        try:
            node.netlink.set(command, dev(), *attrs)
            self.done += 1
        except (Refused, OSError) as error:
            self.refused += 1
            if error.errno not in FOLLOWS:
                self.failures.append("%d: %s" % (command, error))

    def step(self, node, number):
        self.attempt(node, NODE_SET, u16(3, 9), prefix("10.88.0.0/16"),
                     prefix("10.88.%d.0/24" % (number % 200)))
        self.attempt(node, DEV_SET, attr(12, bytes(16)))
        self.attempt(node, NODE_SET, node.description())
        self.attempt(node, SEGMENT_SET, self.lab.part(node, 5, *LANES))
        self.attempt(node, HOOK_SET, text(3, "h"), u32(4, 1 << QUIESCE))
        self.attempt(node, HOOK_DEL, text(3, "h"))
        self.attempt(node, TRANSITION_START, u32(6, number % 2),
                     nest(10, *(u32(phase, 100 * SLOW)
                                for phase in range(1, 7))))
        self.attempt(node, SEGMENT_DEL, u32(3, 5))
        self.attempt(node, NODE_DEL, u16(3, 9))
        for more in ("nomaster", "master lace0"):
            succeeds("ip", "link", "set", "p1", *more.split(),
                     netns=node.netns)

    def churn(self):
        number = 0
        while not self.ended.wait(0.01):
            self.step(self.lab.nodes[number % 3], number // 3)
            number += 1


def repair(lab):
    """As it was, now that there is memory."""
    for node in lab.nodes:
        succeeds("ip", "link", "set", "p1", "master", "lace0", "up",
                 netns=node.netns)
        node.netlink.set(DEV_SET, dev(), attr(12, b""))
        for other in lab.nodes:
            node.netlink.set(NODE_SET, dev(), other.description())
        poll(lambda n=node: all(t["phase"] == IDLE for t in
                                n.netlink.dump(TRANSITION_GET)),
             "the end of a transition", 20)
        node.netlink.set(SEGMENT_ACTIVATE, dev())
        node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 0))


def everybody_reaches_everybody(lab):
    return all(succeeds("ping", "-c", "1", "-W", "5", to.v4, netns=by.netns)
               for by in lab.nodes for to in lab.nodes if by is not to)


def stream(lab):
    """TCP to the next node and, relayed, to the one after it, and back."""
    k0, k1, k2 = lab.nodes
    for client, server in ((k0, k1), (k0, k2)):
        with contextlib.suppress(AssertionError):	# it may be cut off
            iperf(client, server, server.v4, "--connect-timeout", "2000",
                  seconds=2)


def disturb(lab, percent):
    """Traffic and commands while so many allocations fail; then all is well."""
    with percent_of_module(percent), Churn(lab) as churn:
        stream(lab)
        failed = failed_so_far()
    print("# %2d %%: %d allocations failed; %d commands done, %d refused" % (
        percent, failed, churn.done, churn.refused), flush=True)
    expect(not churn.failures, churn.failures)
    expect(failed and churn.done, "nothing happened")
    repair(lab)
    poll(lambda: everybody_reaches_everybody(lab), "a way again")


def traffic():
    """Traffic and transitions while 1, 5 and 10 % of allocations fail"""
    with Lab(3, 2) as lab:
        lab.plan(0, *LANES)
        for node in lab.nodes:
            lab.load(node, 1, [c for c in LANES[0] if not c[1]], LANES[1])
        poll(lambda: everybody_reaches_everybody(lab), "a way")
        for percent in (1, 5, 10):
            disturb(lab, percent)


# Other tests.

def failing(percent, test):
    """A test while allocations fail; none does of what is made ready for it."""
    @functools.wraps(test)
    def run_failing():
        with percent_of_module(percent):
            try:
                test()
            finally:
                print("# %d allocations failed" % failed_so_far(), flush=True)
    return run_failing


def run_inside(percent, name):
    """Another program of this folder, whose tests all are such."""
    lib_kmod.main = lambda *tests: main(*(failing(percent, t) for t in tests))
    sys.argv = [name]
    runpy.run_path(os.path.join(HERE, name), run_name="__main__")


def another(percent, name):
    def test():
        run("modprobe", "lace")
        process = subprocess.Popen(
            [ISOLATE, sys.executable, __file__, "--percent", str(percent),
             "--inside", name], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
            env=dict(os.environ, LACE_SLOW="1"), start_new_session=True)
        try:
            output = process.communicate(timeout=LIMIT_S)[0]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        lines = output.splitlines()
        results = [line.split()[0] for line in lines
                   if line.startswith(("ok ", "not ok "))]
        failed = sum(int(line.split()[1]) for line in lines
                     if line.endswith(" allocations failed"))
        print("# %d allocations failed; %d results good, %d not" % (
            failed, results.count("ok"), results.count("not")))
        expect(failed and results, output)
    test.__doc__ = "%s while %d %% of allocations fail" % (name, percent)
    return test


parser = argparse.ArgumentParser()
parser.add_argument("--percent", type=int, default=0)
parser.add_argument("--inside", help=argparse.SUPPRESS)
parser.add_argument("tests", nargs="*")
OPTIONS = parser.parse_args()
if OPTIONS.inside:
    run_inside(OPTIONS.percent, OPTIONS.inside)
    sys.exit()
run("modprobe", "-a", "lace", "dummy")
allow_faults()
if OPTIONS.tests:
    main(*(another(OPTIONS.percent, name) for name in OPTIONS.tests))
else:
    main(each_command, traffic, loading)
