# SPDX-License-Identifier: GPL-2.0
"""For tests of the module: netlink written by hand, so that it can be written
wrong, a lab of namespaces around a switch, and results as KTAP.

A test asks the module in its own words; it does not go through liblace, whose
mistakes would then cancel out.
"""

import contextlib
import ctypes
import errno
import functools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

import yaml

SPEC = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                    "../../Documentation/netlink/specs/lace.yaml")
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
NETLINK_GENERIC, SOL_NETLINK = 16, 270
NLM_F_REQUEST, NLM_F_MULTI, NLM_F_ACK, NLM_F_ECHO = 1, 2, 4, 8
NLM_F_DUMP_INTR, NLM_F_DUMP = 0x10, 0x300
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_F_NESTED, NLA_TYPE = 0x8000, 0x3fff

DEV_GET, DEV_SET, DEV_NTF, PORT_SET = 1, 2, 3, 4
NODE_GET, NODE_SET, NODE_DEL, NODE_NTF, NODE_DEL_NTF = 5, 6, 7, 8, 9
LANE_GET, LANE_NTF = 10, 11
(SEGMENT_GET, SEGMENT_SET, SEGMENT_DEL, SEGMENT_ACTIVATE, SEGMENT_NTF,
 SEGMENT_DEL_NTF) = 12, 13, 14, 15, 16, 17
(TRANSITION_GET, TRANSITION_START, TRANSITION_ABORT,
 TRANSITION_NTF) = 18, 19, 20, 21
(HOOK_GET, HOOK_SET, HOOK_DEL, HOOK_NTF, HOOK_DEL_NTF, HOOK_CALL_NTF,
 HOOK_DONE) = 22, 23, 24, 25, 26, 27, 28
TX, RX = 0, 1
(IDLE, QUIESCE, DRAIN, SWITCH, SETTLE, VERIFY, RESUME) = range(7)
(RUNNING, DONE, ROLLED_BACK, DEGRADED) = range(4)
(UNDRAINED, HOOK_FAULT, NO_CARRIER, SILENT, WRONG_END, ABORTED,
 PORT_GONE) = range(7)

# By how much the kernel is slower than others: a factor for time limits, not
# for what is measured.
SLOW = int(os.environ.get("LACE_SLOW", "1"))
# Of a round trip. A slow kernel's clock goes by ticks, and it may be within one.
LEAST_RTT_NS = 1 if SLOW == 1 else 0


# Attributes as bytes.

def attr(kind, payload):
    data = struct.pack("=HH", 4 + len(payload), kind) + payload
    return data + bytes(-len(data) % 4)


def u8(kind, value):
    return attr(kind, struct.pack("=B", value))


def u16(kind, value):
    return attr(kind, struct.pack("=H", value))


def u32(kind, value):
    return attr(kind, struct.pack("=I", value))


def s32(kind, value):
    return attr(kind, struct.pack("=i", value))


def text(kind, value):
    return attr(kind, value.encode() + b"\0")


def nest(kind, *attrs):
    return attr(kind | NLA_F_NESTED, b"".join(attrs))


def dev(name="lace0"):
    return text(2, name)


def prefix(string):
    """10.0.0.1, 10.0.0.0/8, fd00::/64"""
    address, _, length = string.partition("/")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(family, address)
    return nest(4, u16(1, family), attr(2, packed),
                u8(3, int(length or len(packed) * 8)))


def mac_bytes(string):
    return bytes.fromhex(string.replace(":", ""))


def node_port(number, mac):
    return nest(5, u8(1, number), attr(2, mac_bytes(mac)))


def circuit(port, direction, peer, peer_port):
    return nest(5, u8(1, port), u8(2, direction), u16(3, peer),
                u8(4, peer_port))


def route(origin, target, prev=None, following=None, alternate=False):
    return nest(6, u16(1, origin), u16(2, target),
                *([u16(3, prev)] if prev is not None else []),
                *([u16(4, following)] if following is not None else []),
                *([attr(5, b"")] if alternate else []))


# Answers as dictionaries. A nest that may be repeated becomes a list.

NUMBER = {1: "B", 2: "H", 4: "I", 8: "Q"}


def number(data):
    return struct.unpack("=" + NUMBER[len(data)], data)[0]


def string(data):
    return data.rstrip(b"\0").decode()


