#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""lacectl calibrate on a lab whose truth is known: two nodes, a lane each way.

  n0 lane0 ==> n1 lane0       50 Mb/s each, MTU 1500: 1448 of 1514 bytes are
  n1 lane0 ==> n0 lane0       payload
"""
import json
import subprocess

from lib_kmod import expect, main
from lib_lab import Lab, lacectl

RATE = 50000000
PAYLOAD = 1448 / 1514
LAB = Lab("calibrate", [[(["a", 1], ["a", 1])], [(["a", 2], ["a", 2])]], RATE)


def start_traffic(seconds):
    """TCP from n0 to n1, in the background."""
    LAB.run(1, "iperf3", "-s", "-1", "-D")
    return subprocess.Popen(
        ("ip", "netns", "exec", LAB.netns(0), "iperf3", "-c", "10.77.0.2",
         "-t", str(seconds)), stdout=subprocess.DEVNULL)


def idle():
    """Nothing to measure: exit status 1, no file, and the reason."""
    path = LAB.folder.name + "/idle.json"
    said = lacectl("calibrate", "lab", LAB.name, "seconds", "1", "-o", path,
                   status=1)
    expect("calibrate while traffic flows" in said, said)
    expect(subprocess.call(("test", "-e", path)) == 1, path)


def is_payload(ratio):
    """Of a lane that is full; on a busy machine TCP may not always fill it."""
    return 0.8 < ratio / PAYLOAD < 1.03


def check(cluster, found):
    """Of a plan's numbers, what the lab is known to have."""
    expect(is_payload(found["payload_ratio"]), found)
    rates = {p["rate_bps"] for n in cluster["nodes"] for p in n["ports"]}
    expect(rates == {round(RATE * found["payload_ratio"])} or
           abs(rates.pop() / RATE / found["payload_ratio"] - 1) < 1e-6,
           cluster)
    # An acknowledgment of 66 bytes for one to 45 frames of 1514.
    expect(66 / 1514 / 50 < found["control_ratio"] < 0.03, found)
    expect(cluster["control_ratio"] == found["control_ratio"], cluster)


def lab():
    """The whole lab, while TCP flows one way."""
    path = LAB.folder.name + "/lab.json"
    traffic = start_traffic(6)
    found = json.loads(lacectl("-j", "calibrate", "lab", LAB.name, "seconds",
                               "3", "output", path))
    traffic.wait()
    with open(path, encoding="ascii") as file:
        check(json.load(file), found)
    # The lane back carries acknowledgments, which do not fill it.
    expect(found["lanes"] == 1, found)


def one_device():
    """The node that receives, by itself: the rate of its RX lane."""
    traffic = start_traffic(6)
    found = json.loads(lacectl(
        "-j", "-n", LAB.netns(1), "calibrate", "dev", "lace0", "-c",
        LAB.folder.name + "/cluster.json", "--node", "n1", "seconds", "3"))
    traffic.wait()
    expect(found["lanes"] == 1, found)
    expect(is_payload(found["payload_ratio"]), found)


def usage():
    """Words that do not go together."""
    for words in ((), ("lab", LAB.name, "dev", "lace0"), ("dev", "lace0"),
                  ("lab", LAB.name, "-c", "x"),
                  ("lab", LAB.name, "seconds", "0.1"),
                  ("lab", LAB.name, "bogus", "1")):
        lacectl("calibrate", *words, status=2)
    lacectl("calibrate", "lab", "no-such-lab", status=1)


def run():
    LAB.up()
    try:
        LAB.apply([(0, 0, 1, 0), (1, 0, 0, 0)])
        main(idle, lab, one_device, usage)
    finally:
        LAB.down()


run()
