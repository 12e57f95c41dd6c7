#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Hold what lace-replay measured against the plans, and the plans against each
other.

usage: table.py [--json] [--within PERCENT] [--speedup X] RESULT RESULT

The RESULTs are what `lace-replay --json' printed for two plans for the same
files; the second is the one to be faster. Exit status 1 if any byte was wrong,
a time is further than PERCENT from the predicted one, or the speedup is
below X.
"""

import argparse
import json
import sys

WRONG = ("bad_bytes", "extra_bytes")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def lane_rows(results):
    """One row for each lane: its name, then planned and measured MB by plan."""
    rows = {}
    for index, result in enumerate(results):
        for lane in result["lanes"]:
            row = rows.setdefault((lane["node"], lane["port"]), [None] * 2)
            row[index] = lane
    return sorted(rows.items())


def cell(lane):
    if lane is None:
        return "%-10s %11s %11s %6s" % ("-", "", "", "")
    planned, measured = lane["planned_bytes"], lane["measured_bytes"]
    return "%-10s %11.3f %11.3f %6s" % (
        lane["peer"] or "(several)", planned / 1e6, measured / 1e6,
        "%.3f" % (measured / planned) if planned else "")


def print_table(results):
    base = results[0]["measured_s"]
    print("%-12s %12s %12s %9s %9s %14s" % (
        "plan", "predicted s", "measured s", "off by", "speedup", "bad bytes"))
    for result in results:
        print("%-12s %12.3f %12.3f %8.1f%% %8.3fx %14d" % (
            result["scheduler"], result["predicted_s"], result["measured_s"],
            100 * (result["measured_s"] / result["predicted_s"] - 1),
            base / result["measured_s"],
            sum(result[key] for key in WRONG)))
    print("\n%-16s %-41s %s" % ("bytes by lane", "  " +
                                results[0]["scheduler"],
                                "  " + results[1]["scheduler"]))
    head = "%-10s %11s %11s %6s" % ("to", "planned MB", "measured MB", "ratio")
    print("%-16s %s   %s" % ("", head, head))
    for (node, port), lanes in lane_rows(results):
        print("%-16s %s   %s" % (node + " " + port, cell(lanes[0]),
                                 cell(lanes[1])))


def summary(results):
    base, best = results
    values = {}
    for result in results:
        values[result["scheduler"] + "_s"] = result["measured_s"]
    values["speedup"] = base["measured_s"] / best["measured_s"]
    for result in results:
        values[result["scheduler"] + "_predicted_s"] = result["predicted_s"]
    values["bad_bytes"] = sum(r[key] for r in results for key in WRONG)
    return values


def complaints(results, options):
    base, best = results
    for result in results:
        name = result["scheduler"]
        if any(result[key] for key in WRONG):
            yield "%s: bytes arrived that were not sent" % name
        off = 100 * abs(result["measured_s"] / result["predicted_s"] - 1)
        if options.within is not None and off > options.within:
            yield "%s: %.1f %% off the predicted time, %g allowed" % (
                name, off, options.within)
    speedup = base["measured_s"] / best["measured_s"]
    if options.speedup is not None and speedup < options.speedup:
        yield "a speedup of %.3f is below %g" % (speedup, options.speedup)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--within", type=float)
    parser.add_argument("--speedup", type=float)
    parser.add_argument("results", nargs=2)
    options = parser.parse_args()
    results = [read(path) for path in options.results]
    if options.json:
        print(json.dumps(summary(results)))
    else:
        print_table(results)
    wrong = list(complaints(results, options))
    for line in wrong:
        sys.stderr.write("table: %s\n" % line)
    return 1 if wrong else 0


sys.exit(main())
