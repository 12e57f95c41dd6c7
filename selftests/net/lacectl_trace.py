#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""lacectl trace and top: what the trace programs count is what lanes count, and
stock tools read it.

    t-n0: lace0 = lane0 ====> lane0 = lace0 :t-n1
                  lane1 ====> lane1
    and back the same way, 50 Mb/s each.

timeout: 600
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import expect, main, poll, run  # noqa: E402
from lib_lab import Lab, lacectl  # noqa: E402

LAB = Lab("t", [[(["ocs0", 2 * n + p + 1], ["ocs0", 2 * n + p + 1])
                 for p in range(2)] for n in range(2)])
ROOT = "/sys/fs/bpf/lace/"
PINS = ROOT + "v1"
PEER = "10.77.0.2"
MAPS = ("lace_layout", "lace_devices", "lace_rates", "lace_lane_usage",
        "lace_hist", "lace_drops", "lace_events", "lace_heads")
PROGRAMS = ("lace_send", "lace_receive", "lace_drop", "lace_lane_state",
            "lace_mark", "lace_ack", "lace_hold", "lace_release",
            "lace_segment", "lace_phase", "lace_phase_end", "lace_transition",
            "lace_gone")
BOTH = [(0, 0, 1, 0), (0, 1, 1, 1), (1, 0, 0, 0), (1, 1, 0, 1)]


def trace(node, *words, **more):
    return lacectl("-n", LAB.netns(node), "trace", *words, **more)


def show(node):
    return json.loads(lacectl("-j", "-n", LAB.netns(node), "trace", "show",
                              "dev", "lace0"))[0]


def fresh(*nodes):
    """Trace of these nodes, from nothing."""
    lacectl("trace", "off", "all")
    for node in nodes:
        trace(node, "on")


def dump(name):
    """A map as bpftool prints it, with names."""
    return [e["formatted"] for e in json.loads(
        run("bpftool", "-j", "map", "dump", "pinned", PINS + "/" + name))]


def inode(node):
    return os.stat("/run/netns/" + LAB.netns(node)).st_ino


def refused(words, status, node=0):
    said = trace(node, *words, status=status)
    expect(said.startswith("lacectl: ") and said.count("\n") == 1, said)
    return said


def off_at_first():
    """Nothing is there before trace is on."""
    expect(not os.path.exists(PINS), "a folder of traces")
    expect("trace is off" in refused(["show"], 1), "show")
    expect("lace0: trace is off" in refused(["show", "dev", "lace0"], 1), "dev")
    expect("trace is off" in refused(["export"], 1), "export")
    trace(0, "off")
    trace(0, "off", "all")


def pinned():
    """On pins programs and maps; bpftool shows them by name; off takes all."""
    fresh(0)
    expect({"lanes"} | set(MAPS) | {"link_" + p for p in PROGRAMS} ==
           set(os.listdir(PINS)), os.listdir(PINS))
    programs = json.loads(run("bpftool", "-j", "prog", "show"))
    names = {p["name"] for p in programs if p["type"] == "raw_tracepoint"}
    expect(names >= set(PROGRAMS), names)
    maps = {m.get("name") for m in json.loads(run("bpftool", "-j", "map"))}
    expect(maps >= set(MAPS), maps)
    trace(0, "off")
    expect(not os.path.exists(PINS), "the folder is still there")

    def gone():
        return not {p["name"] for p in json.loads(
            run("bpftool", "-j", "prog", "show"))} & set(PROGRAMS)
    poll(gone, "the programs go")


def counters():
    return {(n, p, d): LAB.lane(n, p, d) for n in range(2) for p in range(2)
            for d in ("tx", "rx")}


def usage():
    """Usage of lanes is what their counters say."""
    fresh(0, 1)
    before = counters()
    LAB.iperf((0, 1, PEER), seconds=2)
    time.sleep(0.5)
    after = counters()
    for node in range(2):
        found = {(u["port"], u["dir"]): u for u in show(node)["usage"]}
        expect(set(found) == {(p, d) for p in range(2) for d in ("tx", "rx")},
               found)
        for (port, direction), use in found.items():
            key = (node, port, direction)
            for field in ("packets", "bytes"):
                expect(use[field] == after[key][field] - before[key][field],
                       (key, field, use, before[key], after[key]))
            expect(use["peer"] == 1 - node and use["segment"] == 0, use)
            # The lab's lines are token buckets, which count frames alone.
            expect(abs(use["busy_ns"] - use["bytes"] * 8 * 20) <=
                   use["packets"], use)
    text = trace(0, "show")
    expect(re.search(r"^t-n0/lace0: traced for .*s\n  port 0 tx to node 1 "
                     r"segment 0: packets \d+ bytes \d+ busy ", text), text)


