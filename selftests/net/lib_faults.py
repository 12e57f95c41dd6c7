# SPDX-License-Identifier: GPL-2.0
"""Faults of a TransitionLab: each is done to a lab that runs, and undone."""

import random
import re
import time

from lib_kmod import run
from lib_lab import lacectl
from lib_stream import interface

NODES, PORTS = 3, 2
OUTPUTS = [(n, p) for n in range(NODES) for p in range(PORTS)]
MOVES = 1		# the port whose lanes are switched


class Fault:
    """One fault. "transition" says that only a transition can have it."""

    kind = ""
    transition = False
    reload = False		# the plan has to be applied again

    def __init__(self, lab, chance):
        self.lab = lab
        self.node = chance.randrange(NODES)
        self.port = chance.randrange(PORTS)
        self.choose(chance)

    def choose(self, chance):
        pass

    def prepare(self, segment):
        """Before the transition to a segment begins."""

    def inject(self, process):
        """process: the lacectl of the transition, or None."""

    def heal(self):
        pass

    def __str__(self):
        return "n%d/%d" % (self.node, self.port)

    def light(self, state):
        run("ip", "-n", self.lab.name + "-ocs", "link", "set",
            interface((self.node, self.port)), state)


class Misled(Fault):
    """Light of one TX lane that comes out of the OCS elsewhere than it says:
    what leaves at an output is handed to another one, or to none.
    """

    def redirect(self, output):
        """All light of the lane comes out at this output, or at none."""
        self.lab.mislead((self.node, self.port),
                         [o for o in OUTPUTS if o != output], output)

    def heal(self):
        self.lab.put_right(OUTPUTS)


class NotSwitched(Misled):
    """The OCS says that it has switched, and an old circuit is in place."""

    kind = "circuit not switched"
    transition = True

    def choose(self, chance):
        self.port = MOVES

    def prepare(self, segment):
        step = -1 if segment == 0 else 1	# where it leads until then
        self.redirect(((self.node + step) % NODES, MOVES))


class WrongOutput(Misled):
    """Light comes out where it should not, maybe at its own node."""

    kind = "wrong output"

    def choose(self, chance):
        self.to = chance.choice(OUTPUTS)

    def inject(self, process):
        self.redirect(self.to)

    def __str__(self):
        return "n%d/%d to n%d/%d" % (self.node, self.port, *self.to)


class Dark(Misled):
    """No light, with carrier."""

    kind = "dark lane"

    def inject(self, process):
        self.redirect(None)


class NoCarrier(Fault):
    """A port without carrier."""

    kind = "carrier lost"

    def inject(self, process):
        self.light("down")

    def heal(self):
        self.light("up")


class Netem(Fault):
    """Frames of the lane protocol that come in at a port, or all ports."""

    impairments = ()

    def choose(self, chance):
        self.how = chance.choice(self.impairments)
        self.where = [(self.node, self.port)] if chance.random() < 0.5 else \
            OUTPUTS

    def inject(self, process):
        self.lab.in_switch(line % (interface(where), *more)
                           for where in self.where for line, *more in (
            ("qdisc add dev %s root handle 1: prio bands 2 priomap" +
             " 1" * 16,),
            ("qdisc add dev %s parent 1:1 netem %s", self.how),
            ("filter add dev %s parent 1: protocol 0x88b5 pref 1 "
             "u32 match u32 0 0 flowid 1:1",)))

    def heal(self):
        self.lab.in_switch(("qdisc del dev %s root" % interface(where)
                            for where in self.where), force=True)

    def __str__(self):
        where = ("all ports" if len(self.where) > 1 else super().__str__())
        return "%s: %s" % (where, self.how)


class Lost(Netem):
    kind = "protocol frames lost"
    impairments = "loss 30%", "loss 70%", "loss 100%"


class Duplicated(Netem):
    kind = "protocol frames duplicated"
    impairments = "delay 1ms duplicate 50%", "delay 1ms duplicate 100%"


class Reordered(Netem):
    kind = "protocol frames reordered"
    impairments = "delay 30ms reorder 50%", "delay 10ms 10ms", \
        "delay 250ms 50ms"


class Corrupted(Netem):
    kind = "protocol frames corrupted"
    impairments = "corrupt 20%", "corrupt 100%"


class HookKilled(Fault):
    """The process that moves the switch dies."""

    kind = "hook killed"
    transition = True
    reload = True

    def inject(self, process):
        process.kill()

    def __str__(self):
        return "lab"


class DeviceRemoved(Fault):
    """A peer's device goes, and another one comes in its place."""

    kind = "device removed and re-created"
    reload = True

    def inject(self, process):
        self.lab.run(self.node, "ip", "link", "del", "lace0")

    def heal(self):
        self.lab.recreate(self.node)

    def __str__(self):
        return "n%d" % self.node


class PortRemoved(Fault):
    """A port is taken from its device, and given back."""

    kind = "port removed"

    def inject(self, process):
        self.lab.run(self.node, "ip", "link", "set", "lane%d" % self.port,
                     "nomaster")

    def heal(self):
        lane = "lane%d" % self.port
        self.lab.run(self.node, "ip", "link", "set", lane, "master", "lace0")
        lacectl("-n", self.lab.netns(self.node), "port", "set", lane, "number",
                str(self.port))


class ClockJump(Fault):
    """The wall clock is set, forwards or backwards, and not back again."""

    kind = "clock jump"

    def choose(self, chance):
        self.seconds = chance.choice((-1, 1)) * chance.choice((2, 3600,
                                                               86400))

    def inject(self, process):
        now = time.clock_gettime(time.CLOCK_REALTIME)
        time.clock_settime(time.CLOCK_REALTIME, now + self.seconds)

    def __str__(self):
        return "%+d s" % self.seconds


KINDS = (NotSwitched, WrongOutput, Dark, NoCarrier, Lost, Duplicated,
         Reordered, Corrupted, HookKilled, DeviceRemoved, PortRemoved,
         ClockJump)


def draw(lab, count, seed, words=""):
    """Faults in random order, as many of each kind, or of those with these words
    in their names.
    """
    chance = random.Random(seed)
    of = [kind for kind in KINDS if words in kind.kind]
    kinds = [of[i % len(of)] for i in range(count)]
    chance.shuffle(kinds)
    return [(kind(lab, chance), chance) for kind in kinds]


def commands_of(node, dry_run):
    """Those of "lab up dry-run" that make a node's lace device."""
    space = r"^(ip|lacectl) -n \S+-n%d " % node
    return [line for line in dry_run.splitlines()
            if re.match(space, line) and "lace0" in line]