LANE_STATS = {2: "packets", 3: "bytes", 4: "relay_packets", 5: "relay_bytes",
              6: "dropped", 7: "unexpected", 8: "misaddressed", 9: "spoofed",
              10: "hop_limit", 11: "malformed"}
# Those of the lane protocol, which runs by itself, and of what TCP answers.
ACK_STATS = {12: "delivered", 13: "delivered_bytes", 14: "lost",
             15: "lost_bytes", 16: "marks", 17: "acks", 18: "refused",
             19: "forged", 20: "replayed",
             21: "control_packets", 22: "control_bytes"}
UNVERIFIED, UP, DARK = 0, 1, 2
DEV_STATS = {2: "tx_no_node", 3: "tx_no_lane", 4: "steer_bad",
             5: "reorder_in_order", 6: "reorder_held", 7: "reorder_filled",
             8: "reorder_lost", 9: "reorder_expired", 10: "reorder_overflow",
             11: "reorder_flushed", 12: "reorder_late", 13: "reorder_depth",
             14: "gate_held", 15: "gate_passed", 16: "gate_dropped"}
NAME = {1: ("ifindex", number), 2: ("ifname", string)}
PORT = {**NAME, 3: ("number", number)}
DEV = {**NAME, 3: ("node", number), 4: ("segment", number),
       6: ("steer_prog_id", number), 7: ("ports", [PORT]),
       8: ("stats", {k: (v, number) for k, v in DEV_STATS.items()}),
       10: ("reorder_usecs", number), 11: ("ack_msecs", number),
       13: ("ack_keyed", lambda _: True), 14: ("closed", number)}
NODE = {**NAME, 3: ("id", number),
        4: ("prefixes", [{1: ("family", number), 2: ("address", bytes),
                          3: ("length", number)}]),
        5: ("ports", [{1: ("number", number), 2: ("mac", bytes.hex)}])}
LANE = {**NAME, 3: ("port", number), 4: ("port_ifindex", number),
        5: ("dir", number), 6: ("peer", number), 7: ("peer_port", number),
        8: ("stats", {k: (v, number) for k, v in
                      {**LANE_STATS, **ACK_STATS}.items()}),
        10: ("state", number), 11: ("silence_ms", number),
        12: ("rtt_ns", number), 13: ("epoch", number),
        14: ("drained", lambda _: True), 15: ("closed", lambda _: True)}
SEGMENT = {**NAME, 3: ("id", number), 4: ("active", lambda _: True),
           5: ("circuits", [{1: ("port", number), 2: ("dir", number),
                             3: ("peer", number), 4: ("peer_port", number)}]),
           6: ("routes", [{1: ("from", number), 2: ("to", number),
                           3: ("prev", number), 4: ("next", number),
                           5: ("alternate", lambda _: True),
                           6: ("broken", lambda _: True)}])}
PHASES = {i: (name, number) for i, name in enumerate(
    ("idle", "quiesce", "drain", "switch", "settle", "verify", "resume")) if i}
FAULT = {1: ("kind", number), 2: ("phase", number), 3: ("port", number),
         4: ("peer", number), 5: ("peer_port", number), 6: ("found", number),
         7: ("found_port", number), 8: ("hook", string),
         9: ("error", number)}
TRANSITION = {**NAME, 3: ("id", number), 5: ("from", number),
              6: ("to", number), 7: ("on_failure", number),
              8: ("retries", number), 9: ("no_drain", lambda _: True),
              10: ("deadlines", PHASES), 11: ("phase", number),
              12: ("result", number), 13: ("attempt", number),
              14: ("back", lambda _: True), 15: ("times", PHASES),
              16: ("total_ns", number), 17: ("ports", number),
              18: ("waiting", number), 19: ("faults", [FAULT]),
              20: ("reason", string), 21: ("begun_ns", number)}
HOOK = {**NAME, 3: ("name", string), 4: ("phases", number),
        5: ("portid", number), 6: ("phase", number),
        7: ("transition", number), 9: ("call", number), 10: ("from", number),
        11: ("to", number), 12: ("deadline_ms", number), 13: ("error", number),
        14: ("reason", string), 15: ("busy", lambda _: True)}
