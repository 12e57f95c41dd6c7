#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Random faults during transitions and traffic: whatever happens, traffic goes
on or the nodes say why it does not, within their deadlines, and after the fault
all of it goes on again.

    ports 0	n0 ----> n1 ----> n2 ----> n0	in both segments
    ports 1	the same in segment 0, the other way round in segment 1

Six checked TCP streams run all the time, one for each pair of nodes. Nothing may
reach a node that is not for it.

usage: fault_campaign.py [--count N] [--seed N] [--kind WORDS]

timeout: 900
"""

import argparse
import collections
import ctypes
import json
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_faults import KINDS, NODES, PORTS, commands_of, draw  # noqa: E402
from lib_kmod import (DEV_GET, DEV_NTF, LANE_GET, LANE_NTF,  # noqa: E402
                      RUNNING, SEGMENT_NTF, SLOW, TRANSITION_GET,
                      TRANSITION_NTF, TX, UP, Netlink, Refused, dev, expect,
                      inside, main, run)
from lib_lab import lacectl  # noqa: E402
from lib_stream import TransitionLab, finish  # noqa: E402

COUNT = 24		# two of each kind, in about 3 minutes
SPARE_S = 10 * SLOW	# for a machine that is busy
VERDICT_S = 6 * SLOW	# for traffic to go on, or the state to be told
RECOVERY_S = 60 * SLOW	# TCP waits longer the longer it has waited
# Of the module, in seconds.
BEFORE_SWITCH, FROM_SWITCH, RESUME = 2, 8, 1
LEAST_READ = 16384
ETH_P_IP, SO_ATTACH_FILTER, ARPHRD_NONE = 0x0800, 26, 0xfffe


class FaultLab(TransitionLab):
    """Whose devices can be made anew, and whose streams leave the machine time for
    other things.
    """

    def stream(self, source, target, port):
        stream = super().stream(source, target, port)
        stream.incoming.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT,
                                   LEAST_READ)
        return stream

    def up(self, *words):
        cluster = self.write("cluster.json", self.cluster)
        self.dry_run = lacectl("lab", "up", cluster, *words, "dry-run")
        super().up(*words)

    def recreate(self, node):
        run("sh", "-e", commands="\n".join(commands_of(node, self.dry_run)))


LAB = FaultLab("f")


class Watch(threading.Thread):
    """What a node tells its monitors: in which phase it is, and when it told of
    something last.
    """

    def __init__(self, node):
        super().__init__(daemon=True)
        self.netlink = Netlink(LAB.netns(node), buffer=1 << 17)
        self.netlink.socket.settimeout(None)
        for group in ("monitor", "transition"):
            self.netlink.join(group)
        self.phase = 0
        self.told = 0
        self.start()

    def run(self):
        while True:
            try:
                messages = self.netlink.receive()
            except OSError:	# more than the socket could hold
                continue
            for message in messages:
                if message.cmd == TRANSITION_NTF:
                    self.phase = message.decoded().get("phase", 0)
                if message.cmd in (DEV_NTF, LANE_NTF, SEGMENT_NTF,
                                   TRANSITION_NTF):
                    self.told = time.monotonic()


class Strays:
    """IP packets that a node's lace0 takes in and that are for another node, or
    from none of the others.
    """

    def __init__(self, node):
        with inside(LAB.netns(node)):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                        socket.htons(ETH_P_IP))
        own, first = (int.from_bytes(socket.inet_aton(LAB.address(n)), "big")
                      for n in (node, 0))
        code = ((0x28, 0, 0, 0xfffff004),	# type of packet
                (0x15, 8, 0, socket.PACKET_OUTGOING),
                (0x28, 0, 0, 0xfffff01c),	# type of device
                (0x15, 0, 6, ARPHRD_NONE),
                (0x20, 0, 0, 16),		# destination
                (0x15, 0, 5, own),
                (0x20, 0, 0, 12),		# source
                (0x15, 3, 0, own),
                (0x35, 0, 2, first),
                (0x25, 1, 0, first + NODES - 1),
                (0x06, 0, 0, 0),
                (0x06, 0, 0, 0xffff))
        program = ctypes.create_string_buffer(
            b"".join(struct.pack("=HBBI", *one) for one in code))
        self.socket.setsockopt(
            socket.SOL_SOCKET, SO_ATTACH_FILTER,
            struct.pack("HL", len(code), ctypes.addressof(program)))
        self.socket.setblocking(False)

    def taken(self):
        """Those since the last time."""
        packets = []
        while True:
            try:
                packets.append(self.socket.recv(40).hex())
            except BlockingIOError:
                return packets


# What the nodes say.

class State:
    """Of a node at a moment: its device and lanes; no device: none."""

    def __init__(self, node):
        found = NETLINK[node].dump(DEV_GET)
        self.device = found[0] if found else {}
        self.segment = self.device.get("segment")
        self.lanes = NETLINK[node].dump(LANE_GET) if found else []

    def says_no_lane(self, peer):
        """Whether no lane carries data to a neighbour, and it says so."""
        return self.segment is None or all(
            "closed" in lane or "port_ifindex" not in lane
            for lane in self.lanes
            if lane["dir"] == TX and lane.get("peer") == peer)

    def is_whole(self):
        return self.segment is not None and all(
            "closed" not in lane and lane["state"] == UP
            for lane in self.lanes) and len(self.lanes) == 2 * PORTS


def states():
    return [State(node) for node in range(NODES)]


def transition_runs(node):
    if not NETLINK[node].dump(DEV_GET):
        return False
    try:
        return NETLINK[node].get(TRANSITION_GET,
                                 dev())["result"] == RUNNING
    except Refused:	# there was none, or the device has just gone
        return False


def path(segment, source, target):
    """Hops of the plan's way."""
    circuits = {(c[0], c[2]) for c in LAB.plan[segment]["circuits"]}
    if (source, target) in circuits:
        return [(source, target)]
    return [((source + i) % NODES, (source + i + 1) % NODES)
            for i in range((target - source) % NODES)]


