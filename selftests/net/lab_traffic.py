#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Traffic in labs: planes, lanes that do not exist, circuits that lead
elsewhere, and that a lane has the rate it is said to have.

    t-n0 ... t-n7, port 0 of all on OCS plane0, port 1 on plane1:
        plane0: n0 --> n1 --> ... --> n7 --> n0
        plane1: n0 <-- n1 <-- ... <-- n7 <-- n0
timeout: 300
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import expect, main  # noqa: E402
from lib_lab import Lab, lacectl  # noqa: E402

NAMES = ("t", "u", "v")


def address(node):
    return "10.77.0.%d" % (node + 1)


def planes():
    """Eight nodes, one OCS for each port: neighbours reach each other."""
    count = 8
    lab = Lab("t", [[(["plane%d" % p, n + 1], ["plane%d" % p, n + 1])
                     for p in range(2)] for n in range(count)])
    lab.up("rate", "20M", "switch-time", "0")
    lab.apply([(n, 0, (n + 1) % count, 0) for n in range(count)] +
              [(n, 1, (n - 1) % count, 1) for n in range(count)])
    for node in range(count):
        there = (node + 1) % count
        expect(lab.pings(node, address(there)), (node, there))
        expect(lab.pings(node, "fd77::%x" % (there + 1)), (node, there))
    for node in range(count):
        for port in range(2):
            lane = lab.lane(node, port, "tx")
            ocs = lab.ocs_count("plane%d" % port, node + 1)
            expect(ocs["packets"] == lane["packets"] > 0, (lane, ocs))
            expect(ocs["bytes"] == lane["bytes"], (lane, ocs))
            expect(ocs["dark_packets"] == 0, ocs)
    lab.down()


def null_lanes():
    """Nodes whose ports have one lane only talk over what there is."""
    # n0 sends by lane0 and hears by lane1; n1 the other way round.
    lab = Lab("u", [[(["ocs0", 1], None), (None, ["ocs0", 2])],
                    [(None, ["ocs0", 1]), (["ocs0", 2], None)]])
    lab.up("switch-time", "0", "mtu", "4000")
    lab.apply([(0, 0, 1, 0), (1, 1, 0, 1)])
    expect(lab.pings(0, address(1), "-M", "do", "-s", "3972"), "0 to 1")
    expect(lab.pings(1, "fd77::1", "-s", "3900"), "1 to 0")
    expect(lab.lane(0, 0, "tx")["packets"] > 0, "lane0 sent nothing")
    expect(lab.lane(0, 1, "tx")["packets"] == 0, "lane1 of n0 sent")
    lab.down()


def ring(lab):
    """v-n0 ==> v-n1 ==> v-n2 ==> v-n0, back over the third."""
    lab.apply([(n, p, (n + 1) % 3, p) for n in range(3) for p in range(2)],
              [(n, (n + 2) % 3, [(n + 1) % 3]) for n in range(3)])


def leads_elsewhere():
    """A lane whose circuit leads elsewhere delivers nothing."""
    lab = LABS["v"]
    ring(lab)
    expect(lab.pings(0, address(1)), "ring")

    def unexpected():
        return sum(lab.lane(2, p, "rx")["unexpected"] for p in range(2))

    def arrived():
        return sum(lab.lane(1, p, "rx")["packets"] for p in range(2))

    before = unexpected()
    # Both lanes of n0 end at n2 in place of n1.
    lacectl("ocs", "set", "v", "switch-time", "0", "1-5", "2-6", "3-3", "4-4",
            "5-1", "6-2")
    got = arrived()
    expect(not lab.pings(0, address(1)), "an answer came")
    expect(not lab.pings(0, address(2)), "n2 takes what is not meant for it")
    expect(unexpected() > before, "not counted")
    expect(arrived() == got, "n1 got something")
    lacectl("ocs", "set", "v", "switch-time", "0", "1-3", "2-4", "3-5", "4-6",
            "5-1", "6-2")
    expect(lab.pings(0, address(1)), "ring again")


def rates():
    """Flows get the payload rate of their lanes, and no more."""
    lab = LABS["v"]
    ring(lab)
    rate = 10e6 * 1448 / 1514
    # Alone, on two lanes; then three of which one is relayed by n1.
    alone = lab.iperf((0, 1, address(1)))[0] / (2 * rate)
    expect(0.85 < alone < 1.03, "alone %.3f" % alone)
    shares = [r / (2 * rate) for r in
              lab.iperf((0, 2, address(2)), (1, 2, address(2)),
                        (1, 2, address(2)), seconds=8)]
    expect(0.85 < sum(shares) < 1.03, shares)
    expect(min(shares) > 0.15 and max(shares) < 0.6, shares)


LABS = {"v": Lab("v", [[(["ocs0", 2 * n + p + 1], ["ocs0", 2 * n + p + 1])
                        for p in range(2)] for n in range(3)])}
try:
    LABS["v"].up("rate", "10M", "switch-time", "0")
    main(planes, null_lanes, leads_elsewhere, rates)
finally:
    for name in NAMES:
        subprocess.run(("lacectl", "lab", "down", name), check=False,
                       stderr=subprocess.DEVNULL)
