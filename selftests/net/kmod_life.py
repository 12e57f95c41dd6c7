#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Life and end of devices, ports, namespaces and the module, under traffic and
half way through transitions.

usage: kmod_life.py [--count N]

    k0 <====> k1	two ports each, both ways; in segment 1 they are to be
			crossed, and are not

--count says how often the module is unloaded, a namespace deleted and a device
removed; by default 25 times, 6 times and 8 times (4, 2 and 4 times on a slow
kernel).

kernels: 6.12
in turn: debug
timeout: 400
"""

import argparse
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (DEV_GET, DEV_SET, HOOK_SET, LANE_GET,  # noqa: E402
                      QUIESCE, RX, SLOW, SWITCH, TRANSITION_GET,
                      TRANSITION_START, TX, UP, VERIFY, Beside, Lab, Netlink,
                      dev, expect, inside, load_module, main, nest, poll, run,
                      succeeds, text, u32, unload_module)

CIRCUITS = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 1]]
CROSSED = [[0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]
UNLOADS, NAMESPACES, DEVICES = (25, 6, 8) if SLOW == 1 else (4, 2, 4)
NEVER = 600000	# ms
SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000


class Traffic:
    """Datagrams between two nodes, without end, whatever becomes of them."""

    def __init__(self, lab, pairs=((0, 1), (1, 0))):
        self.ended = False
        self.sent = 0
        self.threads = []
        for source, target in pairs:
            for family, address in ((socket.AF_INET, lab.nodes[target].v4),
                                    (socket.AF_INET6, lab.nodes[target].v6)):
                with inside(lab.nodes[source].netns):
                    sender = socket.socket(family, socket.SOCK_DGRAM)
                sender.setblocking(False)	# a closed gate may be full
                self.threads.append(threading.Thread(
                    target=self.send, args=(sender, address), daemon=True))

    def send(self, sender, address):
        payload = bytes(8000)
        while not self.ended:
            try:
                sender.sendto(payload, (address, 9))
                self.sent += 1
            except OSError:
                pass
            time.sleep(0.01 * SLOW)	# leave the processors to the test
        sender.close()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        for thread in self.threads:
            thread.join()


def flows(traffic):
    """Traffic goes on."""
    before = traffic.sent
    poll(lambda: traffic.sent > before + 4, "traffic", 20)


class HalfWay:
    """Nodes in the midst of transitions: in a phase whose hook does not answer,
    in one that waits for circuits which do not come, or in none, by turns.
    """

    PHASES = (QUIESCE, SWITCH, VERIFY, None)

    def __init__(self, nodes, turn, phases=PHASES):
        self.nodes = nodes
        self.phase = phases[turn % len(phases)]
        self.hooks = []

    def is_there(self):
        return all(node.netlink.get(TRANSITION_GET, dev())["phase"] ==
                   self.phase for node in self.nodes)

    def begin(self, node):
        if self.phase in (QUIESCE, SWITCH):
            hook = Netlink(node.netns)
            self.hooks.append(hook)
            hook.set(HOOK_SET, dev(), text(3, "mute"),
                     u32(4, 1 << self.phase))
        node.netlink.set(TRANSITION_START, dev(), u32(6, 1),
                         nest(10, *(u32(phase, NEVER)
                                    for phase in range(1, 7))))

    def __enter__(self):
        if self.phase is not None:
            for node in self.nodes:
                self.begin(node)
            poll(self.is_there, "phase %d" % self.phase)
        return self

    def __exit__(self, *_):
        for hook in self.hooks:
            hook.close()


def load(lab):
    """Both segments, the first one active."""
    for node in lab.nodes:
        lab.load(node, 0, CIRCUITS)
        lab.load(node, 1, CROSSED)
    lab.activate(0)


def new_lab(lab):
    """The switch as segment 0 wants it."""
    lab.plan(0, CIRCUITS)
    for node in lab.nodes:
        lab.load(node, 1, CROSSED)


def new_devices(lab):
    """lace0 in every namespace again, with its ports and its plan."""
    for node in lab.nodes:
        node.netlink.close()
        lab.up_lace(node)
    load(lab)


def unload():
    """The module can be unloaded, again and again."""
    # What modprobe would load, without what makes loading slow.
    run("strip", "-g", "-o", "/tmp/lace.ko",
        run("modinfo", "-n", "lace").strip())
    with Lab(2, 2) as lab:
        new_lab(lab)
        with Traffic(lab) as traffic:
            flows(traffic)
            for cycle in range(COUNT or UNLOADS):
                with HalfWay(lab.nodes, cycle):
                    unload_module("lace")
                expect(not os.path.exists("/sys/module/lace"), cycle)
                load_module("/tmp/lace.ko")
                new_devices(lab)
                flows(traffic)
            # A flow of datagrams keeps to one lane: some lane has them.
            poll(lambda: any(lab.nodes[1].stats(port, RX)["packets"]
                             for port in (0, 1)), "packets arrive")


def is_gone(lab):
    """Whether the ports of the second node are, and so their far ends."""
    with inside(lab.SWITCH):
        return "s1p0" not in dict(socket.if_nameindex()).values()


def end_namespace(lab, lingers, half_way):
    """It ends at once, or with the last socket in it."""
    k1 = lab.nodes[1]
    with Traffic(lab, ((0, 1), (1, 0)) if lingers else ((0, 1),)) as traffic:
        flows(traffic)
        with half_way:
            k1.netlink.close()
            k1.netlink = None
            run("ip", "netns", "del", k1.netns)
            if not lingers:
                poll(lambda: is_gone(lab), "gone at once", 20)
    poll(lambda: is_gone(lab), "the namespace is gone", 20)


def namespaces():
    """A namespace can be deleted, and ends."""
    with Lab(2, 2) as lab:
        k0, k1 = lab.nodes
        for turn in range(COUNT or NAMESPACES):
            new_lab(lab)
            # A hook would keep it, as sockets do.
            lingers = turn % 2
            end_namespace(lab, lingers, HalfWay(
                lab.nodes, turn // 2, (VERIFY, SWITCH, QUIESCE, None)
                if lingers else (VERIFY, None)))
            k0.ip("link", "del", "lace0")
            k0.netlink.close()
            lab.up_lace(k0)
            lab.up_nodes([k1])


def devices():
    """Devices and ports come and go."""
    with Lab(2, 2) as lab:
        new_lab(lab)
        with Traffic(lab) as traffic:
            for turn in range(COUNT or DEVICES):
                flows(traffic)
                with HalfWay(lab.nodes, turn):
                    lab.nodes[0].ip_batch(["link set p1 nomaster",
                                           "link set p1 master lace0",
                                           "link del lace0"])
                    lab.nodes[1].ip("link", "del", "lace0")
                new_devices(lab)


def dumps():
    """Devices come and go while they are dumped."""
    with Lab(1, 2) as lab:
        node = lab.nodes[0]
        other = Netlink(node.netns)

        def look():
            while not looking.ended.is_set():
                other.dump(DEV_GET)
                other.dump(LANE_GET)
        looking = Beside(look)
        with looking:
            for _ in range(20 // SLOW):
                node.ip("link", "add", "lace1", "type", "lace")
                node.ip("link", "set", "p1", "master", "lace1")
                node.ip("link", "del", "lace1")
        other.close()


def ports():
    """Only Ethernet devices of the same namespace that are free become ports."""
    with Lab(2, 1) as lab:
        k0 = lab.nodes[0]
        k0.ip("link", "add", "lace1", "type", "lace")
        k0.ip("link", "add", "br0", "type", "bridge")
        k0.ip("link", "add", "d0", "type", "dummy")
        k0.ip("link", "add", "mv0", "link", "d0", "type", "macvlan")
        for name, words in (("lo", "Ethernet"), ("lace1", "Ethernet"),
                            ("lace0", ""), ("d0", "belongs to another")):
            output = k0.ip("link", "set", name, "master", "lace0",
                            check=False)
            expect("Error" in output or "RTNETLINK" in output, output)
            expect(words in output, output)
        k0.ip("link", "del", "mv0")
        k0.ip("link", "set", "d0", "master", "br0")
        k0.ip("link", "set", "d0", "master", "lace0")
        expect(len(k0.netlink.get(DEV_GET, dev())["ports"]) == 2, "ports")
        k0.ip("link", "set", "d0", "netns", lab.nodes[1].netns)
        expect(len(k0.netlink.get(DEV_GET, dev())["ports"]) == 1, "moved")
        lab.nodes[1].ip("link", "set", "d0", "master", "lace0")
        lab.nodes[1].ip("link", "set", "d0", "nomaster")
        output = k0.ip("link", "set", "lace0", "netns", "1",
                        check=False)
        expect("RTNETLINK" in output or "Error" in output, "lace0 moved")


def half_open():
    """An answer to a new connection at the gate, or lent memory, keeps no namespace."""
    with Lab(2, 1) as lab:
        lab.plan(0, [[0, 0, 1, 0], [1, 0, 0, 0]])
        k0, k1 = lab.nodes
        poll(lambda: k1.lane(0, TX)["state"] == UP, "answers")
        k0.netlink.set(DEV_SET, dev(), u32(11, 60000))	# stays open
        lab.cut(1, 0)
        poll(lambda: "closed" in k1.lane(0, TX), "closed")
        with inside(k1.netns):
            server = socket.create_server(("0.0.0.0", 7006))
            lender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            lender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        with inside(k0.netns):
            client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        client.setblocking(False)
        client.connect_ex((k1.v4, 7006))
        poll(lambda: k1.dev_stats()["gate_held"], "an answer waits")
        before = k1.dev_stats()["gate_held"]
        lender.sendmsg([bytes(1400)], (), MSG_ZEROCOPY, (k0.v4, 7007))
        expect(k1.dev_stats()["gate_held"] > before, "it does not wait")
        for one in (server, lender, client):
            one.close()
        k1.netlink.close()
        k1.netlink = None
        run("ip", "netns", "del", k1.netns)
        poll(lambda: not succeeds("ip", "-n", lab.SWITCH, "link", "show",
                                  "s1p0"), "the namespace is gone", 20)


def quiet():
    """A port that was up before has no IPv6 address left, and is up again."""
    with Lab(2, 1) as lab:
        k0 = lab.nodes[0]

        def addresses():
            return k0.ip("-6", "address", "show", "dev", "up0")

        k0.ip("link", "add", "up0", "type", "veth", "peer", "name", "far0")
        k0.ip("link", "set", "far0", "up")
        k0.ip("link", "set", "up0", "up")
        poll(lambda: "fe80" in addresses(), "no address to begin with")
        k0.ip("link", "set", "up0", "master", "lace0")
        expect("inet6" not in addresses(), addresses())
        flags = k0.ip("link", "show", "up0")
        expect("UP" in flags.split(">")[0].split(","), flags)
        k0.ip("link", "set", "up0", "nomaster")
        k0.ip("link", "set", "up0", "down")
        k0.ip("link", "set", "up0", "up")
        poll(lambda: "fe80" in addresses(), "no address afterwards")


def mtu_of(node):
    return node.device()["mtu"]


def mtu():
    """The MTU follows the ports, and what the user set as far as they allow."""
    with Lab(1, 2) as lab:
        node = lab.nodes[0]
        expect(mtu_of(node) == 1500, mtu_of(node))
        for command, value in (("p0 mtu 9000", 1500), ("p1 mtu 4000", 4000),
                               ("p1 mtu 9000", 9000), ("p0 mtu 1400", 1400),
                               ("p0 nomaster", 9000), ("lace0 mtu 3000", 3000),
                               ("p1 mtu 2000", 2000), ("p1 mtu 9000", 3000)):
            node.ip("link", "set", *command.split())
            expect(mtu_of(node) == value, (command, mtu_of(node)))
        output = node.ip("link", "set", "lace0", "mtu", "9001",
                          check=False)
        expect(mtu_of(node) == 3000 and output, output)


def full():
    """A device has 32 ports and no more."""
    with Lab(1, 0) as lab:
        node = lab.nodes[0]
        batch = ["link add d%d master lace0 type dummy" % i
                 for i in range(32)]
        node.ip_batch(batch)
        output = node.ip("link", "add", "d32", "master", "lace0",
                          "type", "dummy", check=False)
        expect("no free port" in output, output)
        expect(len(node.netlink.get(DEV_GET, dev())["ports"]) == 32, "ports")
        expect(len(node.netlink.dump(LANE_GET)) == 64, "lanes")


parser = argparse.ArgumentParser()
parser.add_argument("--count", type=int, default=0)
COUNT = parser.parse_args().count
main(ports, half_open, quiet, mtu, full, devices, dumps, namespaces, unload)
