#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The netlink interface: what is refused, with which errno and words, and that
nothing has changed then; what is answered, dumped and announced.

    kn: lace0 with ports p0 and p1, the only node that is here

kernels: debug 6.12
timeout: 300
"""

import errno
import os
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (  # noqa: E402
    DEV_GET, DEV_NTF, DEV_SET, LANE_GET, LANE_NTF, NLM_F_ACK, NLM_F_DUMP,
    NLM_F_DUMP_INTR, NLM_F_ECHO, NLMSG_DONE, NLMSG_ERROR, NODE_DEL,
    NODE_DEL_NTF, NODE_GET, NODE_NTF, NODE_SET, PORT_SET, RX,
    SEGMENT_ACTIVATE, SEGMENT_DEL, SEGMENT_DEL_NTF, SEGMENT_GET, SEGMENT_NTF,
    SEGMENT_SET, SLOW, TX, Netlink, Refused, attr, circuit, dev, expect,
    inside, mac_bytes, main, nest, node_port, prefix, route, run, s32,
    succeeds, text, u8, u16, u32)

NETNS = "kn"
E = errno


def node(number, *more):
    return dev() + u16(3, number) + b"".join(more)


def segment(number, *more):
    return dev() + u32(3, number) + b"".join(more)


def mac(number, port=0):
    return "02:00:00:00:%02x:%02x" % (number, port)


def set_up(netlink):
    """Node 0 here, 1, 2 and 3 elsewhere; segment 7 active, 8 loaded."""
    netlink.set(DEV_SET, dev(), u16(3, 0))
    for number in range(4):
        netlink.set(NODE_SET, node(number, prefix("10.0.%d.0/24" % number),
                                   prefix("fd00:%d::/32" % number),
                                   node_port(0, mac(number)),
                                   node_port(1, mac(number, 1))))
    for number in (7, 8):
        netlink.set(SEGMENT_SET, segment(
            number, circuit(0, TX, 1, 0), circuit(0, RX, 2, 0),
            route(0, 2, None, 1), route(2, 1, 2, 1)))
    netlink.set(SEGMENT_ACTIVATE, segment(7))


# (name, command, attributes, errno, a word of the message)
GENERAL = [
    ("no attributes", DEV_GET, b"", E.EINVAL, "IFINDEX"),
    ("unknown name", DEV_GET, dev("nosuch"), E.ENODEV, "IFNAME"),
    ("unknown index", DEV_GET, u32(1, 9999), E.ENODEV, "IFINDEX"),
    ("index 0", DEV_GET, u32(1, 0), E.ERANGE, "range"),
    ("negative index", DEV_GET, u32(1, 1 << 31), E.ERANGE, "range"),
    ("not a lace device", DEV_GET, dev("lo"), E.ENODEV, "not a lace"),
    ("not a lace device, set", NODE_SET, dev("lo") + u16(3, 1), E.ENODEV,
     "not a lace"),
    ("a port", DEV_GET, dev("p0"), E.ENODEV, "not a lace"),
    ("name and index differ", DEV_GET, u32(1, 1) + dev(), E.EINVAL,
     "another"),
    ("name too long", DEV_GET, dev("x" * 16), E.EINVAL, ""),
    ("name without end", DEV_GET, attr(2, b"lace0"), E.EINVAL, ""),
    ("empty name", DEV_GET, attr(2, b""), E.EINVAL, ""),
    ("name twice", DEV_GET, dev() + dev(), E.EINVAL, "twice"),
    ("index of 2 bytes", DEV_GET, u16(1, 1), E.EINVAL, ""),
    ("index of 8 bytes", DEV_GET, attr(1, bytes(8)), E.EINVAL, ""),
    ("unknown attribute", DEV_SET, dev() + u16(3, 0) + u32(77, 1), E.EINVAL,
     "Unknown"),
    ("attribute of another command", DEV_GET, dev() + u16(3, 0), E.EINVAL,
     "Unknown"),
    ("trailing bytes", DEV_GET, dev() + b"\1\0\0\0", E.EINVAL, ""),
    ("unknown command", 99, dev(), E.EOPNOTSUPP, ""),
    ("a notification as command", DEV_NTF, dev(), E.EOPNOTSUPP, ""),
]
DEVICE = [
    ("nothing to set", DEV_SET, dev(), E.EINVAL, "NODE"),
    ("node too large", DEV_SET, dev() + u16(3, 65535), E.ERANGE, ""),
    ("node of 4 bytes", DEV_SET, dev() + u32(3, 0), E.EINVAL, ""),
    ("node twice", DEV_SET, dev() + u16(3, 0) + u16(3, 0), E.EINVAL, "twice"),
    ("node while segments are loaded", DEV_SET, dev() + u16(3, 1), E.EBUSY,
     "NODE"),
    ("program -2", DEV_SET, dev() + s32(5, -2), E.ERANGE, ""),
    ("program not open", DEV_SET, dev() + s32(5, 999), E.EBADF, "STEER_FD"),
    ("program that is a file", DEV_SET, dev() + s32(5, 0), E.EINVAL,
     "STEER_FD"),
    ("a bad program with a good node", DEV_SET, dev() + u16(3, 0) +
     s32(5, 999), E.EBADF, "STEER_FD"),
    ("active segment", DEV_SET, dev() + u32(4, 8), E.EINVAL, "SEGMENT"),
    ("program number", DEV_SET, dev() + u32(6, 1), E.EINVAL, "STEER_PROG_ID"),
    ("port", DEV_SET, dev() + attr(7, b""), E.EINVAL, "PORT"),
    ("counters", DEV_SET, dev() + attr(8, b""), E.EINVAL, "STATS"),
]
PORT = [
    ("no number", PORT_SET, dev("p1"), E.EINVAL, "NUMBER"),
    ("number too large", PORT_SET, dev("p1") + u8(3, 32), E.ERANGE, ""),
    ("number taken", PORT_SET, dev("p1") + u8(3, 0), E.EEXIST, "NUMBER"),
    ("number in use", PORT_SET, dev("p0") + u8(3, 5), E.EBUSY, "NUMBER"),
    ("no port", PORT_SET, dev("lo") + u8(3, 5), E.ENODEV, "not a port"),
    ("the device itself", PORT_SET, dev() + u8(3, 5), E.ENODEV, "not a port"),
    ("no device", PORT_SET, dev("nosuch") + u8(3, 5), E.ENODEV, "IFNAME"),
    ("number twice", PORT_SET, dev("p1") + u8(3, 5) + u8(3, 6), E.EINVAL,
     "twice"),
]


def pfx(*attrs):
    return nest(4, *attrs)


V4 = u16(1, socket.AF_INET), attr(2, b"\x0a\x09\0\0"), u8(3, 16)
NODES = [
    ("no number", NODE_SET, dev(), E.EINVAL, "ID"),
    ("number too large", NODE_SET, node(65535), E.ERANGE, ""),
    ("number twice", NODE_SET, node(4, u16(3, 5)), E.EINVAL, "twice"),
    ("get unknown", NODE_GET, node(99), E.ENOENT, "ID"),
    ("get without number", NODE_GET, dev(), E.EINVAL, "ID"),
    ("delete unknown", NODE_DEL, node(99), E.ENOENT, "ID"),
    ("delete in use", NODE_DEL, node(2), E.EBUSY, "ID"),
    ("delete itself", NODE_DEL, node(0), E.EBUSY, "ID"),
    ("prefix not a nest", NODE_SET, node(4, attr(4, b"")), E.EINVAL, ""),
    ("prefix empty", NODE_SET, node(4, pfx()), E.EINVAL, "FAMILY"),
    ("prefix without family", NODE_SET, node(4, pfx(*V4[1:])), E.EINVAL,
     "FAMILY"),
    ("prefix without address", NODE_SET, node(4, pfx(V4[0], V4[2])),
     E.EINVAL, "ADDRESS"),
    ("prefix without length", NODE_SET, node(4, pfx(*V4[:2])), E.EINVAL,
     "LENGTH"),
    ("prefix of AF_UNIX", NODE_SET, node(4, pfx(u16(1, 1), *V4[1:])),
     E.EINVAL, "FAMILY"),
    ("IPv4 as IPv6", NODE_SET, node(4, pfx(u16(1, 10), *V4[1:])), E.EINVAL,
     "ADDRESS"),
    ("IPv6 as IPv4", NODE_SET, node(4, pfx(V4[0], attr(2, bytes(16)), V4[2])),
     E.EINVAL, "ADDRESS"),
    ("address of 3 bytes", NODE_SET, node(4, pfx(V4[0], attr(2, bytes(3)),
                                                 V4[2])), E.ERANGE, ""),
    ("address of 17 bytes", NODE_SET, node(4, pfx(V4[0], attr(2, bytes(17)),
                                                  V4[2])), E.ERANGE, ""),
    ("address of 5 bytes", NODE_SET, node(4, pfx(V4[0], attr(2, bytes(5)),
                                                 V4[2])), E.EINVAL,
     "ADDRESS"),
    ("length 33", NODE_SET, node(4, pfx(*V4[:2], u8(3, 33))), E.EINVAL,
     "LENGTH"),
    ("length 129", NODE_SET, node(4, pfx(*V4[:2], u8(3, 129))), E.ERANGE, ""),
    ("host bits", NODE_SET, node(4, prefix("10.9.0.1/16")), E.EINVAL,
     "ADDRESS"),
    ("host bits, IPv6", NODE_SET, node(4, prefix("fd09::1/127")), E.EINVAL,
     "ADDRESS"),
    ("prefix attribute twice", NODE_SET, node(4, pfx(*V4, V4[2])), E.EINVAL,
     "twice"),
    ("prefix twice", NODE_SET, node(4, pfx(*V4), pfx(*V4)), E.EINVAL,
     "PREFIX"),
    ("prefix of another node", NODE_SET, node(4, prefix("10.0.2.0/24")),
     E.EEXIST, "PREFIX"),
    ("prefix of another node, after a good one", NODE_SET,
     node(4, prefix("10.9.0.0/16"), prefix("fd00:2::/32")), E.EEXIST,
     "PREFIX"),
    ("too many prefixes", NODE_SET,
     node(4, *(prefix("10.9.%d.%d" % (i >> 8, i & 255))
               for i in range(1025))), E.E2BIG, "PREFIX"),
    ("port without number", NODE_SET, node(4, nest(5, attr(2, bytes(6)))),
     E.EINVAL, "NUMBER"),
    ("port without MAC", NODE_SET, node(4, nest(5, u8(1, 0))), E.EINVAL,
     "MAC"),
    ("port number 32", NODE_SET, node(4, node_port(32, mac(4))), E.ERANGE,
     ""),
    ("port twice", NODE_SET, node(4, node_port(0, mac(4)),
                                  node_port(0, mac(4, 1))), E.EINVAL,
     "NUMBER"),
    ("MAC twice", NODE_SET, node(4, node_port(0, mac(4)),
                                 node_port(1, mac(4))), E.EINVAL, "MAC"),
    ("MAC multicast", NODE_SET, node(4, node_port(0, "01:00:00:00:00:01")),
     E.EINVAL, "MAC"),
    ("MAC zero", NODE_SET, node(4, node_port(0, "00:00:00:00:00:00")),
     E.EINVAL, "MAC"),
    ("MAC of 5 bytes", NODE_SET, node(4, nest(5, u8(1, 0),
                                              attr(2, bytes(5)))),
     E.ERANGE, ""),
    ("port in use taken away", NODE_SET, node(2, node_port(1, mac(2, 1))),
     E.ENOENT, "PEER_PORT"),
]
LANES = [
    ("no port", LANE_GET, dev() + u8(5, TX), E.EINVAL, "PORT"),
    ("no direction", LANE_GET, dev() + u8(3, 0), E.EINVAL, "DIR"),
    ("port too large", LANE_GET, dev() + u8(3, 32) + u8(5, TX), E.ERANGE, ""),
    ("direction 2", LANE_GET, dev() + u8(3, 0) + u8(5, 2), E.ERANGE, ""),
    ("no such port", LANE_GET, dev() + u8(3, 9) + u8(5, TX), E.ENOENT,
     "PORT"),
    ("by index of the port", LANE_GET, dev() + u32(4, 1) + u8(5, TX),
     E.EINVAL, "PORT_IFINDEX"),
]
TX1, RX2 = circuit(0, TX, 1, 0), circuit(0, RX, 2, 0)
SEGMENTS = [
    ("no number", SEGMENT_SET, dev(), E.EINVAL, "ID"),
    ("active one", SEGMENT_SET, segment(7), E.EBUSY, "ID"),
    ("delete active one", SEGMENT_DEL, segment(7), E.EBUSY, "ID"),
    ("delete unknown", SEGMENT_DEL, segment(99), E.ENOENT, "ID"),
    ("delete without number", SEGMENT_DEL, dev(), E.EINVAL, "ID"),
    ("get unknown", SEGMENT_GET, segment(99), E.ENOENT, "ID"),
    ("activate unknown", SEGMENT_ACTIVATE, segment(99), E.ENOENT, "ID"),
    ("active flag", SEGMENT_SET, segment(9, attr(4, b"")), E.EINVAL,
     "ACTIVE"),
    ("number twice", SEGMENT_SET, segment(9, u32(3, 10)), E.EINVAL, "twice"),
    ("circuit empty", SEGMENT_SET, segment(9, nest(5)), E.EINVAL, "PORT"),
    ("circuit without direction", SEGMENT_SET,
     segment(9, nest(5, u8(1, 0), u16(3, 1), u8(4, 0))), E.EINVAL, "DIR"),
    ("circuit without peer", SEGMENT_SET,
     segment(9, nest(5, u8(1, 0), u8(2, TX), u8(4, 0))), E.EINVAL, "PEER"),
    ("circuit without peer's port", SEGMENT_SET,
     segment(9, nest(5, u8(1, 0), u8(2, TX), u16(3, 1))), E.EINVAL,
     "PEER_PORT"),
    ("circuit attribute twice", SEGMENT_SET,
     segment(9, nest(5, u8(1, 0), u8(1, 0), u8(2, TX), u16(3, 1), u8(4, 0))),
     E.EINVAL, "twice"),
    ("circuit to itself", SEGMENT_SET, segment(9, circuit(0, TX, 0, 1)),
     E.EINVAL, "PEER"),
    ("circuit port 32", SEGMENT_SET, segment(9, circuit(32, TX, 1, 0)),
     E.ERANGE, ""),
    ("circuit direction 2", SEGMENT_SET, segment(9, circuit(0, 2, 1, 0)),
     E.ERANGE, ""),
    ("circuit peer 65535", SEGMENT_SET, segment(9, circuit(0, TX, 65535, 0)),
     E.ERANGE, ""),
    ("two circuits on a lane", SEGMENT_SET,
     segment(9, TX1, circuit(0, TX, 2, 0)), E.EINVAL, "circuit PORT"),
    ("two circuits on a peer's lane", SEGMENT_SET,
     segment(9, TX1, circuit(1, TX, 1, 0)), E.EINVAL, "PEER_PORT"),
    ("route empty", SEGMENT_SET, segment(9, nest(6)), E.EINVAL, "FROM"),
    ("route without target", SEGMENT_SET, segment(9, nest(6, u16(1, 0))),
     E.EINVAL, "TO"),
    ("route to its source", SEGMENT_SET,
     segment(9, TX1, RX2, route(3, 3, 2, 1)), E.EINVAL, "TO"),
    ("route from here with PREV", SEGMENT_SET,
     segment(9, TX1, RX2, route(0, 3, 2, 1)), E.EINVAL, "PREV"),
    ("route from elsewhere without PREV", SEGMENT_SET,
     segment(9, TX1, RX2, route(3, 1, None, 1)), E.EINVAL, "PREV"),
    ("route to here with NEXT", SEGMENT_SET,
     segment(9, TX1, RX2, route(3, 0, 2, 1)), E.EINVAL, "NEXT"),
    ("route to elsewhere without NEXT", SEGMENT_SET,
     segment(9, TX1, RX2, route(2, 3, 2)), E.EINVAL, "NEXT"),
    ("route over itself", SEGMENT_SET,
     segment(9, TX1, RX2, route(2, 3, 2, 0)), E.EINVAL, "NEXT"),
    ("route from itself", SEGMENT_SET,
     segment(9, TX1, RX2, route(2, 3, 0, 1)), E.EINVAL, "PREV"),
    ("route back", SEGMENT_SET,
     segment(9, TX1, circuit(0, RX, 1, 0), route(2, 3, 1, 1)), E.EINVAL,
     "NEXT"),
    ("route past its target", SEGMENT_SET,
     segment(9, TX1, RX2, route(3, 2, 2, 1)), E.EINVAL, "PREV"),
    ("route back to its source", SEGMENT_SET,
     segment(9, TX1, RX2, route(1, 3, 2, 1)), E.EINVAL, "NEXT"),
    ("route in without circuit", SEGMENT_SET,
     segment(9, TX1, route(3, 1, 2, 1)), E.EINVAL, "PREV"),
    ("route out without circuit", SEGMENT_SET,
     segment(9, RX2, route(2, 1, 2, 1)), E.EINVAL, "NEXT"),
    ("route beside a circuit", SEGMENT_SET,
     segment(9, TX1, circuit(1, TX, 2, 0), route(0, 1, None, 2)), E.EINVAL,
     "FROM"),
    ("route twice", SEGMENT_SET,
     segment(9, TX1, RX2, route(2, 3, 2, 1), route(2, 3, 2, 1)), E.EINVAL,
     "FROM"),
    ("too many routes", SEGMENT_SET,
     segment(9, TX1, RX2, *(route(0, 10 + i, None, 1) for i in range(4097))),
     E.E2BIG, "ROUTE"),
    ("replace by one that is wrong", SEGMENT_SET,
     segment(8, TX1, circuit(0, TX, 2, 0)), E.EINVAL, "circuit PORT"),
]
# Sound, but not with the ports and nodes that there are.
INACTIVE = [
    ("no such port", [circuit(5, TX, 1, 0)], E.ENODEV, "PORT"),
    ("no such peer", [circuit(0, TX, 50, 0)], E.ENOENT, "PEER"),
    ("no such port of the peer", [circuit(0, TX, 1, 9)], E.ENOENT,
     "PEER_PORT"),
    ("no such target", [TX1, route(0, 60, None, 1)], E.ENOENT, "route TO"),
    ("no such source", [TX1, RX2, route(60, 1, 2, 1)], E.ENOENT,
     "route FROM"),
]


def check_refused(netlink, cases):
    before = netlink.state()
    wrong = []
    for name, command, attrs, code, words in cases:
        try:
            netlink.set(command, attrs)
        except Refused as refused:
            # The kernel's own words are few, but point at the attribute.
            if refused.errno != code or words not in refused.message or \
               not (refused.message or refused.offset is not None or
                    code == E.EOPNOTSUPP):
                wrong.append("%s: %s" % (name, refused))
        else:
            wrong.append("%s: done" % name)
        if netlink.state() != before:
            wrong.append("%s: changed something" % name)
            before = netlink.state()
    expect(not wrong, "\n".join(wrong))


def refusals(cases, name):
    def test():
        check_refused(NETLINK, cases)
    test.__doc__ = "What is refused: %s (%d cases)" % (name, len(cases))
    return test


def activation():
    """A segment that cannot be active leaves the old one active."""
    for name, contents, code, words in INACTIVE:
        NETLINK.set(SEGMENT_SET, segment(9, *contents))
        check_refused(NETLINK, [(name, SEGMENT_ACTIVATE, segment(9), code,
                                 words)])
        NETLINK.set(SEGMENT_DEL, segment(9))


def unprivileged():
    """Users may look, not touch; root of a namespace may, in its own."""
    script = """
