# SPDX-License-Identifier: GPL-2.0
"""For tests that use a lab as its users do: cluster file, plan, lacectl."""

import hashlib
import json
import os
import subprocess
import tempfile

from lib_kmod import expect, run


def lacectl(*words, status=0):
    """Standard output, or of a failure what it said."""
    done = subprocess.run(("lacectl",) + words, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL)
    expect(done.returncode == status, "lacectl %s: status %d, not %d\n%s" % (
        " ".join(words), done.returncode, status, done.stderr))
    return done.stdout if status == 0 else done.stderr


class Lab:
    """A lab of nodes n0, n1, ... with ports lane0, lane1, ...

    lanes: per node a list of (tx, rx) for its ports, each [OCS, number] or
    None.
    """

    def __init__(self, name, lanes, rate_bps=50000000):
        self.name = name
        ocs = {}
        for fibre in (f for ports in lanes for port in ports for f in port):
            if fibre:
                ocs[fibre[0]] = max(fibre[1], ocs.get(fibre[0], 1))
        self.cluster = {
            "format": "lace-cluster/1", "name": name, "reconfig_s": 0.01,
            "control_ratio": 0.01, "relay": "data",
            "ocs": [{"name": o, "inputs": n, "outputs": n}
                    for o, n in sorted(ocs.items())],
            "nodes": [{"name": "n%d" % n, "address": "10.77.0.%d" % (n + 1),
                       "ports": [{"name": "lane%d" % p, "rate_bps": rate_bps,
                                  "tx": tx, "rx": rx}
                                 for p, (tx, rx) in enumerate(ports)]}
                      for n, ports in enumerate(lanes)]}
        self.folder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            json.dump(content, file)
        return path

    def netns(self, node):
        return "%s-n%d" % (self.name, node)

    def up(self, *words):
        run("modprobe", "lace")
        lacectl("lab", "up", self.write("cluster.json", self.cluster), *words)

    def down(self):
        lacectl("lab", "down", self.name)

    def write_plan(self, segments, name="plan.json", cluster=None):
        """A plan file of these segments; cluster: file that it is for."""
        with open(cluster or self.path("cluster.json"), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        return self.write(name, {
            "format": "lace-plan/1", "scheduler": "by hand",
            "cluster_sha256": digest, "schedule_sha256": "0" * 64,
            "cct_s": len(segments), "transmit_s": len(segments),
            "reconfig_s": 0, "bound_s": 0,
            "segments": [{**one, "first_op": i, "last_op": i}
                         for i, one in enumerate(segments)]})

    def apply(self, circuits, routes=()):
        plan = self.write_plan([{"transmit_s": 1,
                                 "circuits": [list(c) for c in circuits],
                                 "routes": [list(r) for r in routes]}])
        lacectl("plan", "apply", plan, "--lab", self.name)

    def run(self, node, *command, **more):
        return run(*command, netns=self.netns(node), **more)

    def pings(self, source, target, *options):
        """Whether three packets get there and back."""
        return " 0% packet loss" in self.run(
            source, "ping", "-c", "3", "-i", "0.2", "-W", "2", *options,
            target, check=False)

    def lanes(self, node):
        return json.loads(lacectl("-j", "-s", "-n", self.netns(node), "lane",
                                  "show"))

    def lane(self, node, port, direction):
        return [x for x in self.lanes(node) if x["port"] == port and
                x["dir"] == direction][0]["stats"]

    def ocs_counts(self):
        """{(OCS, input): counters}"""
        units = json.loads(lacectl("-j", "-s", "ocs", "show", self.name))
        return {(unit["ocs"], c["input"]): c for unit in units
                for c in unit["counters"]}

    def iperf(self, *flows, seconds=4):
        """Payload rates of flows (source, target, address, options...)."""
        processes = []
        for number, flow in enumerate(flows):
            self.run(flow[1], "iperf3", "-s", "-1", "-D", "-p",
                     str(5300 + number))
        for number, (source, _, address, *options) in enumerate(flows):
            processes.append(subprocess.Popen(
                ("ip", "netns", "exec", self.netns(source), "iperf3", "-J",
                 "-c", address, "-p", str(5300 + number), "-t", str(seconds),
                 "-O", "1", *options), stdout=subprocess.PIPE, text=True))
        ends = [json.loads(p.communicate()[0]) for p in processes]
        for end in ends:
            expect("error" not in end, end.get("error"))
        return [e["end"]["sum_received"]["bits_per_second"]
                if "sum_received" in e["end"] else
                e["end"]["sum"]["bits_per_second"] for e in ends]