def why(pair, now, since):
    """The nodes that say why a stream does not go on, and told monitors."""
    nodes = set()
    for source, target in (pair, pair[::-1]):
        segment = now[source].segment
        if segment is None:
            nodes.add(source)
            continue
        nodes |= {a for a, b in path(segment, source, target)
                  if now[a].says_no_lane(b)}
    return {node for node in nodes if WATCHES[node].told >= since}


# One fault.

class Progress:
    """Which streams have carried something since."""

    def __init__(self, streams):
        self.waiting = [(stream, stream.received) for stream in streams]

    def stuck(self):
        self.waiting = [(stream, before) for stream, before in self.waiting
                        if stream.received == before]
        return [stream.pair for stream, _ in self.waiting]


class Outcome:
    """What became of a fault."""

    def __init__(self, fault):
        self.fault = fault
        self.kind = fault.kind
        self.phases = ()	# of each node before it and after it
        self.results = ""	# of each node's transition
        self.gated = 0		# streams
        self.recovery = 0
        self.failure = None

    def end_transition(self, said):
        """said: by lacectl, if it lived to the end."""
        first, _, _ = said.partition("\nlacectl: ")
        try:
            nodes = json.loads(first)["nodes"].values()
        except ValueError:
            nodes = ()
        self.results = " ".join(node["result"] for node in nodes) or "-"