import sys
sys.path.insert(0, "selftests/net"); sys.dont_write_bytecode = True
from lib_kmod import *
netlink = Netlink()
netlink.state()
codes = []
for command, attrs in [(DEV_SET, u16(3, 0)), (PORT_SET, b""),
        (NODE_SET, u16(3, 5)), (NODE_DEL, u16(3, 3)), (SEGMENT_SET, u32(3, 9)),
        (SEGMENT_DEL, u32(3, 8)), (SEGMENT_ACTIVATE, b"")]:
    try:
        netlink.set(command, dev(), attrs)
        codes.append(0)
    except Refused as refused:
        codes.append(refused.errno)
print(codes)
"""
    before = NETLINK.state()
    output = run("setpriv", "--reuid=65534", "--regid=65534",
                 "--clear-groups", "/usr/bin/python3", "-c", script, netns=NETNS)
    expect(output.strip() == str([E.EPERM] * 7), output)
    output = run("unshare", "--user", "--map-root-user", "/usr/bin/python3", "-c",
                 script, netns=NETNS)
    expect(output.strip() == str([E.EPERM] * 7), output)
    expect(NETLINK.state() == before, "something changed")
    own = script.replace("netlink = ", "run('ip', 'link', 'add', 'lace0', "
                         "'type', 'lace'); netlink = ")
    output = run("unshare", "--user", "--net", "--map-root-user", "/usr/bin/python3",
                 "-c", own, netns=NETNS)
    expect(str(E.EPERM) not in output.strip("[]\n").split(", ") and
           output.startswith("[0, "), output)


def answers():
    """GET answers what SET said."""
    got = NETLINK.get(NODE_GET, node(2))
    expect([p["length"] for p in sorted(got["prefixes"],
                                        key=lambda p: p["length"])] ==
           [24, 32], got)
    expect(got["ports"] == [{"number": 0, "mac": "020000000200"},
                            {"number": 1, "mac": "020000000201"}], got)
    got = NETLINK.get(SEGMENT_GET, segment(7))
    expect(got["active"] and got["circuits"] == [
        {"port": 0, "dir": TX, "peer": 1, "peer_port": 0},
        {"port": 0, "dir": RX, "peer": 2, "peer_port": 0}] and
        got["routes"] == [{"from": 0, "to": 2, "next": 1},
                          {"from": 2, "to": 1, "prev": 2, "next": 1}], got)
    got = NETLINK.get(DEV_GET, dev())
    expect(got["node"] == 0 and got["segment"] == 7 and
           [p["ifname"] for p in got["ports"]] == ["p0", "p1"] and
           "steer_prog_id" not in got, got)
    got = NETLINK.get(LANE_GET, dev(), u8(3, 0), u8(5, RX))
    expect(got["peer"] == 2 and got["peer_port"] == 0, got)
    got = NETLINK.get(LANE_GET, dev(), u8(3, 1), u8(5, RX))
    expect("peer" not in got and got["stats"]["packets"] == 0, got)


def port_numbers():
    """A port takes the lowest free number, and another on request."""
    NETLINK.set(PORT_SET, dev("p1"), u8(3, 31))
    run("ip", "link", "add", "p2", "master", "lace0", "type", "dummy",
        netns=NETNS)
    ports = {p["ifname"]: p["number"]
             for p in NETLINK.get(DEV_GET, dev())["ports"]}
    expect(ports == {"p0": 0, "p1": 31, "p2": 1}, ports)
    run("ip", "link", "del", "p2", netns=NETNS)
    NETLINK.set(PORT_SET, dev("p1"), u8(3, 1))


def replace():
    """A node is replaced as a whole; its prefixes are free for others then."""
    NETLINK.set(NODE_SET, node(3, prefix("10.5.0.0/16")))
    got = NETLINK.get(NODE_GET, node(3))
    expect(len(got["prefixes"]) == 1 and "ports" not in got, got)
    NETLINK.set(NODE_SET, node(4, prefix("10.0.3.0/24")))
    NETLINK.set(NODE_DEL, node(4))
    NETLINK.set(NODE_SET, node(3, prefix("10.0.3.0/24"), prefix("::/0"),
                               prefix("0.0.0.0/0")))


def many_nodes():
    """Dumps of many nodes are whole, whatever the size of the buffer."""
    some = range(100, 100 + 500 // SLOW)
    for number in some:
        NETLINK.set(NODE_SET, node(number, node_port(0, mac(number & 255)),
                                   prefix("10.%d.%d.0/24" % (
                                       16 + (number >> 8), number & 255))))
    big = node(1100, *(prefix("10.200.%d.%d" % (i >> 8, i & 255))
                       for i in range(1024)))
    NETLINK.set(NODE_SET, big)
    expect(len(NETLINK.get(NODE_GET, node(1100))["prefixes"]) == 1024,
           "not all prefixes")
    for buffer in (1 << 20, 1 << 16):
        netlink = Netlink(NETNS, buffer=buffer)
        got = [n["id"] for n in netlink.dump(NODE_GET, dev())]
        expect(got == [0, 1, 2, 3, *some, 1100], len(got))
        netlink.close()
    for number in (*some, 1100):
        NETLINK.set(NODE_DEL, node(number))


def many_routes():
    """A segment with as many routes as there may be is loaded and dumped."""
    NETLINK.set(SEGMENT_SET, segment(
        9, TX1, RX2, *(route(0, 10 + i, None, 1) for i in range(4096))))
    got = NETLINK.dump(SEGMENT_GET)
    expect([s["id"] for s in got] == [7, 8, 9], got[:1])
    expect([r["to"] for r in got[2]["routes"]] ==
           list(range(10, 4106)), "routes differ")
    NETLINK.set(SEGMENT_DEL, segment(9))


def interrupted():
    """A dump tells if something changed meanwhile."""
    for number in range(100, 140):
        NETLINK.set(NODE_SET, node(number, *(prefix("10.%d.%d.0/24" % (
            number, other)) for other in range(16))))
    slow = Netlink(NETNS, buffer=8192)
    slow.send(NODE_GET, b"", NLM_F_DUMP)
    messages = slow.receive()
    NETLINK.set(NODE_DEL, node(139))
    while messages[-1].kind != NLMSG_DONE:
        messages += slow.receive()
    slow.close()
    expect(any(m.flags & NLM_F_DUMP_INTR for m in messages), "not told")
    for number in range(100, 139):
        NETLINK.set(NODE_DEL, node(number))


def grown():
    """What no longer fits in the buffers of a dump ends it: to be tried again."""
    def load(number, routes):
        NETLINK.set(SEGMENT_SET, segment(number, TX1, RX2, *(
            route(0, 10 + i, None, 1) for i in range(routes))))
    for number in range(10, 70):
        load(number, 10)
    slow = Netlink(NETNS, buffer=8192)
    slow.send(SEGMENT_GET, b"", NLM_F_DUMP)
    slow.receive()
    load(69, 4096)
    try:
        raise AssertionError(len(slow.receive_answers()))
    except Refused as refused:
        expect(refused.errno == E.EINTR, refused)
    slow.close()
    expect(len(NETLINK.dump(SEGMENT_GET)[-1]["routes"]) == 4096, "routes")
    for number in range(10, 70):
        NETLINK.set(SEGMENT_DEL, segment(number))


def dump_filter():
    """A dump may be restricted to one device, which has to be there."""
    run("ip", "link", "add", "lace1", "type", "lace", netns=NETNS)
    expect(len(NETLINK.dump(DEV_GET)) == 2, "all")
    expect([d["ifname"] for d in NETLINK.dump(DEV_GET, dev("lace1"))] ==
           ["lace1"], "one")
    expect(NETLINK.dump(NODE_GET, dev("lace1")) == [], "none")
    expect(len(NETLINK.dump(LANE_GET, dev())) == 4, "lanes")
    run("ip", "link", "del", "lace1", netns=NETNS)
    for attrs, code in ((dev("lace1"), E.ENODEV), (dev("lo"), E.ENODEV),
                        (dev() + dev(), E.EINVAL),
                        (dev() + u16(3, 1), E.EINVAL)):
        try:
            NETLINK.dump(NODE_GET, attrs)
        except Refused as refused:
            # A dump that does not begin has no words in Linux 6.1.
            expect(refused.errno == code and
                   (refused.message or os.uname().release.startswith("6.1.")), refused)
        else:
            raise AssertionError("not refused")


def heard(monitor):
    """What the monitor group said so far."""
    monitor.socket.settimeout(0.5 * SLOW)
    messages = []
    try:
        while True:
            messages += monitor.receive()
    except TimeoutError:
        return [(m.cmd, m.decoded()) for m in messages]


def notifications():
    """Every change is announced."""
    monitor = Netlink(NETNS)
    monitor.join()
    actions = [
        (lambda: NETLINK.set(NODE_SET, node(9, prefix("10.9.0.0/16"))),
         [NODE_NTF]),
        (lambda: NETLINK.set(NODE_DEL, node(9)), [NODE_DEL_NTF]),
        (lambda: NETLINK.set(SEGMENT_SET, segment(9, TX1)), [SEGMENT_NTF]),
        (lambda: NETLINK.set(SEGMENT_ACTIVATE, segment(9)), [SEGMENT_NTF]),
        (lambda: NETLINK.set(SEGMENT_ACTIVATE, dev()), [SEGMENT_NTF]),
        (lambda: NETLINK.set(SEGMENT_DEL, segment(9)), [SEGMENT_DEL_NTF]),
        (lambda: NETLINK.set(SEGMENT_ACTIVATE, segment(7)), [SEGMENT_NTF]),
        (lambda: NETLINK.set(DEV_SET, dev(), u16(3, 0)), [DEV_NTF]),
        (lambda: NETLINK.set(PORT_SET, dev("p1"), u8(3, 4)),
         [DEV_NTF] + [LANE_NTF] * 4),
        (lambda: run("ip", "link", "set", "p1", "nomaster", netns=NETNS),
         [DEV_NTF, LANE_NTF, LANE_NTF]),
        (lambda: run("ip", "link", "set", "p1", "master", "lace0",
                     netns=NETNS), [DEV_NTF, LANE_NTF, LANE_NTF]),
    ]
    for index, (action, commands) in enumerate(actions):
        action()
        said = heard(monitor)
        expect([c for c, _ in said] == commands, (index, said))
        expect(all(o["ifname"] == "lace0" for _, o in said), said)
    monitor.close()


def echo():
    """A change that asks for an echo gets the notification as its answer."""
    got = NETLINK.answers(NODE_SET, node(9, prefix("10.9.0.0/16")),
                          NLM_F_ACK | NLM_F_ECHO)
    expect(len(got) == 1 and got[0].cmd == NODE_NTF and
           got[0].decoded()["id"] == 9, got)
    NETLINK.set(NODE_DEL, node(9))


def mutations():
    """Sound messages with one byte changed are refused or done, no worse."""
    sound = [(NODE_SET, node(9, prefix("10.9.0.0/16"), prefix("fd09::/16"),
                             node_port(3, mac(9)))),
             (SEGMENT_SET, segment(9, TX1, RX2, route(2, 1, 2, 1))),
             (PORT_SET, dev("p1") + u8(3, 1)), (DEV_SET, dev() + u16(3, 0))]
    for command, attrs in sound:
        for at in range(len(attrs)):
            for value in {attrs[at] ^ 1, attrs[at] ^ 0x80, 0, 255}:
                changed = attrs[:at] + bytes([value]) + attrs[at + 1:]
                try:
                    NETLINK.set(command, changed)
                except Refused as refused:
                    expect(refused.errno < 200, refused)
        for length in range(len(attrs)):
            try:
                NETLINK.set(command, attrs[:length])
            except Refused:
                pass
    NETLINK.state()


def down():
    succeeds("ip", "netns", "del", NETNS)


run("modprobe", "lace")
run("ip", "netns", "add", NETNS)
try:
    run("ip", "link", "add", "lace0", "type", "lace", netns=NETNS)
    for name in ("p0", "p1"):
        run("ip", "link", "add", name, "master", "lace0", "type", "dummy",
            netns=NETNS)
    NETLINK = Netlink(NETNS)
    set_up(NETLINK)
    main(refusals(GENERAL, "any command"), refusals(DEVICE, "devices"),
         refusals(PORT, "ports"), refusals(NODES, "nodes"),
         refusals(LANES, "lanes"), refusals(SEGMENTS, "segments"),
         activation, unprivileged, answers, port_numbers, replace, many_nodes,
         many_routes, interrupted, grown, dump_filter, notifications,
         echo, mutations)
finally:
    down()