def map_dump():
    """bpftool dumps the maps with the names of their fields."""
    fresh(0)
    LAB.pings(0, PEER)
    one = [e for e in dump("lace_lane_usage")
           if e["key"]["dir"] in (0, "TRACE_TX")][0]
    expect(one["key"]["netns"] == inode(0) and one["key"]["peer"] == 1, one)
    expect(one["value"]["packets"] > 0 and one["value"]["bytes"] > 0 and
           "busy_ns" in one["value"] and "last_ns" in one["value"], one)
    device = dump("lace_devices")[0]
    expect(device["key"]["netns"] == inode(0), device)
    expect(dump("lace_layout")[0]["value"]["layout"] == 1, "layout")
    time.sleep(0.5)
    kinds = {e["key"]["kind"]: e["value"] for e in dump("lace_hist")}
    latency = kinds.get("TRACE_ACK_LATENCY_NS") or kinds.get(0)
    expect(latency["count"] > 0 and sum(latency["slots"]) == latency["count"],
           latency)
    expect("lace_lane_usage" in run("bpftool", "map", "show", "pinned",
                                    PINS + "/lace_lane_usage"), "map show")


def iterators():
    """Iterators print the lanes as a table."""
    fresh(0)
    LAB.pings(0, PEER)

    def table(path):
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
        names = lines[0].split()
        return [dict(zip(names, line.split())) for line in lines[1:]]
    lines = table(PINS + "/lanes")
    expect(any(int(line["netns"]) == inode(0) and line["dir"] == "tx" and
               line["peer"] == "1" and int(line["packets"]) > 0
               for line in lines), lines)
    own = "/sys/fs/bpf/own_lanes"
    run("bpftool", "iter", "pin", "build/ebpf/trace_iter.bpf.o", own, "map",
        "pinned", PINS + "/lace_lane_usage")
    again = table(own)
    os.unlink(own)
    expect(len(again) >= len(lines), (lines, again))


def histograms():
    """Latencies of acknowledgments and depths of reordering are found."""
    fresh(0, 1)
    acks = [n["stats"]["acks"] for n in LAB.lanes(0) if n["dir"] == "tx"]
    time.sleep(1.5)
    later = [n["stats"]["acks"] for n in LAB.lanes(0) if n["dir"] == "tx"]
    latency = show(0)["histograms"]["ack_latency_ns"]
    expect(latency["count"] >= sum(later) - sum(acks) > 0,
           (latency, acks, later))
    expect(latency["count"] == sum(s["count"] for s in latency["slots"]),
           latency)
    expect(all(s["from"] < s["below"] for s in latency["slots"]), latency)
    mean = latency["sum"] / latency["count"]
    expect(latency["slots"][0]["from"] <= mean <=
           latency["slots"][-1]["below"], latency)

    def held():
        return json.loads(lacectl("-j", "-s", "-n", LAB.netns(1), "device")
                          )[0]["stats"]["reorder_held"]
    fresh(0, 1)
    before = held()
    LAB.iperf((0, 1, PEER), seconds=2)
    time.sleep(0.5)
    depth = show(1)["histograms"].get("reorder_depth", {"count": 0})
    expect(depth["count"] == held() - before, (depth, before, held()))
    text = trace(0, "show")
    expect(re.search(r"  ack_latency_ns: \d+, mean \d+\n    from +\d+ +\d+ \|",
                     text), text)


