# SPDX-License-Identifier: GPL-2.0
"""What selftests/bench/stripe does in the virtual machine: TCP connections from
one namespace to another, over lanes that are veth pairs, most with tbf.

    sa: p0 -------- p0 :sb
        p1 -------- p1
        ...

Every way to use the lanes has the same lanes, made anew. Prints JSON, or a
table and what was asked of it.
"""

import argparse
import itertools
import json
import os
import selectors
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "../net"))
sys.dont_write_bytecode = True
from lib_kmod import (DEV_GET, DEV_SET, NODE_SET, RX, SEGMENT_ACTIVATE,  # noqa: E402
                      SEGMENT_SET, TX, Netlink, circuit, dev, inside, nest,
                      node_port, poll, prefix, run, succeeds, text, u8, u16,
                      u32)

NETNS = ("sa", "sb")
PORT = 5201
WARM_UP = 1		# s
# What leaves in one piece takes 2.5 ms of a lane, as in a lab, but is two
# segments at least; a bucket is what a lane may be late for.
GSO_S, LEAST_GSO, BURST_S = 0.0025, 3000, 0.01
CHUNK = 1 << 18

ONE, LACE, SPREAD, PIN = "one lane", "lace", "lace spread", "lace pin"
SMALL = "lace 64K"
BOND, TEAM, MPTCP = "balance-rr", "team", "mptcp"
WAYS = (ONE, LACE, SMALL, SPREAD, PIN, BOND, TEAM, MPTCP)
# Rates of lanes, in parts of --rate (0: no limit), and jitter of the last, s.
SCENARIOS = {"two": ((1, 1), 0), "four": ((1, 1, 1, 1), 0),
             "4:1": ((1, 0.25), 0), "jitter": ((1, 1), 0.001),
             "unlimited": ((0,), 0)}


def mac(end, lane):
    return "02:00:00:00:%02x:%02x" % (end, lane)


def address(end, lane=0):
    return "10.88.%d.%d" % (lane, end + 1)


