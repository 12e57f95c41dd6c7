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

from lib_kmod import expect, inside
from lib_lab import Lab, lacectl

PERIOD = 65521		# of what is sent: prime, so that no shift looks right
CHUNK = 32768


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
            self.out = socket.create_connection((address, port), timeout=60)
        self.incoming = listener.accept()[0]
        listener.close()
        self.incoming.settimeout(60)
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
            thread.join(120)
        if any(t.is_alive() for t in self.threads):
            self.error = self.error or OSError("does not end")
        self.bad += abs(self.sent - self.received)
        self.out.close()
        self.incoming.close()


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

    def streams(self):
        """Three along the lanes that stay, three for the pairs that do not."""
        return [Stream(self.netns(n), self.netns((n + hops) % 3),
                       self.address((n + hops) % 3), 5000 + 10 * hops + n)
                for hops in (1, 2) for n in range(3)]

    def kept_bytes(self):
        """Sent so far on the lanes that stay."""
        return sum(self.lane(n, 0, "tx")["bytes"] for n in range(3))

    def kept_rate(self, seconds):
        """Bytes per second on these in a time without transitions."""
        begin, before = time.monotonic(), self.kept_bytes()
        time.sleep(seconds)
        return (self.kept_bytes() - before) / (time.monotonic() - begin)

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
