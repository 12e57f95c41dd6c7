#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Steering programs: what they pick, what they count, how they are given.

    s-n0: lace0 = lane0 ====> lane0 = lace0 :s-n1
                  lane1 ====> lane1
    and back the same way.
timeout: 240
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import expect, main, run  # noqa: E402
from lib_lab import Lab, lacectl  # noqa: E402

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
OBJECT = TOP + "/build/ebpf/steer.bpf.o"
LAB = Lab("s", [[(["ocs0", 2 * n + p + 1], ["ocs0", 2 * n + p + 1])
                 for p in range(2)] for n in range(2)])
PIN = "/sys/fs/bpf/lace/s-n0/lane_usage"
PEER = "10.77.0.2"


def steer(*words, **more):
    return lacectl("-n", "s-n0", "steer", *words, **more)


def show():
    return json.loads(lacectl("-j", "-s", "-n", "s-n0", "steer", "show"))[0]


def usage():
    """{port: (packets, bytes)} to the peer."""
    return {u["port"]: (u["packets"], u["bytes"]) for u in show()["usage"]
            if u["peer"] == 1}


def lanes():
    stats = [LAB.lane(0, port, "tx") for port in range(2)]
    return {p: (s["packets"], s["bytes"]) for p, s in enumerate(stats)}


def less(after, before):
    return {p: tuple(a - b for a, b in zip(after[p], before.get(p, (0, 0))))
            for p in after}


def send(packets=200, size=400):
    """Packets of one flow to the peer."""
    code = ("import socket, sys; s = socket.socket(type=socket.SOCK_DGRAM);"
            "s.bind(('', 4567));"
            "[s.sendto(bytes(%d), ('%s', 9999)) for _ in range(%d)]" %
            (size, PEER, packets))
    LAB.run(0, "python3", "-c", code)


def picks_builtin():
    """builtin picks as the module does, and usage equals lane counters."""
    steer("set", "dev", "lace0", "policy", "builtin")
    before = lanes()
    LAB.iperf((0, 1, PEER), seconds=2)
    send()
    sent = less(lanes(), before)
    counted = usage()
    expect(sent == counted, (sent, counted))
    expect(all(packets > 100 for packets, _ in counted.values()), counted)


def picks_hash():
    """hash keeps a flow on one lane."""
    steer("set", "dev", "lace0", "policy", "hash")
    before = lanes()
    send()
    sent = sorted(p for p, _ in less(lanes(), before).values())
    expect(sent[0] < 10 and sent[1] >= 200, sent)
    expect(list(usage().values())[0][0] >= 200, usage())


def picks_weighted():
    """weighted sends by weight."""
    steer("set", "dev", "lace0", "policy", "weighted", "0:1", "1:3")
    before = lanes()
    send(400)
    sent = less(lanes(), before)
    expect(95 <= sent[0][0] <= 110 and 295 <= sent[1][0] <= 310, sent)
    steer("set", "dev", "lace0", "policy", "weighted", "0:0")
    before = lanes()
    send(100)
    sent = less(lanes(), before)
    expect(sent[0][0] == 0 and sent[1][0] >= 100, sent)


def what_show_says():
    """show names policy, program and map."""
    steer("set", "policy", "weighted")
    said = show()
    program = json.loads(run("bpftool", "-j", "prog", "show", "id",
                             str(said["program_id"])))
    expect(said["policy"] == "weighted", said)
    expect(program["name"] == said["program"] == "steer_weighted", program)
    expect(said["usage_map_id"] in program["map_ids"], program)
    text = lacectl("-s", "-n", "s-n0", "steer")
    expect("policy weighted" in text, text)


def bpftool_dump():
    """bpftool prints lane usage with the names of its fields."""
    steer("set", "policy", "builtin")
    LAB.pings(0, PEER)
    for where in (("pinned", PIN), ("name", "lane_usage")):
        dump = json.loads(run("bpftool", "-j", "map", "dump", *where))
        one = dump[0]["formatted"]
        expect(one["key"]["peer"] == 1 and "port" in one["key"], one)
        expect(one["value"]["packets"] > 0 and one["value"]["last_ns"] > 0,
               one)


