#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Steering: the built-in policy, and programs given by file descriptor.

    k0 ====> k1		lanes of ports 0 and 1; k1 ----> k0 port 0

Programs are written in instructions, so that nothing has to be compiled.

kernels: 6.12
in turn: debug
"""

import ctypes
import os
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (DEV_GET, DEV_SET, LIBC, SLOW,  # noqa: E402
                      SO_SNDBUFFORCE, TX, Lab, Refused, dev, expect, inside,
                      iperf, main, poll, s32)

LAB = Lab(2, 2)
CIRCUITS = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0]]
SYS_BPF, BPF_PROG_LOAD = 321, 5
BPF_LOG_STATS = 4	# and errors, but not each instruction
SOCKET_FILTER, SCHED_CLS = 1, 3
R0, R1, R2 = 0, 1, 2
GATE_PACKETS = 4096	# how many wait at a gate
IFINDEX, CB = 40, 48		# of struct __sk_buff


def instruction(code, target=0, source=0, offset=0, value=0):
    return struct.pack("=BBhi", code, source << 4 | target, offset, value)


def mov(target, value):
    return instruction(0xb7, target, value=value)


def load(target, word):
    """target = context word"""
    return instruction(0x61, target, R1, CB + 4 * word)


EXIT = instruction(0x95)


def jump_if_not(target, value, count):
    return instruction(0x55, target, offset=count, value=value)


def wait(turns):
    """Counts down in R2."""
    return (mov(R2, turns), instruction(0x17, R2, value=1),
            jump_if_not(R2, 0, -2))


def program(*instructions, kind=SOCKET_FILTER):
    """File descriptor of a program that the kernel took."""
    code = ctypes.create_string_buffer(b"".join(instructions))
    licence = ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(1 << 16)
    attributes = struct.pack("=IIQQIIQ", kind, len(instructions),
                             ctypes.addressof(code),
                             ctypes.addressof(licence), BPF_LOG_STATS, len(log),
                             ctypes.addressof(log)) + bytes(80)
    buffer = ctypes.create_string_buffer(attributes)
    fd = LIBC.syscall(SYS_BPF, BPF_PROG_LOAD, buffer, len(attributes))
    expect(fd >= 0, (os.strerror(ctypes.get_errno()), log.value.decode()))
    return fd


def steer(fd):
    LAB.nodes[0].netlink.set(DEV_SET, dev(), s32(5, fd))


def packets():
    """Packets sent on each lane by what is done until it is called."""
    return [LAB.nodes[0].stats(port, TX)["packets"] for port in (0, 1)]


def ping(count=10):
    """How many packets each lane got of a ping."""
    before = packets()
    LAB.nodes[0].run("ping", "-c", str(count), "-i", "0.05", "-W", "2",
                     LAB.nodes[1].v4)
    return [b - a for a, b in zip(before, packets())]


def with_program(fd, action):
    try:
        steer(fd)
        return action()
    finally:
        steer(-1)
        os.close(fd)


def spread():
    """Without a program, a TCP flow uses all lanes, a flow of datagrams one."""
    before = packets()
    iperf(LAB.nodes[0], LAB.nodes[1], LAB.nodes[1].v4, seconds=2)
    sent = [b - a for a, b in zip(before, packets())]
    expect(min(sent) > max(sent) * 0.3, sent)
    sent = ping()
    expect(sorted(sent) == [0, 10], sent)


def picks():
    """A program picks the lane by its index."""
    for lane in (0, 1):
        sent = with_program(program(mov(R0, lane), EXIT), ping)
        expect(sent[lane] >= 10 and not sent[1 - lane], sent)


def out_of_range():
    """An answer out of range is counted and the built-in policy decides."""
    for answer in (2, 1000, -1):
        before = LAB.nodes[0].dev_stats()["steer_bad"]
        sent = with_program(program(mov(R0, answer), EXIT), ping)
        expect(sorted(sent) == [0, 10], sent)
        after = LAB.nodes[0].dev_stats()["steer_bad"]
        expect(after == before + 10, (before, after))


def context():
    """A program sees lanes, ports, next hop, built-in choice and segment."""
    words = ((0, 2), (1, 3), (2, 1), (4, 7))
    tests = b"".join(load(R2, word) + jump_if_not(R2, value, 2 * (3 - i) + 2)
                     for i, (word, value) in enumerate(words))
    tests = [tests[i:i + 8] for i in range(0, len(tests), 8)]
    sent = with_program(program(*tests, mov(R0, 1), EXIT, mov(R0, 9), EXIT),
                        ping)
    expect(sent == [0, 10], sent)
    before = ping()
    sent = with_program(program(load(R0, 3), EXIT), ping)
    expect(sent == before, (before, sent))


def one_lane():
    """A program runs also where there is one lane only."""
    k1 = LAB.nodes[1]
    fd = program(mov(R0, 5), EXIT)
    k1.netlink.set(DEV_SET, dev(), s32(5, fd))
    os.close(fd)
    k1.run("ping", "-c", "3", "-i", "0.05", "-W", "2", LAB.nodes[0].v4)
    expect(k1.dev_stats()["steer_bad"] == 3, k1.dev_stats())
    k1.netlink.set(DEV_SET, dev(), s32(5, -1))


def dead_lane():
    """A lane whose port is down is not offered."""
    k0 = LAB.nodes[0]
    k0.ip("link", "set", "p1", "down")
    sent = with_program(program(load(R2, 1), jump_if_not(R2, 1, 2),
                                mov(R0, 0), EXIT, mov(R0, 9), EXIT), ping)
    k0.ip("link", "set", "p1", "up")
    expect(sent == [10, 0] and k0.dev_stats()["steer_bad"] == STEER_BAD,
           sent)


class Flood:
    """Datagrams from node 0 to node 1 for a minute, as fast as they are taken."""

    def __init__(self):
        with inside(LAB.nodes[0].netns):
            self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 24)
        self.socket.connect((LAB.nodes[1].v4, 9))
        self.ended = False
        self.thread = threading.Thread(target=self.send, daemon=True)

    def send(self):
        end = time.monotonic() + 60 * SLOW
        while not self.ended and time.monotonic() < end:
            try:
                self.socket.send(b"")
            except OSError:	# nobody listens there
                pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()
        self.socket.close()


def flooded():
    """A gate opens even for who sends faster than it lets go."""
    k0 = LAB.nodes[0]

    def closed():
        return ["closed" in k0.lane(port, TX) for port in (0, 1)]

    def opens():
        before = k0.dev_stats()["gate_passed"]
        LAB.cut(1, 0)	# no answer comes back
        poll(lambda: all(closed()), "closed")
        with Flood() as flood:
            poll(lambda: k0.dev_stats()["gate_held"] >= GATE_PACKETS,
                 "a gate that is full")
            LAB.join(1, 0, 0, 0)
            poll(lambda: not any(closed()), "open again", 30)
            expect(flood.thread.is_alive(), "open when nothing came any more")
            held = k0.dev_stats()["gate_held"]
            poll(lambda: k0.dev_stats()["gate_passed"] == held, "all passed")
        return k0.dev_stats()["gate_passed"] - before
    passed = with_program(program(*wait(8000 * SLOW ** 2), mov(R0, 0), EXIT),
                          opens)
    expect(passed > 2 * GATE_PACKETS, passed)


def shown():
    """The program in force is shown by its number, and refused if no filter."""
    netlink = LAB.nodes[0].netlink

    def number():
        return netlink.get(DEV_GET, dev()).get("steer_prog_id")
    expect(number() is None, number())
    fd = program(mov(R0, 0), EXIT)
    steer(fd)
    expect(number(), "no number")
    with open("/proc/self/fdinfo/%d" % fd, encoding="ascii") as info:
        expect("prog_id:\t%d\n" % number() in info.read(), number())
    other = program(mov(R0, 0), EXIT, kind=SCHED_CLS)
    try:
        steer(other)
    except Refused as refused:
        expect("SOCKET_FILTER" in refused.message, refused)
    else:
        raise AssertionError("a program of another type was taken")
    expect(number(), "the program in force is gone")
    steer(-1)
    expect(number() is None, number())
    os.close(fd)
    os.close(other)


def relayed():
    """A relayed packet is of lace0, and of no port, which may go before it."""
    LAB.down()
    with Lab(3, 1) as ring:
        ring.plan(0, [[0, 0, 1, 0], [1, 0, 2, 0], [2, 0, 0, 0]],
                  [[0, 2, [1]], [1, 0, [2]], [2, 1, [0]]])
        k0, k1, k2 = ring.nodes
        fd = program(instruction(0x61, R2, R1, IFINDEX),
                     jump_if_not(R2, k1.device()["ifindex"], 2),
                     mov(R0, 0), EXIT, mov(R0, 9), EXIT)
        k1.netlink.set(DEV_SET, dev(), s32(5, fd))
        os.close(fd)
        before = k1.stats(0, TX)["relay_packets"]
        k0.run("ping", "-c", "5", "-i", "0.05", "-W", "2", k2.v4)
        expect(k1.stats(0, TX)["relay_packets"] >= before + 5, "not relayed")
        expect(not k1.dev_stats()["steer_bad"], k1.dev_stats())


with LAB:
    LAB.plan(7, CIRCUITS)
    STEER_BAD = 30		# of out_of_range(), whose answers are bad
    main(spread, picks, out_of_range, context, one_lane, dead_lane, flooded,
         shown, relayed)
