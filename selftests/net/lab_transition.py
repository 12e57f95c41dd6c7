#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Transitions of a whole lab under traffic: every byte of every connection
arrives, with and without draining; an OCS that does not do what it says is found
out, and all nodes do as they were told in that case; requests that make no sense
are refused.

timeout: 900
"""

import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import (SWITCH, TRANSITION_GET, Netlink, dev, expect,  # noqa: E402
                      main, poll)
from lib_lab import lacectl  # noqa: E402
from lib_stream import TransitionLab, finish  # noqa: E402

COUNT = 8
RATE = 10000000
LAB = TransitionLab("x")
# Where the lane n0/1 leads to in segment 1.
END = (2, 1)
WRONG = "lane n0/1 reaches n1/1, plan says n2/1"


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


def misled(output, *options, until=None):
    """A transition to segment 1 with an OCS that misleads the lane n0/1.
    until: when to put it right; at the end if it is not given.
    (status, JSON, what was said, devices)
    """
    LAB.go(0)
    streams = LAB.streams()
    LAB.mislead((0, 1), [END], output)
    try:
        with subprocess.Popen(
                ("lacectl", "-j", "plan", "apply", LAB.path("plan.json"),
                 "--lab", LAB.name, "--segment", "1", "--transition",
                 *options), text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
            if until:
                poll(until, "the moment to put it right")
                LAB.put_right([END])
            printed, said = process.communicate()
        after = [LAB.device(n) for n in range(3)]
        if not until:
            LAB.put_right([END])
        poll(lambda: not any(LAB.device(n)["closed"] for n in range(3)),
             "lanes that open by themselves once it is put right")
    finally:
        bad, broken = finish(streams)
    expect((bad, broken) == (0, 0), (bad, broken))
    return process.returncode, json.loads(printed), said, after


def words(result):
    return [w for n in result["nodes"].values() for w in n["words"]]


def results(result):
    return [n["result"] for n in result["nodes"].values()]


def state(after):
    """(segment, closed lanes) of each node"""
    return [(d["segment"], d["closed"]) for d in after]


def rolled_back():
    """A circuit that was not switched is named, and the whole lab goes back: all
    lanes of the old segment are open.
    """
    status, result, said, after = misled((1, 1))
    expect(status == 1 and not result["done"] and WRONG in words(result),
           (status, result))
    expect("was rolled back: " + WRONG in said, said)
    expect(state(after) == [(0, [])] * 3, after)
    expect(results(result)[0] == "rolled_back", result)


def degraded():
    """Told to go on without it, all nodes do, and that lane stays closed until it
    is put right.
    """
    status, result, said, after = misled((1, 1), "--on-failure", "degrade")
    expect(status == 1 and not result["done"] and WRONG in words(result),
           (status, result))
    expect("some lanes stay closed: " + WRONG in said, said)
    # Others may have closed a lane since whose answers came over that one.
    expect(state(after)[0] == (1, [1]) and
           {segment for segment, _ in state(after)} == {1}, after)
    expect(results(result) == ["degraded", "done", "done"], result)


def retried():
    """An OCS that does it at a later attempt."""
    def again():
        return json.loads(lacectl("-j", "-n", LAB.netns(0), "transition",
                                  "show", "dev", "lace0"))["attempt"] > 1

    status, result, _, after = misled((1, 1), "--retries", "5", until=again)
    expect(status == 0 and result["done"] and WRONG in words(result) and
           result["nodes"]["n0"]["attempt"] > 1, (status, result))
    expect(state(after) == [(1, [])] * 3, after)


def kept_rate(seconds):
    """Of the lanes that stay, as a share of what they can."""
    before, begin = LAB.kept_bytes(), time.monotonic()
    time.sleep(seconds)
    return 8 * (LAB.kept_bytes() - before) / (
        time.monotonic() - begin) / (3 * RATE)


def is_switching():
    with Netlink(LAB.netns(0)) as netlink:
        return netlink.get(TRANSITION_GET, dev())["phase"] == SWITCH


def rate_while_switching():
    """Of the lanes that stay, and whether the switch moved all the while."""
    thread = threading.Thread(target=LAB.go, args=(0,))
    thread.start()
    poll(is_switching, "the switch moves")
    time.sleep(0.3)
    rate = kept_rate(0.7)
    still = is_switching()
    thread.join()
    return rate, still


def acknowledged():
    """Lanes that stay carry on while the only way of the acknowledgments for what
    they carry changes: these take the way that the other segment has for them.
    """
    LAB.down()
    LAB.up("rate", str(RATE), "switch-time", "4s")
    lacectl("plan", "apply", LAB.write_plan(LAB.both()), "--lab", LAB.name)
    LAB.go(1)
    streams = LAB.streams()
    still = False
    try:
        poll(lambda: kept_rate(0.5) > 0.2, "lanes that carry")
        before = kept_rate(2)
        for _ in range(3):	# a busy machine may look too late, or stall
            rate, still = rate_while_switching()
            if still and rate > before / 2:
                break
            LAB.go(1)
    finally:
        ended = finish(streams)
    # Without acknowledgments a window is all that they carry.
    expect(still and rate > before / 2, (still, rate, before))
    expect(ended == (0, 0), ended)


def unchanged():
    """To the segment that is in force nothing happens."""
    LAB.go(0)
    before = crosses()
    done = LAB.go(0)
    expect(done["done"] and not done["nodes"] and crosses() == before, done)


def refused():
    """What makes no sense is refused, and nothing happens."""
    LAB.go(0)
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
    LAB.up("rate", str(RATE), "switch-time", "20ms")
    main(under_traffic, calibrated, without_drain, rolled_back,
         degraded, retried, unchanged, refused, acknowledged)
finally:
    LAB.down()