SCHEMAS = {**dict.fromkeys((DEV_GET, DEV_NTF), DEV),
           **dict.fromkeys((NODE_GET, NODE_NTF, NODE_DEL_NTF), NODE),
           **dict.fromkeys((LANE_GET, LANE_NTF), LANE),
           **dict.fromkeys((SEGMENT_GET, SEGMENT_NTF, SEGMENT_DEL_NTF),
                           SEGMENT),
           **dict.fromkeys((TRANSITION_GET, TRANSITION_START, TRANSITION_NTF),
                           TRANSITION),
           **dict.fromkeys((HOOK_GET, HOOK_NTF, HOOK_DEL_NTF, HOOK_CALL_NTF),
                           HOOK)}


def split(data):
    """(type, payload) of each attribute."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        assert length >= 4
        yield kind & NLA_TYPE, data[4:length]
        data = data[(length + 3) & ~3:]


def decode(schema, data):
    result = {}
    for kind, payload in split(data):
        if kind not in schema:
            continue
        name, reader = schema[kind]
        if isinstance(reader, list):
            result.setdefault(name, []).append(decode(reader[0], payload))
        elif isinstance(reader, dict):
            result[name] = decode(reader, payload)
        else:
            result[name] = reader(payload)
    return result


class Refused(Exception):
    """The kernel's errno, its words, and the offset of the attribute."""

    def __init__(self, code, message, offset):
        super().__init__("%s: %s" % (errno.errorcode.get(code, code), message))
        self.errno = code
        self.message = message
        self.offset = offset


class Message:
    """One message of an answer."""

    def __init__(self, kind, flags, seq, body):
        self.kind = kind
        self.flags = flags
        self.seq = seq
        self.cmd = body[0] if body else None
        self.attrs = body[4:]

    def decoded(self):
        return decode(SCHEMAS[self.cmd], self.attrs)


@functools.lru_cache
def listed():
    """{command: numbers of the attributes} of what the specification says that
    the kernel sends.
    """
    with open(SPEC, encoding="utf-8") as file:
        spec = yaml.load(file, yaml.CSafeLoader)
    numbers = {one["name"]: {a["name"]: n for n, a in
                             enumerate(one["attributes"], 1)}
               for one in spec["attribute-sets"]}
    operations = {o["name"]: o for o in spec["operations"]["list"]}
    result = {}
    for command, one in enumerate(operations.values(), 1):
        one = operations[one.get("notify", one["name"])]
        parts = [one.get(mode, {}).get("reply", {}) for mode in ("do", "dump")]
        names = sum((part.get("attributes", [])
                     for part in parts + [one.get("event", {})]), [])
        result[command] = {numbers[one["attribute-set"]][n] for n in names}
    return result


@contextlib.contextmanager
def inside(netns):
    """What is done within is done in a network namespace."""
    if netns is None:
        yield
        return
    with open("/proc/thread-self/ns/net") as home, \
         open("/run/netns/" + netns) as there:
        if LIBC.setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns " + netns)
        try:
            yield
        finally:
            LIBC.setns(home.fileno(), CLONE_NEWNET)