class Pair:
    """Two namespaces with lanes between them, rates in Mb/s."""

    def __init__(self, rates, jitter, gso):
        self.rates = rates
        self.jitter = jitter
        self.gso = gso
        self.netlinks = []

    def __enter__(self):
        self.__exit__()
        for netns in NETNS:
            run("ip", "netns", "add", netns)
            run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1",
                "net.ipv4.conf.all.rp_filter=0",
                "net.ipv4.tcp_no_metrics_save=1", netns=netns)
        run("ip", "-batch", "-", commands="\n".join(
            "link add p%d netns %s address %s type veth peer name p%d netns %s "
            "address %s" % (lane, NETNS[0], mac(0, lane), lane, NETNS[1],
                            mac(1, lane)) for lane in range(len(self.rates))))
        for netns in NETNS:
            run("tc", "-n", netns, "-batch", "-", commands="\n".join(
                "qdisc add dev p%d root tbf rate %gmbit burst %d latency 200ms"
                % (lane, rate, 2 * self.gso + rate * 1e6 / 8 * BURST_S)
                for lane, rate in enumerate(self.rates) if rate))
        if self.jitter:
            self.shake()
        return self

    def __exit__(self, *_):
        for netlink in self.netlinks:
            netlink.close()
        self.netlinks = []
        for netns in NETNS:
            succeeds("ip", "netns", "del", netns)

    def shake(self):
        """The last lane's delay varies, and it keeps its order, as a fibre."""
        lane = "p%d" % (len(self.rates) - 1)
        run("ip", "-n", NETNS[1], "link", "add", "shake", "type", "ifb")
        run("ip", "-n", NETNS[1], "link", "set", "shake", "up")
        run("tc", "-n", NETNS[1], "-batch", "-", commands="\n".join((
            "qdisc add dev shake root netem delay %gms %gms rate 10gbit" %
            (self.jitter * 1e3, self.jitter * 1e3),
            "qdisc add dev %s clsact" % lane,
            "filter add dev %s ingress matchall action mirred egress redirect "
            "dev shake" % lane)))

    def each(self, *words):
        for netns in NETNS:
            run("ip", "-n", netns, *words)

    def address(self, device, lane=0):
        if self.gso:
            self.each("link", "set", device, "gso_max_size", str(self.gso))
        for end, netns in enumerate(NETNS):
            run("ip", "-n", netns, "address", "add",
                address(end, lane) + "/24", "dev", device)

    def lanes(self):
        return ["p%d" % lane for lane in range(len(self.rates))]

    # The ways.

    def plain(self):
        self.each("link", "set", "p0", "up")
        self.address("p0")

    def bond(self):
        self.each(*"link add bond0 type bond mode balance-rr miimon 100".split())
        for lane in self.lanes():
            self.each("link", "set", lane, "down", "master", "bond0")
        self.each("link", "set", "bond0", "up")
        self.address("bond0")

    def team(self):
        self.each(*"link add team0 type team".split())
        for netns in NETNS:
            netlink = Netlink(netns, "team")
            self.netlinks.append(netlink)
            # What nobody listens to is an error.
            netlink.join("change_event")
            link = json.loads(run("ip", "-n", netns, "-j", "link", "show",
                                  "team0"))[0]
            netlink.set(1, u32(1, link["ifindex"]), nest(2, nest(
                1, text(1, "mode"), u8(3, 5), text(4, "roundrobin"))))
        for lane in self.lanes():
            self.each("link", "set", lane, "down", "master", "team0")
        self.each("link", "set", "team0", "up")
        self.address("team0")

    def mptcp(self):
        """The server tells the client of its address on each other lane."""
        for number, lane in enumerate(self.lanes()):
            self.each("link", "set", lane, "up")
            self.address(lane, number)
            if number:
                run("ip", "-n", NETNS[1], "mptcp", "endpoint", "add",
                    address(1, number), "dev", lane, "signal")
        limits = ("mptcp", "limits", "set", "subflows",
                  str(len(self.rates)), "add_addr_accepted",
                  str(len(self.rates)))
        self.each(*limits)

    def lace(self):
        self.each("link", "add", "lace0", "type", "lace")
        for lane in self.lanes():
            self.each("link", "set", lane, "master", "lace0", "up")
        self.each("link", "set", "lace0", "up")
        self.address("lace0")
        ports = range(len(self.rates))
        for end, netns in enumerate(NETNS):
            netlink = Netlink(netns)
            self.netlinks.append(netlink)
            netlink.set(DEV_SET, dev(), u16(3, end))
            for other in range(2):
                netlink.set(NODE_SET, dev(), u16(3, other),
                            prefix(address(other)),
                            *[node_port(p, mac(other, p)) for p in ports])
            netlink.set(SEGMENT_SET, dev(), u32(3, 0), *[
                circuit(p, d, 1 - end, p) for p in ports for d in (TX, RX)])
            netlink.set(SEGMENT_ACTIVATE, dev(), u32(3, 0))

    def lace_small(self):
        """In pieces of at most 64 KiB, as the others have them."""
        self.lace()
        self.each("link", "set", "lace0", "gso_max_size", "65536")

    def steer(self, policy):
        self.lace()
        for netns in NETNS:
            run("lacectl", "-n", netns, "steer", "set", policy)

    # What is measured.

    def sent(self):
        """Bytes that each lane has carried."""
        fields = {l.split(":")[0].strip(): l.split(":")[1].split()
                  for l in read(NETNS[0], "dev").splitlines()[2:]}
        return [int(fields[lane][8]) for lane in self.lanes()]

    def dropped(self):
        """Packets that queues and the processor have dropped."""
        queues = json.loads(run("tc", "-n", NETNS[0], "-s", "-j", "qdisc"))
        with open("/proc/net/softnet_stat", encoding="ascii") as file:
            backlog = sum(int(l.split()[1], 16) for l in file)
        return sum(q["drops"] for q in queues) + backlog

    def reordered(self):
        """What the receiver's lace0 has counted, if there is one."""
        if "lace0:" not in read(NETNS[1], "dev"):
            return {}
        stats = self.netlinks[1].get(DEV_GET, dev())["stats"]
        return {k: v for k, v in stats.items() if v}


def read(netns, name):
    """A file of /proc/net."""
    with inside(netns), open("/proc/thread-self/net/" + name,
                             encoding="ascii") as file:
        return file.read()


def counters(netns):
    """{(group, name): value} of a namespace."""
    lines = [l.split() for n in ("netstat", "snmp")
             for l in read(netns, n).splitlines()]
    return {(names[0][:-1], k): int(v)
            for names, values in zip(lines[::2], lines[1::2])
            for k, v in zip(names[1:], values[1:])}


