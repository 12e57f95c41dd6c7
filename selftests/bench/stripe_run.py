# SPDX-License-Identifier: GPL-2.0
"""What selftests/bench/stripe does in the virtual machine: one TCP connection
from one namespace to another, over lanes that are veth pairs with tbf.

    sa: p0 -------- p0 :sb
        p1 -------- p1
        ...

The lanes are used in turn by lace0, with and without putting segments back in
order, and by bonding balance-rr; one lane alone is what they are measured by.
Prints JSON.
"""

import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "../net"))
sys.dont_write_bytecode = True
from lib_kmod import (DEV_GET, DEV_SET, NODE_SET, RX, SEGMENT_ACTIVATE,  # noqa: E402
                      SEGMENT_SET, TX, Netlink, background, circuit, dev,
                      node_port, poll, prefix, run, succeeds, u16, u32)

NETNS = ("sa", "sb")
ADDRESS = ("10.88.0.1", "10.88.0.2")
REORDER_USECS = 10
ONE, LACE, PLAIN, BOND = ("one lane", "lace", "lace, as it comes",
                          "balance-rr")
WAYS = (ONE, LACE, PLAIN, BOND)
NUMBERS = ("mbps", "retransmits", "out_of_order", "cpu_ns_per_byte")
# A bucket of that long keeps what a busy machine is late for; what leaves in
# one piece takes so long on a lane, but two segments may.
BURST_S, GSO_S, LEAST_GSO = 0.05, 0.0025, 3000
LEAST_RATIO, MOST_AGAIN = 0.97, 0.01


class Pair:
    """Two namespaces with lanes between them, rates in Mb/s."""

    def __init__(self, rates, gso):
        self.rates = rates
        self.gso = gso
        self.netlinks = []

    def __enter__(self):
        for netns in NETNS:
            succeeds("ip", "netns", "del", netns)
            run("ip", "netns", "add", netns)
            run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1",
                "net.ipv4.conf.all.rp_filter=0",
                "net.ipv4.tcp_no_metrics_save=1", netns=netns)
        for lane, rate in enumerate(self.rates):
            run("ip", "link", "add", "p%d" % lane, "netns", NETNS[0],
                "address", mac(0, lane), "type", "veth", "peer", "name",
                "p%d" % lane, "netns", NETNS[1], "address", mac(1, lane))
            for netns in NETNS:
                # Else each processor has a queue of its own for what comes
                # in, and a lane does not keep the order.
                run("sh", "-c", "echo %d >/sys/class/net/p%d/queues/rx-0/"
                    "rps_cpus" % (1 << lane % 2, lane), netns=netns)
                run("tc", "-n", netns, "qdisc", "add", "dev", "p%d" % lane,
                    "root", "tbf", "rate", "%gmbit" % rate, "burst",
                    str(int(2 * self.gso + rate * 1e6 / 8 * BURST_S)),
                    "latency", "200ms")
        return self

    def __exit__(self, *_):
        for netlink in self.netlinks:
            netlink.close()
        for netns in NETNS:
            succeeds("ip", "netns", "del", netns)

    def address(self, device):
        self.each("link", "set", device, "gso_max_size", str(self.gso))
        for end, netns in enumerate(NETNS):
            run("ip", "-n", netns, "address", "add", ADDRESS[end] + "/24",
                "dev", device)

    def dropped(self):
        """Packets that queues and ports have dropped."""
        queues = json.loads(run("tc", "-n", NETNS[0], "-s", "-j", "qdisc"))
        with open("/proc/net/softnet_stat", encoding="ascii") as file:
            backlog = sum(int(l.split()[1], 16) for l in file)
        return sum(q["drops"] for q in queues) + backlog

    def reordered(self):
        """What the receiver's lace0 has counted, where it is lace0."""
        if not self.netlinks:
            return {}
        stats = self.netlinks[1].get(DEV_GET, dev())["stats"]
        return {k: v for k, v in stats.items() if v}

    def each(self, *words):
        for netns in NETNS:
            run("ip", "-n", netns, *words)

    def plain(self):
        self.each("link", "set", "p0", "up")
        self.address("p0")

    def bond(self):
        self.each(*"link add bond0 type bond mode balance-rr miimon 100".split())
        for lane in range(len(self.rates)):
            self.each("link", "set", "p%d" % lane, "down", "master", "bond0")
        self.each("link", "set", "bond0", "up")
        self.address("bond0")

    def lace(self, usecs):
        self.each("link", "add", "lace0", "type", "lace")
        for lane in range(len(self.rates)):
            self.each("link", "set", "p%d" % lane, "master", "lace0", "up")
        self.each("link", "set", "lace0", "up")
        self.address("lace0")
        for end, netns in enumerate(NETNS):
            netlink = Netlink(netns)
            self.netlinks.append(netlink)
            netlink.set(DEV_SET, dev(), u16(3, end))
            if usecs is not None:
                netlink.set(DEV_SET, dev(), u32(REORDER_USECS, usecs))
            for other in range(2):
                netlink.set(NODE_SET, dev(), u16(3, other),
                            prefix(ADDRESS[other]),
                            *[node_port(p, mac(other, p))
                              for p in range(len(self.rates))])
            netlink.set(SEGMENT_SET, dev(), u32(3, 0), *[
                circuit(p, d, 1 - end, p) for p in range(len(self.rates))
                for d in (TX, RX)])
            netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 0))


