#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Life and end of devices, ports, namespaces and the module, under traffic.

usage: kmod_life.py [--count N]

    k0 <====> k1	two ports each, both ways

--count says how often the module is unloaded, a namespace deleted and a device
removed; by default 100 times, 3 times and 5 times (the first a tenth of it on a
slow kernel).

kernels: 6.1 6.12
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
from lib_kmod import (DEV_GET, LANE_GET, RX, SLOW, Lab, Netlink, dev,  # noqa: E402
                      expect, inside, load_module, main, poll, run, succeeds,
                      unload_module)

CIRCUITS = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 1]]
UNLOADS, NAMESPACES, DEVICES = 100 if SLOW == 1 else 10, 3, 5


class Traffic:
    """Datagrams between two nodes, without end, whatever becomes of them."""

    def __init__(self, lab):
        self.ended = False
        self.sent = 0
        self.threads = []
        for source, target in ((0, 1), (1, 0)):
            for family, address in ((socket.AF_INET, lab.nodes[target].v4),
                                    (socket.AF_INET6, lab.nodes[target].v6)):
                with inside(lab.nodes[source].netns):
                    sender = socket.socket(family, socket.SOCK_DGRAM)
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
            time.sleep(0.002)	# leave some of the processors to the test
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


def new_devices(lab):
    """lace0 in every namespace again, with its ports and its plan."""
    for node in lab.nodes:
        node.netlink.close()
        lab.up_lace(node)
    for node in lab.nodes:
        lab.load(node, 0, CIRCUITS)
    lab.activate(0)


def unload():
    """The module can be unloaded under traffic, again and again."""
    # What modprobe would load, without what makes loading slow.
    run("strip", "-g", "-o", "/tmp/lace.ko",
        run("modinfo", "-n", "lace").strip())
    with Lab(2, 2) as lab:
        lab.plan(0, CIRCUITS)
        with Traffic(lab) as traffic:
            flows(traffic)
            for cycle in range(COUNT or UNLOADS):
                unload_module("lace")
                expect(not os.path.exists("/sys/module/lace"), cycle)
                load_module("/tmp/lace.ko")
                new_devices(lab)
                flows(traffic)
            # A flow of datagrams keeps to one lane: some lane has them.
            poll(lambda: any(lab.nodes[1].stats(port, RX)["packets"]
                             for port in (0, 1)), "packets arrive")


def namespaces():
    """A namespace can be deleted under traffic, and ends."""
    for _ in range(COUNT or NAMESPACES):
        with Lab(2, 2) as lab:
            lab.plan(0, CIRCUITS)
            with Traffic(lab) as traffic:
                flows(traffic)
                lab.nodes[1].netlink.close()
                lab.nodes[1].netlink = None
                run("ip", "netns", "del", lab.nodes[1].netns)
                flows(traffic)	# its sockets keep the namespace
            poll(lambda: not succeeds("ip", "-n", lab.SWITCH, "link", "show",
                                      "s1p0"),
                 "the namespace is gone", 20)


def devices():
    """Devices and ports come and go under traffic."""
    with Lab(2, 2) as lab:
        lab.plan(0, CIRCUITS)
        with Traffic(lab) as traffic:
            for _ in range(COUNT or DEVICES):
                flows(traffic)
                lab.nodes[0].ip("link", "set", "p1", "nomaster")
                flows(traffic)
                lab.nodes[0].ip("link", "set", "p1", "master", "lace0")
                flows(traffic)
                for node in lab.nodes:
                    node.ip("link", "del", "lace0")
                new_devices(lab)


def dumps():
    """Devices come and go while they are dumped."""
    with Lab(1, 2) as lab:
        node = lab.nodes[0]
        other = Netlink(node.netns)
        ended = []

        def look():
            while not ended:
                other.dump(DEV_GET)
                other.dump(LANE_GET)
        thread = threading.Thread(target=look)
        thread.start()
        for _ in range(20):
            node.ip("link", "add", "lace1", "type", "lace")
            node.ip("link", "set", "p1", "master", "lace1")
            node.ip("link", "del", "lace1")
        ended.append(True)
        thread.join()
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
main(ports, quiet, mtu, full, devices, dumps, namespaces, unload)