def drops():
    """Drops are there, with the reason."""
    fresh(0)
    LAB.run(0, "ip", "route", "add", "192.0.2.0/24", "dev", "lace0")
    LAB.run(0, "ping", "-c", "1", "-W", "1", "192.0.2.1", check=False)
    LAB.run(0, "ip", "route", "del", "192.0.2.0/24")
    found = [d for d in show(0)["drops"] if d["reason"] == "tx_no_node"]
    expect(len(found) == 1 and found[0]["port"] is None and
           found[0]["packets"] >= 1, show(0)["drops"])
    reasons = {e["key"]["reason"] for e in dump("lace_drops")}
    expect("LACE_DROP_TX_NO_NODE" in reasons or 9 in reasons, reasons)
    expect("tx drops tx_no_node: " in trace(0, "show"), "text")


def again():
    """On again keeps what is there; off of one device keeps the other's."""
    fresh(0, 1)
    LAB.pings(0, PEER)
    before = show(0)
    program = {p["name"]: p["id"] for p in
               json.loads(run("bpftool", "-j", "prog", "show"))
               if p["type"] == "raw_tracepoint"}
    trace(0, "on")
    after = show(0)
    expect(sum(u["packets"] for u in after["usage"]) >=
           sum(u["packets"] for u in before["usage"]) > 0, (before, after))
    expect(after["seconds"] >= before["seconds"], after)
    again_ = {p["name"]: p["id"] for p in
              json.loads(run("bpftool", "-j", "prog", "show"))
              if p["type"] == "raw_tracepoint"}
    expect(program == again_, "loaded anew")
    trace(0, "off")
    expect("lace0: trace is off" in refused(["show", "dev", "lace0"], 1), "off")
    expect([d["netns"] for d in json.loads(lacectl("-j", "trace", "show"))] ==
           ["t-n1"], "the other one")
    trace(0, "on")
    expect(not show(0)["usage"] or show(0)["seconds"] < 2, "old counts")