class Netlink:
    """A generic netlink socket of the family, in a namespace."""

    def __init__(self, netns=None, family="lace", buffer=1 << 20):
        with inside(netns):
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                        NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.socket.setsockopt(SOL_NETLINK, 11, 1)	# extended ACKs
        self.socket.settimeout(20 * SLOW)
        self.buffer = buffer
        self.seq = 0
        self.family = 16
        self.listed = None
        ids = self.answers(3, text(2, family), version=1)[0].attrs
        ids = dict(split(ids))
        self.family = number(ids[1])
        self.listed = listed() if family == "lace" else None
        self.groups = {}
        for _, group in split(ids.get(7, b"")):
            fields = dict(split(group))
            self.groups[string(fields[1])] = number(fields[2])

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def join(self, group="monitor"):
        self.socket.setsockopt(SOL_NETLINK, 1, self.groups[group])

    def send(self, cmd, attrs, flags=0, version=1):
        self.seq += 1
        body = struct.pack("=BBH", cmd, version, 0) + attrs
        header = struct.pack("=IHHII", 16 + len(body), self.family,
                             NLM_F_REQUEST | flags, self.seq, 0)
        self.socket.send(header + body)

    def receive(self):
        """Messages of one datagram."""
        data = self.socket.recv(self.buffer)
        messages = []
        while len(data) >= 16:
            length, kind, flags, seq, _ = struct.unpack_from("=IHHII", data)
            messages.append(Message(kind, flags, seq, data[16:length]))
            messages[-1].body = data[16:length]
            if self.listed and kind == self.family:
                self.check_listed(messages[-1])
            data = data[(length + 3) & ~3:]
        return messages

    def check_listed(self, message):
        """Nothing comes that the specification does not list."""
        more = {kind for kind, _ in split(message.attrs)} - \
            self.listed[message.cmd]
        expect(not more, "command %d comes with attributes %s" %
               (message.cmd, more))

    @staticmethod
    def check(message):
        code = -struct.unpack_from("=i", message.body)[0]
        if not code:
            return
        at = 4 if message.kind == NLMSG_DONE else 20
        if message.kind == NLMSG_ERROR and not message.flags & NLM_F_CAPPED:
            length = struct.unpack_from("=I", message.body, 4)[0]
            at += (length + 3 & ~3) - 16
        tlvs = dict(split(message.body[at:])) \
            if message.flags & NLM_F_ACK_TLVS else {}
        raise Refused(code, string(tlvs.get(1, b"")),
                      number(tlvs[2]) if 2 in tlvs else None)

    def answers(self, cmd, attrs=b"", flags=NLM_F_ACK, version=1):
        """All messages of an answer, or Refused."""
        self.send(cmd, attrs, flags, version)
        return self.receive_answers()

    def receive_answers(self):
        """The same, of what was sent last."""
        result = []
        while True:
            for message in self.receive():
                if message.seq != self.seq:
                    continue
                if message.kind in (NLMSG_ERROR, NLMSG_DONE):
                    self.check(message)
                    return result
                result.append(message)

    def set(self, cmd, *attrs):
        return self.answers(cmd, b"".join(attrs))

    def get(self, cmd, *attrs):
        return self.answers(cmd, b"".join(attrs))[0].decoded()

    def dump(self, cmd, *attrs):
        return [m.decoded() for m in self.answers(cmd, b"".join(attrs),
                                                  NLM_F_DUMP)]

    # Everything that a user can set, to see that nothing has changed.
    def state(self):
        objects = [self.dump(c) for c in (DEV_GET, NODE_GET, LANE_GET,
                                          SEGMENT_GET)]
        for found in objects:
            for one in found:
                for name in ("stats", "state", "silence_ms", "rtt_ns",
                             "epoch", "drained"):
                    one.pop(name, None)
        return objects


class HookSocket(Netlink):
    """Keeps calls that come in between an answer and its acknowledgment."""

    def __init__(self, netns):
        self.calls = []
        super().__init__(netns)

    def receive(self):
        messages = super().receive()
        self.calls += [m for m in messages
                       if m.kind == self.family and m.cmd == HOOK_CALL_NTF]
        return messages

    def call(self):
        """The next call."""
        while not self.calls:
            self.receive()
        return self.calls.pop(0).decoded()


# Commands.

def load_module(path):
    with open(path, "rb") as file:
        if LIBC.syscall(313, file.fileno(), b"", 0):	# finit_module
            raise OSError(ctypes.get_errno(), "load " + path)


def unload_module(name):
    if LIBC.syscall(176, name.encode(), os.O_NONBLOCK):	# delete_module
        raise OSError(ctypes.get_errno(), "unload " + name)


def run(*command, check=True, netns=None, commands=""):
    """Output of a command, which may read commands."""
    with inside(netns):
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False,
                              text=True, input=commands)
    if check and done.returncode:
        raise AssertionError("%s: status %d\n%s" % (
            " ".join(command), done.returncode, done.stdout))
    return done.stdout


def succeeds(*command, netns=None):
    with inside(netns):
        return subprocess.run(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False,
                              stdin=subprocess.DEVNULL).returncode == 0


@contextlib.contextmanager
def background(*command, netns=None):
    with inside(netns):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Beside:
    """What a thread does while the block lasts."""

    def __init__(self, work):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def poll(condition, what, seconds=10):
    """Wait until the condition holds."""
    seconds *= SLOW
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("not in %d s: %s" % (seconds, what))
        time.sleep(0.05)


# A lab.

