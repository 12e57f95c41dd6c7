#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Transitions of a whole lab under traffic: every byte of every connection
arrives, with and without draining, and requests that make no sense are refused.

timeout: 900
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import expect, main  # noqa: E402
from lib_lab import lacectl  # noqa: E402
from lib_stream import TransitionLab, finish  # noqa: E402

COUNT = 20
LAB = TransitionLab("x")


def segments():
    return {json.loads(lacectl("-j", "-n", LAB.netns(n), "device"))[0]
            ["segment"] for n in range(3)}


def crosses():
    return lacectl("ocs", "show", LAB.name)


def under_traffic():
    """Transitions under traffic lose nothing and break nothing."""
    lacectl("plan", "apply", LAB.write_plan(LAB.both()), "--lab", LAB.name)
    streams = LAB.streams()
    try:
        for index in range(COUNT):
            done = LAB.go(1 - index % 2)
            expect(done["done"] and not any(
                n["faults"] for n in done["nodes"].values()), done)
            expect(all(n["ports"] == [1] for n in done["nodes"].values()),
                   done)
            expect(segments() == {1 - index % 2}, segments())
    finally:
        bad, broken = finish(streams)
    expect((bad, broken) == (0, 0), (bad, broken))


def calibrated():
    """Calibration finds as much time as the transitions took, by each node's
    account at least, and no more than lacectl saw.
    """
    streams = LAB.streams()
    try:
        done = [LAB.go(1 - index % 2) for index in range(COUNT)]
        found = json.loads(lacectl("-j", "calibrate", "lab", LAB.name,
                                   "seconds", "3"))
    finally:
        finish(streams)
    least = sum(max(n["total_ns"] for n in d["nodes"].values())
                for d in done) / 1e9 / COUNT
    most = sum(d["total_s"] for d in done) / COUNT
    # It also remembers those before, which were not slower by an order.
    expect(found["transitions"] >= COUNT and
           least / 4 < found["reconfig_s"] < 4 * most,
           (found, least, most))


def without_drain():
    """Without draining TCP makes up for what is lost."""
    streams = LAB.streams()
    try:
        for index in range(4):
            expect(LAB.go(1 - index % 2, "--no-drain")["done"], index)
    finally:
        bad, broken = finish(streams)
    expect((bad, broken) == (0, 0), (bad, broken))


def unchanged():
    """To the segment that is in force nothing happens."""
    before = crosses()
    done = LAB.go(0)
    expect(done["done"] and not done["nodes"] and crosses() == before, done)


def refused():
    """What makes no sense is refused, and nothing happens."""
    before = crosses()
    for status, words, *arguments in (
            (2, "no segment 2", "--segment", "2", "--transition"),
            (2, "--segment K", "--transition"),
            (2, "take \"--transition\"", "--segment", "1", "--no-drain")):
        said = lacectl("plan", "apply", LAB.path("plan.json"), "--lab",
                       LAB.name, *arguments, status=status)
        expect(words in said, said)
    other = LAB.write_plan([LAB.segment(LAB.ring(0, 1), False)] * 2,
                           "other.json")
    said = lacectl("plan", "apply", other, "--lab", LAB.name, "--segment",
                   "1", "--transition", status=1)
    expect("another plan is in force" in said, said)
    expect(crosses() == before and segments() == {0}, crosses())


try:
    LAB.up("rate", "20M", "switch-time", "20ms")
    main(under_traffic, without_drain, unchanged, refused)
finally:
    LAB.down()
