# SPDX-License-Identifier: GPL-2.0
"""What selftests/bench/transition does in the virtual machine: three nodes with
two ports around an emulated OCS, six TCP streams as fast as they go, and
transitions between two segments that share the lanes of port 0. Prints JSON.
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
QUIET_S = 10		# how long throughput without transitions is measured
PAUSE_S = 0.05		# between two transitions


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def quiet_rate(lab):
    """Of the lanes that stay, without transitions: the mean over both
    segments."""
    rates = []
    for segment in (1, 0):
        lab.go(segment)
        time.sleep(2)
        rates.append(lab.kept_rate(QUIET_S))
    return statistics.mean(rates)


def measure(lab, count, *options):
    """One kind of transition, under load."""
    streams = lab.streams()
    added, failed, by_phase = [], 0, {}
    try:
        time.sleep(2)
        quiet = quiet_rate(lab)
        begin, before = time.monotonic(), lab.kept_bytes()
        for index in range(count):
            done = lab.go(1 - index % 2, *options)
            failed += any(n["faults"] for n in done["nodes"].values())
            added.append(1e3 * (done["total_s"] - lab.switch_s))
            for node in done["nodes"].values():
                for phase, ns in node["times_ns"].items():
                    by_phase.setdefault(phase, []).append(ns / 1e6)
            time.sleep(PAUSE_S)
        rate = (lab.kept_bytes() - before) / (time.monotonic() - begin)
        if count % 2:
            lab.go(0)
    finally:
        bad, resets = finish(streams)
    return {"transitions": count, "bad_bytes": bad, "resets": resets,
            "with_faults": failed, "kept_lane_ratio": round(rate / quiet, 4),
            "added_ms_p50": round(statistics.median(added), 3),
            "added_ms_p99": round(percentile(added, 0.99), 3),
            "phase_ms_p50": {p: round(statistics.median(v), 3)
                             for p, v in by_phase.items()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rate", default="20M")
    parser.add_argument("--switch-time", default="20ms")
    options = parser.parse_args()
    lab = TransitionLab("bench")
    try:
        lab.up("rate", options.rate, "switch-time", options.switch_time)
        lab.switch_s = json.loads(lacectl("-j", "lab", "show",
                                          lab.name))["switch_s"]
        lacectl("plan", "apply", lab.write_plan(lab.both()), "--lab", lab.name)
        result = measure(lab, options.count)
        result["no_drain"] = measure(lab, options.count, "--no-drain")
    finally:
        lab.down()
    both = (result, result["no_drain"])
    if options.json:
        print(json.dumps(result))
    else:
        for name, one in zip(("drained", "not drained"), both):
            print("%-12s %5d transitions, %d bad bytes, %d resets, kept lanes "
                  "%.3f, added %.3f ms (median) %.3f ms (99 %%)" % (
                      name, one["transitions"], one["bad_bytes"],
                      one["resets"], one["kept_lane_ratio"],
                      one["added_ms_p50"], one["added_ms_p99"]))
    sound = all(not one["bad_bytes"] and not one["resets"] for one in both)
    sys.exit(0 if sound and result["kept_lane_ratio"] >= LEAST_KEPT else 1)


main()