class Node:
    """A namespace with lace0 and ports p0, p1, ..."""

    def __init__(self, index, ports):
        self.id = index
        self.netns = "k%d" % index
        self.ports = ports
        self.v4 = "10.77.0.%d" % (index + 1)
        self.v6 = "fd77::%x" % (index + 1)
        self.netlink = None

    def mac(self, port):
        return "02:00:00:00:%02x:%02x" % (self.id, port)

    def run(self, *command, **more):
        return run(*command, netns=self.netns, **more)

    def ip(self, *arguments, **more):
        return run("ip", "-n", self.netns, *arguments, **more)

    def ip_batch(self, commands):
        return self.ip("-batch", "-", commands="\n".join(commands))

    def device(self):
        """What ip says of lace0."""
        return json.loads(self.ip("-s", "-j", "link", "show", "lace0"))[0]

    def received(self):
        return self.device()["stats64"]["rx"]["packets"]

    def description(self):
        """Attributes of NODE_SET, less the device."""
        return (u16(3, self.id) + prefix(self.v4) + prefix(self.v6) +
                b"".join(node_port(p, self.mac(p))
                         for p in range(self.ports)))

    def lane(self, port, direction):
        return self.netlink.get(LANE_GET, dev(), u8(3, port),
                                u8(5, direction))

    def stats(self, port, direction):
        stats = self.lane(port, direction)["stats"]
        return {name: stats[name] for name in LANE_STATS.values()}

    def acks(self, port, direction):
        stats = self.lane(port, direction)["stats"]
        return {name: stats[name] for name in ACK_STATS.values()}

    def dev_stats(self):
        return self.netlink.get(DEV_GET, dev())["stats"]


class Lab:
    """Nodes whose ports all lead to a switch, which joins input to output as
    an optical one does: with tc, one way at a time.
    """

    SWITCH = "ksw"

    def __init__(self, nodes, ports, rate=None, mtu=1500, burst="128k",
                 queues=1, gso=65536):
        # A piece of more would be skew that lanes so slow do not have.
        self.gso = gso
        self.nodes = [Node(i, ports) for i in range(nodes)]
        self.rate = rate
        self.burst = burst
        self.mtu = mtu
        self.queues = queues

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    def up(self):
        run("modprobe", "-a", "lace", "veth")
        run("ip", "netns", "add", self.SWITCH)
        run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1",
            netns=self.SWITCH)
        self.up_nodes(self.nodes)

    def up_nodes(self, nodes):
        """Namespaces whose ports lead to the switch, and lace0 in them."""
        pairs = ["link add p%d netns %s address %s mtu %d numtxqueues %d "
                 "numrxqueues %d type veth peer name s%dp%d netns %s mtu %d"
                 % (p, n.netns, n.mac(p), self.mtu, self.queues, self.queues,
                    n.id, p, self.SWITCH, self.mtu)
                 for n in nodes for p in range(n.ports)]
        run("ip", "-batch", "-", commands="\n".join(
            ["netns add " + n.netns for n in nodes] + pairs))
        far = ["s%dp%d" % (n.id, p) for n in nodes for p in range(n.ports)]
        run("ip", "-n", self.SWITCH, "-batch", "-",
            commands="\n".join("link set %s up" % f for f in far))
        run("tc", "-n", self.SWITCH, "-batch", "-",
            commands="\n".join("qdisc add dev %s clsact" % f for f in far))
        for node in nodes:
            self.up_node(node)

    def up_node(self, node):
        self.up_lace(node)
        if self.rate:
            run("tc", "-n", node.netns, "-batch", "-", commands="\n".join(
                "qdisc add dev p%d root tbf rate %s burst %s latency 200ms" %
                (p, self.rate, self.burst) for p in range(node.ports)))

    def up_lace(self, node):
        """lace0 with its ports and addresses, which knows all nodes."""
        node.ip_batch(["link set lo up", "link add lace0 type lace"] +
                      ["link set p%d master lace0 up" % p
                       for p in range(node.ports)] +
                      ["link set lace0 up",
                       "address add %s/24 dev lace0" % node.v4,
                       "address add %s/64 dev lace0 nodad" % node.v6] +
                      (["link set lace0 gso_max_size %d" % self.gso]
                       if self.gso else []))
        node.netlink = Netlink(node.netns)
        node.netlink.set(DEV_SET, dev(), u16(3, node.id))
        for other in self.nodes:
            node.netlink.set(NODE_SET, dev(), other.description())

    def down(self):
        for node in self.nodes:
            if node.netlink:
                node.netlink.close()
                node.netlink = None
            succeeds("ip", "netns", "del", node.netns)
        succeeds("ip", "netns", "del", self.SWITCH)

    def cut(self, source, source_port):
        """No light from this TX lane any more."""
        succeeds("tc", "-n", self.SWITCH, "filter", "del", "dev",
                 "s%dp%d" % (source, source_port), "ingress")

    def join(self, source, source_port, target, target_port):
        """Light from a TX lane to an RX lane, whatever any plan says."""
        self.cut(source, source_port)
        run("tc", "-n", self.SWITCH, *self.filter(source, source_port, target,
                                                  target_port))

    @staticmethod
    def filter(source, source_port, target, target_port):
        return ("filter add dev s%dp%d ingress matchall action mirred egress "
                "redirect dev s%dp%d" % (source, source_port, target,
                                         target_port)).split()

    @staticmethod
    def part(node, segment, circuits, routes=(), alternates=()):
        """One node's part of a segment, less the device: as in a plan."""
        attrs = u32(3, segment)
        for source, source_port, target, target_port in circuits:
            if source == node.id:
                attrs += circuit(source_port, TX, target, target_port)
            if target == node.id:
                attrs += circuit(target_port, RX, source, source_port)
        for index, (origin, target, between) in enumerate((*routes,
                                                           *alternates)):
            path = [origin, *between, target]
            if node.id not in path:
                continue
            at = path.index(node.id)
            attrs += route(origin, target, path[at - 1] if at else None,
                           path[at + 1] if at + 1 < len(path) else None,
                           index >= len(routes))
        return attrs

    def load(self, node, *segment):
        """Have a node know its part of a segment."""
        node.netlink.set(SEGMENT_SET, dev(), self.part(node, *segment))

    def activate(self, segment):
        for node in self.nodes:
            node.netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, segment))

    def plan(self, segment, circuits, routes=(), alternates=()):
        """Wire the switch as the plan says, and have all nodes follow it."""
        run("tc", "-n", self.SWITCH, "-batch", "-", commands="\n".join(
            ["filter del dev s%dp%d ingress" % (n.id, p) for n in self.nodes
             for p in range(n.ports)] +
            [" ".join(self.filter(*one)) for one in circuits]))
        for node in self.nodes:
            self.load(node, segment, circuits, routes, alternates)
        self.activate(segment)


