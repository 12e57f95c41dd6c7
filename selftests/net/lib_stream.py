# SPDX-License-Identifier: GPL-2.0
"""TCP streams between namespaces whose every byte is checked, and transitions
of a lab under them.
"""

import json
import random
import socket
import subprocess
import threading
import time

from lib_kmod import LANE_GET, TX, Netlink, dev, expect, inside, run, u8
from lib_lab import Lab, lacectl

PERIOD = 65521		# of what is sent: prime, so that no shift looks right
CHUNK = 32768


# Longer than TCP ever waits until it tries again: it decides what is broken.
PATIENCE_S = 200


class Stream:
    """One connection, which sends as fast as it can until it is stopped."""

    def __init__(self, sender, receiver, address, port):
        self.sent = self.received = self.bad = 0
        self.error = None
        self.stopped = False
        block = random.Random(port).randbytes(PERIOD)
        self.pattern = block + block[:CHUNK]
        with inside(receiver):
            listener = socket.create_server((address, port))
        with inside(sender):
            self.out = socket.create_connection((address, port),
                                                timeout=PATIENCE_S)
        self.incoming = listener.accept()[0]
        listener.close()
        self.incoming.settimeout(PATIENCE_S)
        self.threads = [threading.Thread(target=self.guard, args=(f,))
                        for f in (self.send, self.receive)]
        for thread in self.threads:
            thread.start()

    def guard(self, function):
        try:
            function()
        except OSError as error:
            self.error = self.error or error

    def send(self):
        while not self.stopped:
            at = self.sent % PERIOD
            self.sent += self.out.send(self.pattern[at:at + CHUNK])
        self.out.shutdown(socket.SHUT_WR)

    def receive(self):
        while True:
            data = self.incoming.recv(CHUNK)
            if not data:
                return
            at = self.received % PERIOD
            should = self.pattern[at:at + len(data)]
            if data != should:
                self.bad += sum(a != b for a, b in zip(data, should))
            self.received += len(data)

    def stop(self):
        """Ends it in order, so that nothing is under way."""
        self.stopped = True
        for thread in self.threads:
            thread.join(PATIENCE_S)
        if any(t.is_alive() for t in self.threads):
            self.error = self.error or OSError("does not end")
        self.bad += abs(self.sent - self.received)
        self.out.close()
        self.incoming.close()


def interface(fibre):
    """Of the OCS, that leads to and comes from this (node, port)."""
    return "n%dp%d" % fibre


class TransitionLab(Lab):
    """Three nodes with two ports. In segment 0 both ports lead n0 > n1 > n2 >
    n0, and in segment 1 port 1 the other way round: port 0 stays.
    """

    def __init__(self, name):
        super().__init__(name, [[(["ocs0", 2 * n + p + 1],
                                  ["ocs0", 2 * n + p + 1])
                                 for p in range(2)] for n in range(3)])

    @staticmethod
    def address(node):
        return "10.77.0.%d" % (node + 1)

    @staticmethod
    def ring(port, step):
        return [(n, port, (n + step) % 3, port) for n in range(3)]

    @staticmethod
    def segment(circuits, relayed):
        """Pairs two hops along port 0 are relayed where there is no lane."""
        return {"first_op": 0, "last_op": 0, "transmit_s": 1,
                "circuits": [list(c) for c in circuits],
                "routes": [[n, (n + 2) % 3, [(n + 1) % 3]] for n in range(3)]
                if relayed else []}

    def both(self):
        stays = self.ring(0, 1)
        return [self.segment(stays + self.ring(1, 1), True),
                self.segment(stays + self.ring(1, -1), False)]

    def go(self, segment, *options, plan="plan.json", status=0):
        """A transition: what lacectl says of it."""
        output = lacectl("-j", "plan", "apply", self.path(plan), "--lab",
                         self.name, "--segment", str(segment), "--transition",
                         *options, status=status)
        return json.loads(output) if status == 0 else output

    def stream(self, source, target, port):
        stream = Stream(self.netns(source), self.netns(target),
                        self.address(target), port)
        stream.pair = source, target
        return stream

    def in_switch(self, lines, force=False):
        """Lines of tc in the switch; what fails fails, unless it is forced."""
        run("tc", "-n", self.name + "-ocs", *["-force"][:force], "-batch", "-",
            commands="\n".join(lines), check=not force)

    def mislead(self, source, at, output=None):
        """An OCS that does not do what it says: light of this (node, port) that
        should come out at some outputs does at another one, or at none.
        """
        # MAC addresses end in the numbers of node and port.
        match = "u32 match u32 0x%02x%02x0000 0xffff0000 at -4" % source
        action = "drop" if output is None else \
            "mirred egress redirect dev " + interface(output)
        self.in_switch("filter add dev %s egress pref 7 %s action %s" % (
            interface(one), match, action) for one in at)

    def put_right(self, at):
        self.in_switch(("filter del dev %s egress pref 7" % interface(one)
                        for one in at), force=True)

    def device(self, node):
        return json.loads(lacectl("-j", "-n", self.netns(node), "device"))[0]

    def streams(self, along=1):
        """So many along each lane that stays, and one for each pair that has
        none.
        """
        return [self.stream(n, (n + hops) % 3, 5000 + 100 * i + 10 * hops + n)
                for hops, number in ((1, along), (2, 1))
                for i in range(number) for n in range(3)]

    def kept_bytes(self):
        """Sent so far on the lanes that stay."""
        total = 0
        for node in range(3):
            with Netlink(self.netns(node)) as netlink:
                total += netlink.get(LANE_GET, dev(), u8(3, 0),
                                     u8(5, TX))["stats"]["bytes"]
        return total

    def down(self):
        subprocess.run(("lacectl", "lab", "down", self.name), check=False,
                       stderr=subprocess.DEVNULL)


def finish(streams):
    """(bytes that are wrong or lost, connections that broke)"""
    for stream in streams:
        stream.stopped = True
    for stream in streams:
        stream.stop()
    expect(all(s.received for s in streams), "a stream carried nothing")
    return sum(s.bad for s in streams), sum(bool(s.error) for s in streams)