def wait_until(condition, seconds):
    """How long it took, or None."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > seconds:
            return None
        time.sleep(0.1)
    return time.monotonic() - begin


def begin_transition(segment, retries, degrade):
    return subprocess.Popen(
        ("lacectl", "-j", "plan", "apply", LAB.path("plan.json"), "--lab",
         LAB.name, "--segment", str(segment), "--transition", "--retries",
         str(retries), "--on-failure", "degrade" if degrade else "rollback"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for_phase(process, phase):
    """Until a node is as far as that, or the transition is over."""
    while process.poll() is None and \
            all(w.phase < phase for w in WATCHES):
        time.sleep(0.001)


def end_transition(process, retries):
    """Waits for it as long as it may take."""
    limit = BEFORE_SWITCH + 2 * (1 + retries) * FROM_SWITCH + RESUME + SPARE_S
    try:
        said = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise AssertionError("lacectl hangs") from error
    expect(wait_until(lambda: not any(map(transition_runs, range(NODES))),
                      limit) is not None, "a transition has no end")
    return said


def judge(streams, since, outcome):
    """Each stream goes on, or nodes have told why not."""
    progress = Progress(streams)
    silent = None

    def settled():
        nonlocal silent
        now = states()
        silent = [pair for pair in progress.stuck()
                  if not why(pair, now, since)]
        return not silent
    time.sleep(1)
    expect(wait_until(settled, VERDICT_S) is not None,
           "no traffic and no word: %s" % silent)
    outcome.gated = len(progress.stuck())


def apply(segment):
    subprocess.run(("lacectl", "plan", "apply", LAB.path("plan.json"), "--lab",
                    LAB.name, "--segment", str(segment)), check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=SPARE_S + 5)


def is_whole():
    """All lanes carry data and are known to arrive, by one segment."""
    now = states()
    return all(one.is_whole() for one in now) and \
        len({one.segment for one in now}) == 1


def recover(streams, fault):
    """How long full service takes."""
    begin = time.monotonic()
    if fault.reload or wait_until(is_whole, 3 * SLOW) is None:
        apply(next((one.segment for one in states()
                    if one.segment is not None), 0))
    expect(wait_until(is_whole, RECOVERY_S) is not None,
           "not all lanes come back")
    progress = Progress(streams)
    expect(wait_until(lambda: not progress.stuck(), RECOVERY_S) is not None,
           "these do not go on: %s" % progress.stuck())
    return time.monotonic() - begin


def strike(fault, chance, streams, outcome):
    """A fault, what becomes of it, and after it."""
    process = None
    retries, degrade = chance.randrange(2), chance.random() < 0.5
    phase, hold = chance.randrange(7), chance.uniform(0.3, 1)
    with_transition = fault.transition or chance.random() < 0.7
    segment = 1 - State(0).segment
    since = time.monotonic()
    try:
        fault.prepare(segment)
        if with_transition:
            process = begin_transition(segment, retries, degrade)
            wait_for_phase(process, phase)
        outcome.phases = [w.phase for w in WATCHES]
        fault.inject(process)
        outcome.phases += [w.phase for w in WATCHES]
        if process:
            outcome.end_transition(end_transition(process, retries))
        time.sleep(hold)
        judge(streams, since, outcome)
    finally:
        if process and process.poll() is None:
            process.kill()
            process.wait()
        fault.heal()
    outcome.recovery = recover(streams, fault)


def check(streams, strays):
    for stream in streams:
        expect(not stream.bad, "%s: wrong bytes" % (stream.pair,))
        expect(not stream.error, "%s: %s" % (stream.pair, stream.error))
    for node, stray in enumerate(strays):
        taken = stray.taken()
        expect(not taken, "n%d took in %s" % (node, taken[:3]))


def describe(streams):
    """How nodes and streams stand, for who reads of a failure."""
    for stream in streams:
        if stream.error:
            print("# %s: %s" % (stream.pair, stream.error))
    for node, now in enumerate(states()):
        print("# n%d: segment %s, closed %s, told %.1f s ago" % (
            node, now.segment, now.device.get("closed"),
            time.monotonic() - WATCHES[node].told))
        for lane in now.lanes:
            print("#   %s %d: state %d%s %s" % (
                ("tx", "rx")[lane["dir"]], lane["port"], lane["state"],
                " closed" if "closed" in lane else "",
                {k: v for k, v in lane["stats"].items() if v}))
    for node in range(NODES):
        for line in run("ss", "-tinOH", "( sport >= 5000 and sport < 6000 ) or "
                        "( dport >= 5000 and dport < 6000 )",
                        netns=LAB.netns(node)).splitlines():
            print("# n%d: %s" % (node, " ".join(line.split())))
        aborted = run("nstat", "-asz", "TcpExtTCPAbort*", "TcpEstabResets",
                      netns=LAB.netns(node)).split("\n")[1:]
        print("# n%d: %s" % (node, ", ".join(
            " ".join(line.split()[:2]) for line in aborted if line)))


def campaign(faults, streams, strays):
    outcomes = []
    for number, (fault, chance) in enumerate(faults, 1):
        outcome = Outcome(fault)
        outcomes.append(outcome)
        begin = time.monotonic()
        try:
            strike(fault, chance, streams, outcome)
            check(streams, strays)
        except AssertionError as error:
            outcome.failure = str(error)
            describe(streams)
        print("# %3d %s, %s, phases %s (%s): %d held, whole after %.1f s, "
              "%.1f s%s" % (
                  number, fault.kind, fault, "".join(map(str,
                                                         outcome.phases)),
                  outcome.results, outcome.gated, outcome.recovery,
                  time.monotonic() - begin,
                  ": " + outcome.failure if outcome.failure else ""),
              flush=True)
    return outcomes


# Results, by kind.

def verdict(kind, outcomes):
    def test():
        own = [o for o in outcomes if o.kind == kind]
        print("# %-28s %3d: %3d went on, %3d held and told, worst recovery "
              "%.1f s" % (kind, len(own),
                          sum(not o.gated and not o.failure for o in own),
                          sum(bool(o.gated) and not o.failure for o in own),
                          max((o.recovery for o in own), default=0)))
        bad = [o for o in own if o.failure]
        expect(not bad, "%d of %d: %s" % (len(bad), len(own), "; ".join(
            "%s: %s" % (o.fault, o.failure) for o in bad)))
    test.__doc__ = kind
    return test


def ends_well(streams):
    def test():
        """No byte of any stream is wrong or lost, and no connection broken"""
        bad, broken = finish(streams)
        expect((bad, broken) == (0, 0), (bad, broken))
    return test


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int,
                        default=random.SystemRandom().randrange(10 ** 6))
    parser.add_argument("--kind", default="")
    return parser.parse_args()


def set_key():
    key = LAB.path("key")
    with open(key, "w", encoding="ascii") as file:
        file.write("%032x\n" % 7)
    for node in range(NODES):
        lacectl("-n", LAB.netns(node), "device", "set", "lace0", "key", key)


OPTIONS = arguments()
print("# --count %d --seed %d" % (OPTIONS.count, OPTIONS.seed), flush=True)
try:
    LAB.up("rate", "2M", "switch-time", "200ms")
    LAB.plan = LAB.both()
    lacectl("plan", "apply", LAB.write_plan(LAB.plan), "--lab", LAB.name)
    NETLINK = [Netlink(LAB.netns(node)) for node in range(NODES)]
    WATCHES = [Watch(node) for node in range(NODES)]
    STRAYS = [Strays(node) for node in range(NODES)]
    STREAMS = LAB.streams()
    OUTCOMES = campaign(draw(LAB, OPTIONS.count, OPTIONS.seed, OPTIONS.kind),
                        STREAMS, STRAYS)
    main(*[verdict(kind.kind, OUTCOMES) for kind in KINDS],
         ends_well(STREAMS))
finally:
    LAB.down()