def taken_back():
    """unset gives the choice back to the module and removes the pin."""
    steer("set", "policy", "hash")
    expect(os.path.exists(PIN), "no pin")
    steer("unset")
    said = show()
    expect(said["policy"] == "builtin" and "program" not in said, said)
    expect(not os.path.exists(PIN), "the pin is still there")
    expect(LAB.pings(0, PEER), "no answer")


def own_program():
    """A program of one's own is taken from an object file."""
    steer("set", "file", OBJECT, "steer_hash")
    expect(show()["policy"] == "hash", show())
    send()
    expect(usage(), "nothing counted")
    expect("say which" in steer("set", "file", OBJECT, status=2), "many")
    expect("no program" in steer("set", "file", OBJECT, "nothing", status=2),
           "none of that name")
    expect("socket program" in steer("set", "file",
                                     TOP + "/build/ebpf/ocs.bpf.o", status=2),
           "wrong type")
    expect("BPF object" in steer("set", "file", __file__, status=2), "no BPF")
    expect(show()["policy"] == "hash", "a refused one was taken")


def bad_answers():
    """An answer out of range is counted, and the module decides."""
    source = LAB.folder.name + "/bad.bpf.c"
    with open(source, "w", encoding="ascii") as file:
        file.write('int bad(void *skb) __attribute__((section("socket"), used));'
                   'int bad(void *skb) { return 99; }'
                   'char _license[] __attribute__((section("license"), used)) ='
                   ' "GPL";')
    run("clang", "-target", "bpf", "-O2", "-g", "-c", source, "-o",
        source + ".o")
    steer("set", "file", source + ".o")
    said = show()
    expect(said["policy"] == "custom" and "usage_map_id" not in said, said)
    expect(not os.path.exists(PIN), "the pin of before is still there")
    expect(LAB.pings(0, PEER), "no answer")
    device = json.loads(lacectl("-j", "-s", "-n", "s-n0", "device", "show"))
    expect(device[0]["stats"]["steer_bad"] >= 3, device)


def refused():
    """What cannot be is refused in one line, and nothing changes."""
    steer("set", "policy", "hash")
    before = show()["program_id"]
    for words, status in (
            (("set", "dev", "lace9", "policy", "hash"), 1),
            (("set", "dev", "lane0", "policy", "builtin"), 1),
            (("set", "policy", "fastest"), 2),
            (("set", "policy"), 2), (("set",), 2),
            (("set", "policy", "hash", "0:1"), 2),
            (("set", "policy", "weighted", "32:1"), 2),
            (("set", "policy", "weighted", "0"), 2),
            (("set", "policy", "weighted", "0:-1"), 2),
            (("set", "file"), 2), (("set", "file", "/nonexistent"), 2),
            (("unset", "dev", "lace9"), 1), (("unset", "dev"), 2)):
        said = steer(*words, status=status)
        expect(said.startswith("lacectl: ") and said.count("\n") == 1,
               (words, said))
        expect(show()["program_id"] == before, words)
        expect(os.listdir("/sys/fs/bpf/lace/s-n0") == ["lane_usage"],
               os.listdir("/sys/fs/bpf/lace/s-n0"))


def down_removes_pins():
    """The pin goes with the lab."""
    LAB.down()
    expect(not os.path.exists("/sys/fs/bpf/lace"), os.listdir("/sys/fs/bpf"))


try:
    LAB.up("switch-time", "0")
    LAB.apply([(0, 0, 1, 0), (0, 1, 1, 1), (1, 0, 0, 0), (1, 1, 0, 1)])
    main(picks_builtin, picks_hash, picks_weighted, what_show_says,
         bpftool_dump, taken_back, own_program, bad_answers, refused,
         down_removes_pins)
finally:
    subprocess.run(("lacectl", "lab", "down", "s"), check=False,
                   stderr=subprocess.DEVNULL)