def ring(nodes, lanes=1):
    """Lanes 0 -> 1 -> ... -> 0, and all other pairs relayed along them."""
    circuits = [[i, p, (i + 1) % nodes, p] for i in range(nodes)
                for p in range(lanes)]
    routes = []
    for i in range(nodes):
        for hops in range(2, nodes):
            path = [(i + k) % nodes for k in range(hops + 1)]
            routes.append([path[0], path[-1], path[1:-1]])
    return circuits, routes


class Datagrams:
    """Numbered datagrams from one node to another, which need no way back."""

    def __init__(self, source, target, port):
        with inside(source.netns):
            self.out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with inside(target.netns):
            self.into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.out.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 22)
        self.into.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 22)
        self.into.bind(("0.0.0.0", port))
        self.into.settimeout(20)
        self.address = (target.v4, port)
        self.sent = self.arrived = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.out.close()
        self.into.close()

    def send(self, count):
        for _ in range(count):
            self.out.sendto(b"%d" % self.sent, self.address)
            self.sent += 1

    def arrive(self):
        """All that were sent arrive, in order."""
        while self.arrived < self.sent:
            got = self.into.recv(99)
            expect(got == b"%d" % self.arrived, (got, self.arrived))
            self.arrived += 1


def iperf(client, server, address, *options, seconds=3):
    """iperf3's result, as it prints it in JSON."""
    with background("iperf3", "-s", "-1", netns=server.netns):
        poll(lambda: ":5201" in server.run("ss", "-Htln"),
             "iperf3 listens")
        output = client.run("iperf3", "-c", address, "-t", str(seconds), "-J",
                            *options)
        return json.loads(output)["end"]


# Results.

def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def main(*tests):
    """Run functions, whose first lines of documentation are their names."""
    print("KTAP version 1\n1..%d" % len(tests), flush=True)
    failed = 0
    for index, test in enumerate(tests, 1):
        start = time.monotonic()
        name = test.__doc__.split("\n")[0].rstrip(".")
        try:
            test()
            print("ok %d - %s" % (index, name), flush=True)
        except Exception:
            failed += 1
            print("not ok %d - %s" % (index, name))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        print("# %.1f s" % (time.monotonic() - start), flush=True)
    sys.exit(1 if failed else 0)