def busy_seconds():
    """How long the processors have worked."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(t) for t in file.readline().split()[1:]]
    return (sum(times[:8]) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


# The two ends, each a process: a new interpreter would take longer to start
# than the transfer.

def in_child(netns, function, *arguments):
    """Process number of a child that runs the function in a namespace."""
    child = os.fork()
    if not child:
        status = 1
        try:
            with inside(netns):
                function(*arguments)
            status = 0
        finally:
            os._exit(status)
    return child


def sink(server, connections, seconds, output):
    """Writes what came in after the warm-up, and how busy processors were."""
    buffer = bytearray(CHUNK)
    counts = {}
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        peer = server.accept()[0]
        peer.setblocking(False)
        counts[peer] = 0
        selector.register(peer, selectors.EVENT_READ)

    def take(until):
        while time.monotonic() < until:
            for key, _ in selector.select(until - time.monotonic()):
                got = key.fileobj.recv_into(buffer)
                counts[key.fileobj] += got
                if not got:
                    raise EOFError("the source ended first")

    take(time.monotonic() + WARM_UP)
    start, busy, before = time.monotonic(), busy_seconds(), dict(counts)
    take(start + seconds)
    took, busy = time.monotonic() - start, busy_seconds() - busy
    os.write(output, json.dumps({"seconds": took, "busy": busy, "bytes": [
        counts[peer] - before[peer] for peer in counts]}).encode())


def source(kind, connections):
    """Sends until the other end has had enough."""
    data = bytes(CHUNK)
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        peer = socket.socket(socket.AF_INET, socket.SOCK_STREAM, kind)
        peer.connect((address(1), PORT))
        peer.setblocking(False)
        selector.register(peer, selectors.EVENT_WRITE)
    try:
        while True:
            for key, _ in selector.select():
                key.fileobj.send(data)
    except (ConnectionResetError, BrokenPipeError):
        pass


def transfer(pair, way, connections, seconds):
    kind = 262 if way == MPTCP else socket.IPPROTO_TCP
    with inside(NETNS[1]):
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, kind)
    server.bind(("", PORT))
    server.listen(64)
    before = [counters(n) for n in NETNS]
    lanes, dropped = pair.sent(), pair.dropped()
    reader, writer = os.pipe()
    receiver = in_child(NETNS[1], sink, server, connections, seconds, writer)
    sender = in_child(NETNS[0], source, kind, connections)
    os.close(writer)
    server.close()
    os.waitpid(receiver, 0)
    os.kill(sender, signal.SIGKILL)
    os.waitpid(sender, 0)
    with open(reader, encoding="ascii") as file:
        found = json.loads(file.read())
    lanes = [b - a for a, b in zip(lanes, pair.sent())]
    after = [counters(n) for n in NETNS]

    def counted(end, group, name):
        return after[end].get((group, name), 0) - \
            before[end].get((group, name), 0)
    total = sum(found["bytes"])
    return {"mbps": round(total * 8 / found["seconds"] / 1e6, 2),
            "retransmits": counted(0, "Tcp", "RetransSegs"),
            "out_of_order": counted(1, "TcpExt", "TCPOFOQueue"),
            "mptcp_out_of_order": counted(1, "MPTcpExt", "OFOQueue"),
            "cpu_ns_per_byte": round(found["busy"] * 1e9 / total, 2),
            "lane_bytes": lanes, "dropped": pair.dropped() - dropped,
            **pair.reordered()}


def measure(scenario, way, connections, options):
    parts, jitter = SCENARIOS[scenario]
    if way == ONE:
        parts, jitter = parts[:1], 0
    gso = max(int(options.rate * 1e6 / 8 * GSO_S), LEAST_GSO) \
        if parts[0] else 0
    with Pair([options.rate * p for p in parts], jitter, gso) as pair:
        {ONE: pair.plain, LACE: pair.lace, BOND: pair.bond, TEAM: pair.team,
         MPTCP: pair.mptcp, SPREAD: lambda: pair.steer("spread"),
         PIN: lambda: pair.steer("pin"), SMALL: pair.lace_small}[way]()
        poll(lambda: succeeds("ping", "-c", "1", "-W", "1", address(1),
                              netns=NETNS[0]), "ping", 30)
        result = transfer(pair, way, connections, options.seconds)
    result.update(scenario=scenario, way=way, lanes=len(parts),
                  connections=connections)
    print(result, file=sys.stderr, flush=True)
    return result


def wanted(options):
    """(scenario, way, connections) in the order in which they are run."""
    for scenario, connections in itertools.product(
            options.scenarios, options.connections):
        for way in [ONE] + [w for w in options.ways if w != ONE]:
            if way == PIN and (connections == 1 or scenario == "unlimited"):
                continue
            if way == SMALL and scenario != "unlimited":
                continue	# the pieces of a slow lane are smaller anyway
            if way in options.missing:
                continue
            yield scenario, way, connections


def off_share(one):
    """How far a lane's bytes are from its part of the sum: of lanes alike, from
    the mean.
    """
    parts = SCENARIOS[one["scenario"]][0]
    whole = sum(one["lane_bytes"]) / sum(parts)
    return max(abs(b / (whole * part) - 1)
               for b, part in zip(one["lane_bytes"], parts))


def judge(results):
    """What is asked for, as (what, measured, bound, whether it holds)."""
    by_key = {(r["scenario"], r["way"], r["connections"]): r for r in results}

    def at_least(what, value, bound):
        verdicts.append((what, round(value, 3), ">= %g" % bound,
                         value >= bound))
    verdicts = []
    for (scenario, way, connections), one in by_key.items():
        what = "%s, %s, %d connections: " % (scenario, way, connections)
        bond = by_key.get((scenario, BOND, connections))
        if way == PIN:
            off = off_share(one)
            verdicts.append((what + "a lane is off its share by",
                             round(off, 3), "<= 0.05", off <= 0.05))
        if way not in (LACE, SPREAD) or connections > 1:
            continue
        if scenario == "unlimited":
            at_least(what + "of plain veth", one["ratio"],
                     0.95 if way == LACE else 0.92)
            if bond and way == LACE:
                at_least(what + "of balance-rr", one["mbps"] / bond["mbps"], 1)
            continue
        equal = scenario in ("two", "four")
        at_least(what + "of the sum", one["ratio"], 0.97 if equal else 0.9)
        if bond and equal:
            verdicts.append((what + "sent again", one["retransmits"],
                             "<= %g" % (bond["retransmits"] / 100),
                             one["retransmits"] <= bond["retransmits"] / 100))
    return verdicts


def add_ratios(results):
    """Beside one lane: times the sum of the rates."""
    alone = {(r["scenario"], r["connections"]): r["mbps"] for r in results
             if r["way"] == ONE}
    for one in results:
        parts = SCENARIOS[one["scenario"]][0]
        whole = 1 if one["way"] == ONE or not parts[0] else sum(parts)
        one["ratio"] = round(
            one["mbps"] / whole / alone[one["scenario"], one["connections"]],
            3)


def print_rows(head, rows):
    rows = [head] + [[str(c) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
    rule = "  ".join("=" * w for w in widths)
    for row in (rule, rows[0], rule, *rows[1:], rule):
        print(row if row is rule else "  ".join(
            c.ljust(w) for c, w in zip(row, widths)).rstrip())


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--connections", default="1,8")
    options = parser.parse_args()
    options.scenarios = options.scenarios.split(",")
    options.ways = options.ways.split(",")
    options.connections = [int(c) for c in options.connections.split(",")]
    unknown = [s for s in options.scenarios if s not in SCENARIOS] + \
        [w for w in options.ways if w not in WAYS]
    if unknown:
        parser.error("no scenario or way: " + ", ".join(unknown))
    return options


def main():
    options = parse()
    run("modprobe", "-a", "lace", "veth", "bonding", "ifb")
    options.missing = [] if succeeds("modprobe", "team_mode_roundrobin") \
        else [TEAM]
    if not os.path.exists("/proc/sys/net/mptcp/enabled"):
        options.missing.append(MPTCP)
    results = [measure(*one, options) for one in wanted(options)]
    add_ratios(results)
    verdicts = judge(results)
    if options.json:
        print(json.dumps({
            "rate_mbps": options.rate, "seconds": options.seconds,
            "kernel": os.uname().release, "runs": results, "targets": [
                dict(zip(("what", "measured", "bound", "holds"), v))
                for v in verdicts]}))
    else:
        names = ("scenario", "connections", "way", "mbps", "ratio",
                 "retransmits", "out_of_order", "cpu_ns_per_byte")
        print_rows(("scenario", "connections", "way", "Mb/s", "ratio",
                    "sent again", "out of order", "CPU ns/byte"),
                   [[r[n] for n in names] for r in results])
        print_rows(("what", "measured", "asked", "holds"), verdicts)
    return 0 if all(v[-1] for v in verdicts) else 1


sys.exit(main())