def at_once():
    """Two users at once hinder each other in nothing."""
    lacectl("trace", "off", "all")
    commands = [("lacectl", "-n", LAB.netns(n), "trace", word)
                for n in range(2) for word in ("on", "on", "off", "on")]
    running = [subprocess.Popen(c, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
               for c in commands]
    said = [(r.communicate()[0], r.returncode) for r in running]
    expect(all(s == ("", 0) for s in said), said)
    for node in range(2):
        trace(node, "on")
    expect({d["netns"] for d in json.loads(lacectl("-j", "trace", "show"))} ==
           {"t-n0", "t-n1"}, "both")
    expect(set(os.listdir(ROOT)) >= {"v1"} and
           not os.path.exists(ROOT + "v1_new"), os.listdir(ROOT))
    for node in range(2):
        trace(node, "off")
    expect(not os.path.exists(PINS), "pins")


def make_layout(folder, layout):
    """The pin of another lacectl."""
    os.makedirs(ROOT + folder)
    path = ROOT + folder + "/lace_layout"
    run("bpftool", "map", "create", path, "type", "array", "key", "4", "value",
        "16", "entries", "1", "name", "lace_layout")
    run("bpftool", "map", "update", "pinned", path, "key", "0", "0", "0", "0",
        "value", *[str(b) for b in layout.to_bytes(4, "little")], *["0"] * 12)
    return path


def other_layouts():
    """Programs of another layout are refused, and left alone."""
    lacectl("trace", "off", "all")
    for folder, layout, kind in (("v2", 2, "newer"), ("v1", 0, "older"),
                                 ("v1", 7, "newer")):
        path = make_layout(folder, layout)
        for words in (["on"], ["off"], ["off", "all"], ["show"], ["export"]):
            said = refused(words, 1)
            expect(ROOT + folder in said and kind in said and
                   "(%d, not 1)" % layout in said, said)
        expect(os.listdir(ROOT + folder) == ["lace_layout"], "touched")
        os.unlink(path)
        os.rmdir(ROOT + folder)
    os.makedirs(PINS)
    run("bpftool", "map", "create", PINS + "/lace_layout", "type", "array",
        "key", "4", "value", "8", "entries", "1", "name", "lace_layout")
    expect("not a map of this layout" in refused(["on"], 1), "size")
    os.unlink(PINS + "/lace_layout")
    os.rmdir(PINS)


def export():
    """The timeline loads: a track a lane, slices in order, segments."""
    fresh(0, 1)
    LAB.iperf((0, 1, PEER), seconds=1)
    path = LAB.folder.name + "/timeline.json"
    LAB.apply([(0, 0, 1, 0), (1, 0, 0, 0)])
    LAB.apply(BOTH)
    LAB.pings(0, PEER)
    lacectl("trace", "export", "-o", path)
    with open(path, encoding="utf-8") as file:
        timeline = json.load(file)
    events = timeline["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events
             if e["name"] == "process_name"}
    expect(sorted(names.values()) == ["t-n0/lace0", "t-n1/lace0"], names)
    tracks = {(names[e["pid"]], e["args"]["name"]): (e["pid"], e["tid"])
              for e in events if e["name"] == "thread_name"}
    for node in range(2):
        for name in ("segment", "port 0 tx", "port 0 rx", "port 1 tx",
                     "port 1 rx"):
            expect(("t-n%d/lace0" % node, name) in tracks, tracks)
    slices = {}
    for event in events:
        expect(event["ph"] in "MXiC", event)
        if event["ph"] == "X":
            expect(event["ts"] >= 0 and event["dur"] >= 0, event)
            slices.setdefault((event["pid"], event["tid"]), []).append(event)
    for track, found in slices.items():
        for one, two in zip(found, found[1:]):
            expect(one["ts"] + one["dur"] <= two["ts"] + 0.002,
                   (track, one, two))
    lane = slices[tracks["t-n0/lace0", "port 0 tx"]]
    expect(all(s["name"] == "to node 1" and s["args"]["bytes"] > 0
               for s in lane), lane[:3])
    # 50 Mb/s: 160 ns a byte
    big = max(lane, key=lambda s: s["args"]["bytes"])
    expect(abs(big["dur"] - big["args"]["bytes"] * 0.16) < 1, big)
    segments = slices[tracks["t-n0/lace0", "segment"]]
    ids = [s["args"]["segment"] for s in segments]
    expect(len(ids) >= 3 and all(a != b for a, b in zip(ids, ids[1:])), ids)
    expect(all(a["ts"] + a["dur"] - b["ts"] < 0.002 > b["ts"] - a["ts"] -
               a["dur"] for a, b in zip(segments, segments[1:])), segments)
    states = {e["name"] for e in events if e["ph"] == "i"}
    expect({"up", "mark"} <= states, states)
    expect(any(e["ph"] == "C" and e["name"] == "port 0 rtt_ns" and
               e["args"]["value"] > 0 for e in events), "rtt")
    only = json.loads(trace(1, "export", "dev", "lace0"))["traceEvents"]
    expect({e["args"]["name"] for e in only if e["name"] == "process_name"} ==
           {"t-n1/lace0"}, "one device")


def turn(segment):
    """A transition of the lab; what node 0 says of it."""
    lacectl("plan", "apply", LAB.path("turns.json"), "--lab", LAB.name,
            "--segment", str(segment), "--transition")
    return json.loads(lacectl("-j", "-n", LAB.netns(0), "transition", "show",
                              "dev", "lace0"))


def transitions():
    """Phases of transitions are in histograms, and on tracks of the timeline."""
    turns = LAB.write_plan([
        {"transmit_s": 1, "routes": [], "circuits": circuits}
        for circuits in (BOTH, [BOTH[0], BOTH[2]])], name="turns.json")
    lacectl("plan", "apply", turns, "--lab", LAB.name)
    fresh(0, 1)
    told = [turn(segment) for segment in (1, 0, 1, 0)]
    expect(all(one["result"] == "done" for one in told), told)

    found = show(0)["histograms"]
    for phase in ("quiesce", "drain", "switch", "settle", "verify", "resume"):
        one = found[phase + "_ns"]
        took = sum(t["times_ns"][phase] for t in told)
        expect((one["count"], one["sum"]) == (len(told), took),
               (phase, one, told))
    whole = found["transition_ns"]
    expect((whole["count"], whole["sum"]) ==
           (len(told), sum(t["total_ns"] for t in told)), (whole, told))

    events = json.loads(trace(0, "export", "dev", "lace0"))["traceEvents"]
    tracks = {e["tid"]: e["args"]["name"] for e in events
              if e["name"] == "thread_name"}
    slices = {name: [e for e in events if e["ph"] == "X" and
                     tracks[e["tid"]] == name]
              for name in ("transition", "phase")}
    expect([one["name"].split(": ")[1] for one in slices["transition"]] ==
           ["done"] * len(told), slices)
    for one, said in zip(slices["transition"], told):
        inside = [e for e in slices["phase"]
                  if e["args"]["transition"] == one["args"]["transition"]]
        names = [e["name"] for e in inside]
        expect(names == ["quiesce", "drain", "switch", "settle", "verify",
                         "resume"], names)
        expect(abs(one["dur"] * 1000 - said["total_ns"]) < 10, (one, said))
        expect(one["ts"] <= inside[0]["ts"] + 0.002, (one, inside[0]))
        ends = [e["ts"] + e["dur"] for e in inside]
        expect(all(end <= e["ts"] + 0.002 for end, e in zip(ends, inside[1:])),
               inside)
    LAB.apply(BOTH)


def export_fails():
    """What cannot be written is said, and does not stay."""
    expect("/nonexistent/x: " in refused(["export", "-o", "/nonexistent/x"], 2),
           "folder")
    refused(["export", "-o", "/dev/full"], 2)
    expect(os.path.exists("/dev/full"), "a device was removed")


def few_events():
    """Of many events the last are kept; another number is refused."""
    lacectl("trace", "off", "all")
    trace(0, "on", "events", "16")
    LAB.iperf((0, 1, PEER), seconds=1)
    found = json.loads(trace(0, "export"))["traceEvents"]
    kept = [e for e in found if e["ph"] != "M" and
            not e["name"].startswith("segment ")]
    expect(0 < len(kept) <= 16 * os.cpu_count() and
           any(e["ph"] == "X" for e in kept), kept)
    expect("events 16" in refused(["on", "events", "32"], 1), "other number")
    trace(0, "on", "events", "16")
    trace(0, "on")


def device_goes():
    """A device that goes is traced no more."""
    fresh(0, 1)
    run("ip", "-n", LAB.netns(1), "link", "add", "lace7", "type", "lace")
    trace(1, "on", "dev", "lace7")
    expect(len(dump("lace_devices")) == 3, dump("lace_devices"))
    run("ip", "-n", LAB.netns(1), "link", "del", "lace7")
    expect(len(dump("lace_devices")) == 2, dump("lace_devices"))


@contextlib.contextmanager
def sending(seconds):
    """A TCP stream for so long, in the background."""
    LAB.run(1, "iperf3", "-s", "-1", "-D", "-p", "5400")
    with subprocess.Popen(
        ("ip", "netns", "exec", LAB.netns(0), "iperf3", "-c", PEER, "-p",
         "5400", "-t", str(seconds)), stdout=subprocess.DEVNULL):
        yield


def top():
    """top shows rates from counters alone, as text and JSON."""
    lacectl("trace", "off", "all")
    with sending(8):
        time.sleep(2)
        said = lacectl("-j", "-n", LAB.netns(0), "top", "-d", "1", "-n", "2",
                       "dev", "lace0")
        text = lacectl("-n", LAB.netns(0), "top", "-n", "1", "-d", "500ms")
    looks = [json.loads(line) for line in said.splitlines()]
    expect(len(looks) == 2, said)
    for look in looks:
        expect(look["dev"] == "lace0" and look["segment"] == 0 and
               0.9 < look["seconds"] < 5, look)
        lanes = {(x["port"], x["dir"]): x for x in look["lanes"]}
        expect(len(lanes) == 4, lanes)
        for port in range(2):
            lane = lanes[port, "tx"]
            expect(lane["state"] == "up" and lane["peer"] == 1 and
                   lane["line_rate_bps"] == 50000000 and
                   lane["rtt_ns"] > 0 and lane["ifname"] == "lane%d" % port, lane)
            expect(5e6 < lane["bits_per_s"] < 80e6 and
                   abs(lane["share"] - lane["bits_per_s"] / 50e6) < 0.01,
                   lane)
            expect(lanes[port, "rx"]["backlog_bytes"] is None, lanes)
    lines = text.splitlines()
    expect(lines[0].startswith("lace0 segment 0, ") and len(lines) == 6, text)
    expect(re.match(r" +0 lane0 +tx +1/0 +up +[\d.]+M +[\d.]+% +\d", lines[2]),
           text)
    expect(not os.path.exists(PINS), "top turned trace on")


@contextlib.contextmanager
def slow_lane(ifname, rate):
    """A port of node 0 at another rate."""
    def change(rate, burst):
        LAB.run(0, "tc", "qdisc", "change", "dev", ifname, "root", "handle",
                "1:", "tbf", "rate", rate, "burst", burst, "limit", "200000")
    tbf = next(q["options"] for q in json.loads(LAB.run(
        0, "tc", "-j", "qdisc", "show", "dev", ifname)) if q["kind"] == "tbf")
    change(rate, "20k")
    try:
        yield
    finally:
        change("%dbps" % tbf["rate"], "%db" % tbf["burst"])


def top_of_queue():
    """top shows the bytes that wait for a lane."""
    def waiting():
        said = lacectl("-j", "-n", LAB.netns(0), "top", "-d", "100ms", "-n",
                       "1", "dev", "lace0")
        return [x["backlog_bytes"] for x in json.loads(said)["lanes"]
                if x["dir"] == "tx"]
    poll(lambda: waiting() == [0, 0], "the end of what was sent before", 20)
    with slow_lane("lane0", "2mbit"), sending(3):
        poll(lambda: waiting()[0] > 0, "bytes that wait for lane0")


def documented():
    """The examples of tracing.rst work."""
    lacectl("trace", "off", "all")
    with open("Documentation/tracing.rst", encoding="utf-8") as file:
        commands = re.findall(r"^\t# (.*)$", file.read(), re.M)
    expect(len(commands) > 15, commands)
    quiet = re.compile(r"lacectl trace (on|off|export)|echo |rm |bpftool iter")
    for command in commands:
        command = re.sub(r"timeline\.json", LAB.folder.name + "/doc.json",
                         command)
        said = run("nsenter", "--net=/run/netns/" + LAB.netns(0), "sh", "-c",
                   command)
        expect(bool(said) != bool(quiet.match(command)), (command, said))
    expect(not os.path.exists(PINS), "pins")


def bad_words():
    """What makes no sense is refused in one line."""
    for words, status in (
            (["on", "dev", "lace9"], 1), (["on", "dev", "lane0"], 1),
            (["on", "dev"], 2), (["on", "lace0"], 2), (["x"], 2),
            (["on", "events", "17"], 2), (["on", "events", "x"], 2),
            (["on", "events", "0"], 2), (["off", "all", "dev", "lace0"], 2),
            (["show", "x"], 2), (["export", "-o"], 2), (["on", "all"], 2)):
        refused(words, status)
    for words, status in ((["-n", "0"], 2), (["-d", "0"], 2), (["-d"], 2),
                          (["-d", "x"], 2), (["x"], 2), (["dev", "lace9"], 1),
                          (["dev", "lane0"], 1)):
        said = lacectl("-n", LAB.netns(0), "top", *words, status=status)
        expect(said.startswith("lacectl: ") and said.count("\n") == 1, said)
    expect(not os.path.exists(PINS), "pins")


def holds_module():
    """Trace goes with a lab; of other devices it holds the module until it is off."""
    fresh(0, 1)
    LAB.down()
    expect(not os.path.exists(ROOT), "the folder is still there")
    run("ip", "link", "add", "lace8", "type", "lace")
    lacectl("trace", "on", "dev", "lace8")
    run("ip", "link", "del", "lace8")
    expect("in use" in run("rmmod", "lace", check=False), "unloaded")
    lacectl("trace", "off", "all")
    expect(not os.path.exists(ROOT), "the folder is still there")
    poll(lambda: run("rmmod", "lace", check=False) == "", "unload", 20)


if __name__ == "__main__":
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        print("KTAP version 1\n1..0 # SKIP this kernel does not tell its types")
        sys.exit(4)
    try:
        LAB.up("switch-time", "0")
        LAB.apply(BOTH)
        main(off_at_first, pinned, usage, map_dump, iterators, histograms,
             drops, again, at_once, other_layouts, export, transitions,
             export_fails, few_events, device_goes, top, top_of_queue,
             documented, bad_words, holds_module)
    finally:
        subprocess.run(("lacectl", "lab", "down", "t"), check=False,
                       stderr=subprocess.DEVNULL)
