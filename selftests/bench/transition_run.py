# SPDX-License-Identifier: GPL-2.0
"""What selftests/bench/transition does in the virtual machine: three nodes with
two ports around an emulated OCS, six TCP streams as fast as they go, and
transitions between two segments that share the lanes of port 0. Prints JSON,
or a table with more.

The streams never stop, so that the lanes that stay are full with transitions and
without. Rounds of transitions, one after the other, alternate with times
without; these are spent in either segment alike, from a moment after it was
entered on. kept_lane_ratio is the bytes per second that the lanes that stay sent
in all rounds over those that they sent in all times between.

A transition takes as long as lacectl says: from the start of the first node until
the end of the last one has been heard of. What the OCS needs by itself is taken
off; what is added is the draining, messages to and from hooks, the commanding of
the OCS, probes, and waiting for a processor.
"""

import argparse
import json
import os
import statistics
import sys
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(TOP, "selftests/net"))
sys.dont_write_bytecode = True
os.environ["PATH"] = os.path.join(TOP, "build/tools") + ":" + \
    os.environ["PATH"]
from lib_lab import lacectl  # noqa: E402
from lib_stream import TransitionLab, finish  # noqa: E402

LEAST_KEPT = 0.95
ROUND = 50		# transitions
PAUSE_S = 0.05		# between two of them
SETTLE_S = 0.5		# until throughput without transitions is measured
QUIET_S = 1.5		# for so long, in each segment


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Rate:
    """Bytes that the lanes that stay sent in some times."""

    def __init__(self, lab):
        self.lab = lab
        self.bytes = self.seconds = 0

    def __enter__(self):
        self.seconds -= time.monotonic()
        self.bytes -= self.lab.kept_bytes()

    def __exit__(self, *_):
        self.bytes += self.lab.kept_bytes()
        self.seconds += time.monotonic()

    def per_second(self):
        return self.bytes / self.seconds


class Bench:
    def __init__(self, lab, switch_s, options):
        self.lab = lab
        self.switch_s = switch_s
        self.options = ("--no-drain",) if options.no_drain else ()
        self.segment = 0
        self.busy, self.quiet = Rate(lab), Rate(lab)
        self.added, self.phases, self.with_faults = [], {}, 0
        self.slowest = {"total_s": 0}

    def go(self):
        self.segment = 1 - self.segment
        return self.lab.go(self.segment, *self.options)

    def transition(self):
        done = self.go()
        self.added.append(1e3 * (done["total_s"] - self.switch_s))
        self.slowest = max(self.slowest, done, key=lambda d: d["total_s"])
        self.with_faults += any(n["faults"] for n in done["nodes"].values())
        for node in done["nodes"].values():
            for phase, ns in node["times_ns"].items():
                self.phases.setdefault(phase, []).append(ns / 1e6)
        time.sleep(PAUSE_S)

    def without(self):
        """In each segment, beginning and ending with that in force."""
        for _ in range(2):
            time.sleep(SETTLE_S)
            with self.quiet:
                time.sleep(QUIET_S)
            self.go()

    def run(self, count):
        self.without()
        while count:
            number = min(count, ROUND)
            with self.busy:
                for _ in range(number):
                    self.transition()
            count -= number
            self.without()

    def result(self, bad, resets):
        """What is asked for, and nothing else."""
        return {"transitions": len(self.added), "bad_bytes": bad,
                "resets": resets,
                "kept_lane_ratio": round(self.busy.per_second() /
                                         self.quiet.per_second(), 4),
                "added_ms_p50": round(statistics.median(self.added), 3),
                "added_ms_p99": round(percentile(self.added, 0.99), 3)}

    def print_more(self, rate_bps, file):
        for name, rate in (("with", self.busy), ("without", self.quiet)):
            print("lanes that stay, %s transitions: %.4f of their rate, for "
                  "%.1f s" % (name, 8 * rate.per_second() / (3 * rate_bps),
                              rate.seconds), file=file)
        print("transitions of which a node reported a fault: %d" %
              self.with_faults, file=file)
        for phase, values in self.phases.items():
            print("%-8s %8.3f ms (median) %8.3f ms (99 %%)" % (
                phase, statistics.median(values), percentile(values, 0.99)),
                  file=file)
        print("the slowest one, %.3f ms:" % (1e3 * self.slowest["total_s"]),
              file=file)
        for name, node in self.slowest["nodes"].items():
            print("%-8s" % name, *("%s %.3f" % (p, ns / 1e6)
                                   for p, ns in node["times_ns"].items()),
                  file=file)


def measure(lab, options):
    shown = json.loads(lacectl("-j", "lab", "show", lab.name))
    lacectl("plan", "apply", lab.write_plan(lab.both()), "--lab", lab.name)
    bench = Bench(lab, shown["switch_s"], options)
    streams = lab.streams(along=2)
    try:
        time.sleep(2)
        bench.run(options.count)
    finally:
        ended = finish(streams)
    result = bench.result(*ended)
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print("%-16s %s" % (key, value))
    bench.print_more(shown["nodes"][0]["ports"][0]["rate_bps"],
                     sys.stderr if options.json else sys.stdout)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-drain", action="store_true")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rate", default="20M")
    parser.add_argument("--switch-time", default="20ms")
    options = parser.parse_args()
    lab = TransitionLab("bench")
    try:
        lab.up("rate", options.rate, "switch-time", options.switch_time)
        result = measure(lab, options)
    finally:
        lab.down()
    sys.exit(0 if not result["bad_bytes"] and not result["resets"] and
             result["kept_lane_ratio"] >= LEAST_KEPT else 1)


main()