def mac(end, lane):
    return "02:00:00:00:%02x:%02x" % (end, lane)


def netstat(netns):
    lines = [l.split() for l in
             run("cat", "/proc/net/netstat", netns=netns).splitlines()]
    return {k: int(v) for names, values in zip(lines[::2], lines[1::2])
            for k, v in zip(names[1:], values[1:])}


def busy():
    """Seconds that the processors have worked."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(t) for t in file.readline().split()[1:]]
    return (sum(times[:8]) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


def measure(seconds):
    before, busy_before = [netstat(n) for n in NETNS], busy()
    with background("iperf3", "-s", "-1", netns=NETNS[1]):
        poll(lambda: ":5201" in run("ss", "-Htln", netns=NETNS[1]),
             "iperf3 listens")
        end = json.loads(run("iperf3", "-c", ADDRESS[1], "-t", str(seconds),
                             "-O", "1", "-J", netns=NETNS[0]))["end"]
    used = busy() - busy_before
    after = [netstat(n) for n in NETNS]
    received = end["sum_received"]
    return {"mbps": round(received["bits_per_second"] / 1e6, 2),
            "retransmits": end["sum_sent"]["retransmits"],
            "out_of_order": after[1]["TCPOFOQueue"] -
            before[1]["TCPOFOQueue"],
            "cpu_ns_per_byte": round(used * 1e9 / (
                received["bytes"] * (seconds + 1) / seconds), 2)}


def one(way, lanes, options):
    """One run of one way to use lanes."""
    with Pair([options.rate] * (1 if way == ONE else lanes),
              options.gso) as pair:
        if way == ONE:
            pair.plain()
        elif way == BOND:
            pair.bond()
        else:
            pair.lace(0 if way == PLAIN else None)
        poll(lambda: succeeds("ping", "-c", "1", "-W", "1", ADDRESS[1],
                              netns=NETNS[0]), "ping", 30)
        dropped = pair.dropped()
        return {**measure(options.seconds),
                "dropped": pair.dropped() - dropped, **pair.reordered()}


def medians(options, lanes):
    """{way: numbers}; runs of the ways take turns."""
    runs = {way: [] for way in WAYS}
    for _ in range(options.repeat):
        for way in WAYS:
            runs[way].append(one(way, lanes, options))
            print(lanes, way, runs[way][-1], file=sys.stderr, flush=True)
    found = {way: {n: statistics.median(r[n] for r in runs[way])
                   for n in NUMBERS} for way in WAYS}
    for way in WAYS:
        found[way]["ratio"] = round(found[way]["mbps"] / found[ONE]["mbps"] /
                                    (1 if way == ONE else lanes), 3)
    return found


def is_good(found):
    return found[LACE]["ratio"] >= LEAST_RATIO and \
        found[LACE]["retransmits"] <= MOST_AGAIN * found[BOND]["retransmits"]


def print_table(results):
    head = ("lanes", "way", "Mb/s", "ratio", "sent again", "out of order",
            "CPU ns/byte")
    rows = [head] + [(str(lanes), way, "%.1f" % one["mbps"],
                      "%.3f" % one["ratio"], "%g" % one["retransmits"],
                      "%g" % one["out_of_order"],
                      "%.0f" % one["cpu_ns_per_byte"])
                     for lanes, found in results.items()
                     for way, one in found.items()]
    widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
    rule = "  ".join("=" * w for w in widths)
    for row in (rule, rows[0], rule, *rows[1:], rule):
        print(row if row is rule else "  ".join(
            c.ljust(w) for c, w in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rate", type=float, default=4)
    parser.add_argument("--lanes", default="2,4")
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--gso", type=int, default=0)
    options = parser.parse_args()
    options.gso = options.gso or max(
        int(options.rate * 1e6 / 8 * GSO_S), LEAST_GSO)
    run("modprobe", "-a", "lace", "veth", "bonding")
    results = {lanes: medians(options, lanes)
               for lanes in map(int, options.lanes.split(","))}
    if options.json:
        print(json.dumps({
            "rate_mbps": options.rate, "gso_bytes": options.gso,
            "seconds": options.seconds, "repeat": options.repeat,
            "kernel": os.uname().release,
            "runs": [{"lanes": lanes, "way": way, **one}
                     for lanes, found in results.items()
                     for way, one in found.items()]}))
    else:
        print_table(results)
    return 0 if all(map(is_good, results.values())) else 1


sys.exit(main())
