#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Hooks: sockets that take part in transitions, and what becomes of those when
a hook fails, is late, dies, or cannot be reached.

    kh: lace0 with ports p0 and p1; segments 7 and 8 have the same circuits, so
        that nothing but hooks decides whether a transition succeeds

kernels: debug 6.12
timeout: 150
"""

import errno
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (  # noqa: E402
    DEV_GET, DEV_NTF, DEV_SET, DONE, HOOK_CALL_NTF, HOOK_DEL, HOOK_DEL_NTF,
    HOOK_DONE, HOOK_FAULT, HOOK_GET, HOOK_NTF, HOOK_SET, NODE_DEL, NODE_SET,
    QUIESCE, RESUME, ROLLED_BACK, RUNNING, RX, SEGMENT_ACTIVATE, SEGMENT_NTF,
    SEGMENT_SET, SLOW, SWITCH, TRANSITION_ABORT, TRANSITION_GET,
    TRANSITION_NTF, TRANSITION_START, TX, HookSocket, Netlink, Refused, attr,
    circuit, dev, expect, inside, main, nest, node_port, poll, prefix, run,
    succeeds, text, u8, u16, u32)

NETNS = "kh"


def u64(kind, value):
    return attr(kind, value.to_bytes(8, sys.byteorder))


def set_up(netlink):
    netlink.set(DEV_SET, dev(), u16(3, 0))
    for number in range(2):
        netlink.set(NODE_SET, dev(), u16(3, number),
                    prefix("10.0.%d.0/24" % number),
                    node_port(0, "02:00:00:00:%02x:00" % number))
    for number in (7, 8):
        netlink.set(SEGMENT_SET, dev(), u32(3, number), circuit(0, TX, 1, 0),
                    circuit(0, RX, 1, 0))


class Hook:
    """A hook of lace0."""

    def __init__(self, name, *phases):
        self.name = name
        self.netlink = HookSocket(NETNS)
        self.set(*phases)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.netlink.close()

    def set(self, *phases):
        self.netlink.set(HOOK_SET, dev(), text(3, self.name),
                         u32(4, sum(1 << p for p in phases)))

    def call(self):
        """The next call."""
        return self.netlink.call()

    def answer(self, call, error=None, reason=None):
        self.netlink.set(HOOK_DONE, dev(), u32(9, call["call"]),
                         *([u32(13, error)] if error is not None else []),
                         *([text(14, reason)] if reason is not None else []))


def hooks():
    return NETLINK.dump(HOOK_GET)


def other():
    """The loaded segment that is not active."""
    return 15 - NETLINK.get(DEV_GET, dev())["segment"]


def start(*attrs, to=None):
    """ID of a transition that has begun; it has time unless they say otherwise."""
    patient = nest(10, *(u32(phase, 60000)
                         for phase in (QUIESCE, SWITCH, RESUME)))
    return NETLINK.get(TRANSITION_START, dev(),
                       u32(6, other() if to is None else to),
                       *(attrs or [patient]))["id"]


def transition(number):
    return NETLINK.get(TRANSITION_GET, dev(), u64(3, number))


def end(number):
    """What became of a transition."""
    poll(lambda: transition(number)["result"] != RUNNING, "an end")
    return transition(number)


def deadline(phase, msecs):
    return nest(10, u32(phase, msecs))


def failed(report, hook, phase, error):
    """A transition that a hook failed, and that is back where it was."""
    expect(report["result"] == ROLLED_BACK, report)
    fault = report["faults"][0]
    expect(fault["kind"] == HOOK_FAULT and fault["hook"] == hook and
           fault["phase"] == phase and fault["error"] == error, report)
    expect(hook in report["reason"], report)
    expect(NETLINK.get(DEV_GET, dev())["segment"] == report["from"], report)


def refuses(code, words, command, *attrs, netlink=None):
    try:
        (netlink or NETLINK).set(command, *attrs)
    except Refused as refused:
        expect(refused.errno == code and words in refused.message,
               (words, refused))
        return
    raise AssertionError("not refused: " + words)


def refusals():
    """What makes no sense is refused."""
    name, phases = text(3, "a"), u32(4, 1 << SWITCH)
    for code, words, attrs in (
            (errno.EINVAL, "NAME: missing", (phases,)),
            (errno.EINVAL, "printable", (text(3, ""), phases)),
            (errno.EINVAL, "printable", (text(3, "a b"), phases)),
            (errno.EINVAL, "printable", (text(3, "a\n"), phases)),
            (errno.EINVAL, "PHASES: missing", (name,)),
            (errno.EINVAL, "PHASES: missing", (name, u32(4, 0))),
            (errno.EINVAL, "", (name, u32(4, 1 << 2))),
            (errno.EINVAL, "", (name, u32(4, 1 << 7))),
            (errno.EINVAL, "", (text(3, "a" * 32), phases)),
            (errno.EINVAL, "twice", (name, name, phases)),
            (errno.EINVAL, "", (name, phases, u32(5, 1)))):
        refuses(code, words, HOOK_SET, dev(), *attrs)
    refuses(errno.ENODEV, "no such device", HOOK_SET, dev("none"), name, phases)
    refuses(errno.ENOENT, "no such hook", HOOK_GET, dev(), name)
    refuses(errno.ENOENT, "no such hook", HOOK_DEL, dev(), name)
    refuses(errno.EINVAL, "CALL: missing", HOOK_DONE, dev())
    refuses(errno.ENOENT, "none of the device", HOOK_DONE, dev(), u32(9, 1))
    expect(hooks() == [], hooks())


def registration():
    """A socket becomes a hook, and is none when it is closed."""
    with Hook("one", SWITCH) as one, Hook("two", QUIESCE, RESUME):
        found = hooks()
        expect([(h["name"], h["phases"]) for h in found] ==
               [("one", 1 << SWITCH), ("two", 1 << QUIESCE | 1 << RESUME)],
               found)
        portid = one.netlink.socket.getsockname()[0]
        expect(found[0]["portid"] == portid and "call" not in found[0], found)
        one.set(SWITCH, RESUME)
        got = NETLINK.get(HOOK_GET, dev(), text(3, "one"))
        expect(got["phases"] == 1 << SWITCH | 1 << RESUME, got)
        refuses(errno.EEXIST, "another socket", HOOK_SET, dev(),
                text(3, "one"), u32(4, 1 << SWITCH))
    # Its name is free at once.
    with Hook("one", SWITCH):
        NETLINK.set(HOOK_DEL, dev(), text(3, "one"))
        expect("one" not in [h["name"] for h in hooks()], hooks())
    poll(lambda: hooks() == [], "no hooks")


def at_most():
    """A device has so many hooks and no more."""
    with Netlink(NETNS) as many:
        for number in range(32):
            many.set(HOOK_SET, dev(), text(3, "h%d" % number),
                     u32(4, 1 << SWITCH))
        refuses(errno.E2BIG, "too many", HOOK_SET, dev(), text(3, "more"),
                u32(4, 1 << SWITCH), netlink=many)
        expect(len(hooks()) == 32, hooks())
    poll(lambda: hooks() == [], "no hooks")


def unprivileged():
    """Who may not administer the network may not be a hook."""
    with Netlink(NETNS) as plain, inside(NETNS):
        child = os.fork()
        if not child:
            os.setuid(65534)
            codes = []
            for command in (HOOK_SET, HOOK_DONE, TRANSITION_START,
                            TRANSITION_ABORT):
                try:
                    plain.set(command, dev(), text(3, "x"), u32(4, 8))
                except Refused as refused:
                    codes.append(refused.errno)
            os._exit(0 if codes == [errno.EPERM] * 4 else 1)
        expect(os.waitpid(child, 0)[1] == 0, "was allowed")
    expect(hooks() == [], hooks())


def called():
    """Hooks are called in their phases, and their answers end these."""
    segment = other()
    with Hook("s", SWITCH) as switch, Hook("q", QUIESCE, RESUME) as both:
        number = start()
        for hook, phase in ((both, QUIESCE), (switch, SWITCH),
                            (both, RESUME)):
            call = hook.call()
            expect(call["phase"] == phase and call["transition"] == number and
                   call["from"] == 15 - segment and call["to"] == segment and
                   call["name"] == hook.name and call["deadline_ms"] > 0,
                   call)
            expect(transition(number)["phase"] == phase, transition(number))
            got = NETLINK.get(HOOK_GET, dev(), text(3, hook.name))
            expect(got["busy"] and got["call"] == call["call"], got)
            refuses(errno.EBUSY, "yet to answer", HOOK_SET, dev(),
                    text(3, hook.name), u32(4, 1 << SWITCH),
                    netlink=hook.netlink)
            refuses(errno.ESTALE, "CALL", HOOK_DONE, dev(),
                    u32(9, call["call"] + 1), netlink=hook.netlink)
            refuses(errno.EINVAL, "not those", HOOK_DONE, dev(),
                    u32(9, call["call"]), u8(6, phase - 1),
                    netlink=hook.netlink)
            refuses(errno.EINVAL, "not those", HOOK_DONE, dev(),
                    u32(9, call["call"]), u64(7, number + 1),
                    netlink=hook.netlink)
            refuses(errno.ENOENT, "none of the device", HOOK_DONE, dev(),
                    u32(9, call["call"]))
            hook.answer(call, *([0] if phase == SWITCH else []))
            refuses(errno.ESTALE, "answered", HOOK_DONE, dev(),
                    u32(9, call["call"]), netlink=hook.netlink)
        report = end(number)
        expect(report["result"] == DONE and "faults" not in report, report)
        expect(NETLINK.get(DEV_GET, dev())["segment"] == segment, report)


def all_answer():
    """A phase waits for all of its hooks."""
    with Hook("a", SWITCH) as one, Hook("b", SWITCH) as two:
        number = start()
        one.answer(one.call())
        time.sleep(0.2)
        expect(transition(number)["phase"] == SWITCH, transition(number))
        two.answer(two.call())
        expect(end(number)["result"] == DONE, transition(number))


def hook_fails():
    """A hook that fails takes the transition back, in its words."""
    with Hook("s", SWITCH) as hook:
        number = start()
        call = hook.call()
        hook.answer(call, errno.EIO, "the mirror\nis \u00bdstuck")
        back = hook.call()
        expect(back["to"] == call["from"], back)
        hook.answer(back)
        report = end(number)
        failed(report, "s", SWITCH, errno.EIO)
        expect("the mirror?is ??stuck" in report["reason"], report)


def back_to_none():
    """Without a segment to go back to, hooks are told of none."""
    before = NETLINK.get(DEV_GET, dev())["segment"]
    NETLINK.set(SEGMENT_ACTIVATE, dev())
    try:
        with Hook("s", SWITCH, RESUME) as hook:
            number = start(to=7)
            call = hook.call()
            expect("from" not in call and call["to"] == 7, call)
            hook.answer(call, errno.EIO)
            back = hook.call()
            expect(back["phase"] == RESUME and "from" not in back and
                   "to" not in back, back)
            hook.answer(back)
            report = end(number)
        expect(report["result"] == ROLLED_BACK and
               "segment" not in NETLINK.get(DEV_GET, dev()), report)
    finally:
        NETLINK.set(SEGMENT_ACTIVATE, dev(), u32(3, before))


def hook_refuses():
    """A hook that fails as a transition begins: nothing is switched."""
    with Hook("q", QUIESCE) as hook, Hook("s", SWITCH) as switch:
        number = start()
        hook.answer(hook.call(), errno.EAGAIN)
        failed(end(number), "q", QUIESCE, errno.EAGAIN)
        switch.netlink.socket.settimeout(0.2)
        try:
            expect(False, switch.call())
        except socket.timeout:
            pass


def hook_late():
    """A hook that is late fails the phase, and its answer is refused."""
    with Hook("q", QUIESCE) as hook:
        number = start(deadline(QUIESCE, 150))
        call = hook.call()
        expect(call["deadline_ms"] == 150, call)
        report = end(number)
        failed(report, "q", QUIESCE, errno.ETIMEDOUT)
        expect(report["times"]["quiesce"] >= 140e6, report)
        refuses(errno.ESTALE, "over", HOOK_DONE, dev(), u32(9, call["call"]),
                netlink=hook.netlink)


def hook_dies():
    """A hook that dies fails the phase at once."""
    with Hook("q", QUIESCE) as hook:
        number = start(deadline(QUIESCE, 60000))
        hook.call()
    failed(end(number), "q", QUIESCE, errno.ECONNRESET)
    expect(hooks() == [], hooks())


def hook_gone():
    """One that went before its phase fails it, unless another took its place."""
    with Hook("q", QUIESCE) as hook:
        with Hook("s", SWITCH):
            number = start()
            call = hook.call()
        poll(lambda: len(hooks()) == 1, "gone")
        hook.answer(call)
        failed(end(number), "s", SWITCH, errno.ECONNRESET)
        number = start()
        hook.answer(hook.call())
        expect(end(number)["result"] == DONE, transition(number))
        with Hook("s", SWITCH):
            number = start()
            call = hook.call()
        poll(lambda: len(hooks()) == 1, "gone")
        with Hook("s", SWITCH) as back:
            hook.answer(call)
            back.answer(back.call())
            expect(end(number)["result"] == DONE, transition(number))


def hook_deleted():
    """So does one that is deleted."""
    with Hook("q", QUIESCE) as hook:
        number = start(deadline(QUIESCE, 60000))
        hook.call()
        NETLINK.set(HOOK_DEL, dev(), text(3, "q"))
        failed(end(number), "q", QUIESCE, errno.ECONNRESET)


def hook_full():
    """A hook that reads no messages, so that its buffer overflows, fails."""
    with Hook("q", QUIESCE) as hook:
        hook.netlink.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for _ in range(100):
            number = start(deadline(QUIESCE, 50))
            report = end(number)
            if report["faults"][0]["error"] != errno.ETIMEDOUT:
                break
        failed(report, "q", QUIESCE, errno.EAGAIN)


def aborted():
    """A transition that waits for a hook can be aborted."""
    with Hook("q", QUIESCE) as hook:
        number = start(deadline(QUIESCE, 60000))
        call = hook.call()
        NETLINK.set(TRANSITION_ABORT, dev())
        expect(end(number)["result"] == ROLLED_BACK, transition(number))
        refuses(errno.ESTALE, "over", HOOK_DONE, dev(), u32(9, call["call"]),
                netlink=hook.netlink)


def heard(netlink, seconds=0.3 * SLOW):
    """(command, object) of what comes."""
    netlink.socket.settimeout(seconds)
    found = []
    try:
        while True:
            found += [(m.cmd, m.decoded()) for m in netlink.receive()]
    except socket.timeout:
        return found


def announced():
    """The group hears of hooks, their calls and answers."""
    with Netlink(NETNS) as monitor:
        monitor.join("hook")
        with Hook("s", SWITCH) as hook:
            number = start()
            hook.answer(hook.call())
            end(number)
        found = heard(monitor)
    expect([c for c, _ in found] ==
           [HOOK_NTF, HOOK_CALL_NTF, HOOK_NTF, HOOK_DEL_NTF], found)
    expect(all(h["name"] == "s" for _, h in found), found)
    expect(found[1][1]["transition"] == number, found)
    expect("busy" not in found[2][1] and found[2][1]["error"] == 0, found)


def transitions_announced():
    """The other group hears of each phase, and of the end."""
    with Netlink(NETNS) as monitor:
        monitor.join("transition")
        number = start()
        end(number)
        found = heard(monitor)
        monitor.join()
        active = other()
        end(start())
        changes = [(c, o) for c, o in heard(monitor) if c != TRANSITION_NTF]
    expect(all(c == TRANSITION_NTF and t["id"] == number for c, t in found),
           found)
    expect(found[-1][1]["result"] == DONE and found[-1][1]["phase"] == 0,
           found)
    phases = [t["phase"] for _, t in found[:-1]]
    expect(phases == sorted(phases) and QUIESCE in phases, found)
    expect([c for c, _ in changes] == [SEGMENT_NTF, DEV_NTF], changes)
    expect((changes[0][1]["id"], changes[1][1]["segment"]) ==
           (active, active) and "active" in changes[0][1], changes)


def history():
    """A device remembers its last transitions, in order."""
    for _ in range(70):
        end(start())
    found = NETLINK.dump(TRANSITION_GET, dev())
    numbers = [t["id"] for t in found]
    expect(len(found) == 64 and
           numbers == list(range(numbers[0], numbers[0] + 64)), numbers)
    last = NETLINK.get(TRANSITION_GET, dev())
    expect(last["id"] == numbers[-1] and last["result"] == DONE, last)
    refuses(errno.ENOENT, "forgotten", TRANSITION_GET, dev(), u64(3, 1))


def transition_refusals():
    """Transitions that make no sense are refused."""
    active = NETLINK.get(DEV_GET, dev())["segment"]
    to = u32(6, 15 - active)
    for code, words, attrs in (
            (errno.EINVAL, "TO: missing", ()),
            (errno.ENOENT, "", (u32(6, 9),)),
            (errno.EINVAL, "", (to, u64(3, 1))),
            (errno.EINVAL, "", (to, u32(5, 7))),
            (errno.ERANGE, "", (to, u8(7, 2))),
            (errno.ERANGE, "", (to, u8(8, 17))),
            (errno.ERANGE, "", (to, deadline(SWITCH, 0))),
            (errno.ERANGE, "", (to, deadline(SWITCH, 600001))),
            (errno.EINVAL, "", (to, deadline(7, 1))),
            (errno.EINVAL, "twice",
             (to, nest(10, u32(SWITCH, 1), u32(SWITCH, 1))))):
        refuses(code, words, TRANSITION_START, dev(), *attrs)
    with Hook("q", QUIESCE) as hook:
        number = start()
        call = hook.call()
        refuses(errno.EBUSY, "", TRANSITION_START, dev(), to)
        refuses(errno.EBUSY, "ACK_MSECS", DEV_SET, dev(), u32(11, 0))
        hook.answer(call)
        expect(end(number)["result"] == DONE, transition(number))
        NETLINK.set(SEGMENT_ACTIVATE, dev())
        number = start(to=7)
        call = hook.call()
        refuses(errno.EBUSY, "transition", NODE_DEL, dev(), u16(3, 1))
        node = dev(), u16(3, 1), prefix("10.0.1.0/24")
        refuses(errno.ENOENT, "no such port", NODE_SET, *node,
                node_port(1, "02:00:00:00:01:00"))
        NETLINK.set(NODE_SET, *node, node_port(0, "02:00:00:00:01:00"))
        hook.answer(call)
        end(number)	# nobody is there to prove lanes to
        NETLINK.set(SEGMENT_ACTIVATE, dev(), u32(3, 7))


def device_goes():
    """A device that is deleted while a hook is called takes its hooks along."""
    run("ip", "link", "add", "lace1", "up", "type", "lace", netns=NETNS)
    with Netlink(NETNS) as hook, Netlink(NETNS) as monitor:
        monitor.join("hook")
        hook.set(DEV_SET, dev("lace1"), u16(3, 0))
        hook.set(NODE_SET, dev("lace1"), u16(3, 0))
        hook.set(SEGMENT_SET, dev("lace1"), u32(3, 1))
        hook.set(HOOK_SET, dev("lace1"), text(3, "x"), u32(4, 1 << QUIESCE))
        hook.set(TRANSITION_START, dev("lace1"), u32(6, 1))
        run("ip", "link", "del", "lace1", netns=NETNS)
        found = heard(monitor)
        expect([c for c, _ in found] ==
               [HOOK_NTF, HOOK_CALL_NTF, HOOK_DEL_NTF], found)
    expect(hooks() == [], hooks())


def namespace_goes():
    """So does a namespace, with the hook's process still there."""
    run("ip", "netns", "add", "kh2")
    try:
        run("ip", "link", "add", "lace0", "up", "type", "lace", netns="kh2")
        with Netlink("kh2") as hook:
            hook.set(DEV_SET, dev(), u16(3, 0))
            hook.set(NODE_SET, dev(), u16(3, 0))
            hook.set(SEGMENT_SET, dev(), u32(3, 1))
            hook.set(HOOK_SET, dev(), text(3, "x"), u32(4, 1 << QUIESCE))
            hook.set(TRANSITION_START, dev(), u32(6, 1))
            run("ip", "netns", "del", "kh2")
    finally:
        succeeds("ip", "netns", "del", "kh2")
    poll(lambda: succeeds("modprobe", "-n", "lace"), "a module")


run("modprobe", "lace")
run("ip", "netns", "add", NETNS)
try:
    run("ip", "link", "add", "lace0", "type", "lace", netns=NETNS)
    run("ip", "link", "add", "p0", "address", "02:00:00:00:00:00", "master",
        "lace0", "type", "dummy", netns=NETNS)
    run("ip", "link", "set", "p0", "up", netns=NETNS)
    run("ip", "link", "set", "lace0", "up", netns=NETNS)
    NETLINK = Netlink(NETNS)
    set_up(NETLINK)
    NETLINK.set(SEGMENT_ACTIVATE, dev(), u32(3, 7))
    main(refusals, registration, at_most, unprivileged, transition_refusals,
         called, all_answer, hook_fails, back_to_none, hook_refuses, hook_late,
         hook_dies, hook_gone, hook_deleted, hook_full, aborted, announced,
         transitions_announced, history, device_goes, namespace_goes)
finally:
    subprocess.run(("ip", "netns", "del", NETNS), check=False)
