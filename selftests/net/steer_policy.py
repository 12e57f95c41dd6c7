#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Steering programs: what they pick, what they count, how they are given.

    s-n0: lace0 = lane0 ====> lane0 = lace0 :s-n1
                  lane1 ====> lane1
    and back the same way.
timeout: 400
"""

import contextlib
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import background, expect, main, poll, run  # noqa: E402
from lib_lab import Lab, lacectl  # noqa: E402

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
OBJECT = TOP + "/build/ebpf/steer_hash.bpf.o"
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


def sent_as_counted(before):
    """What was sent on the lanes, which usage, too, says: read when nothing is
    under way, as both cannot be read at once."""
    poll(lambda: less(lanes(), before) == usage(),
         "lane counters equal usage")
    return usage()


def send(packets=200, size=400):
    """Packets of one flow to the peer."""
    code = ("import socket, sys; s = socket.socket(type=socket.SOCK_DGRAM);"
            "s.bind(('', 4567));"
            "[s.sendto(bytes(%d), ('%s', 9999)) for _ in range(%d)]" %
            (size, PEER, packets))
    LAB.run(0, "python3", "-c", code)


# Takes in what connections bring.
SINK = """
import socket, threading
server = socket.create_server(("", 7))
def drain(peer):
    while peer.recv(1 << 16):
        pass
while True:
    threading.Thread(target=drain, args=(server.accept()[0],)).start()
"""
# Connections, at the same time, and how often each sends 10 kB. It ends when
# all has arrived: until then the kernel may still be sending.
SOURCE = """
import socket
peers = [socket.create_connection(("%s", 7)) for _ in range(%d)]
for _ in range(%d):
    for peer in peers:
        peer.sendall(bytes(10000))
for peer in peers:
    peer.shutdown(socket.SHUT_WR)
for peer in peers:
    peer.recv(1)
"""


@contextlib.contextmanager
def connections(count, times):
    with background("python3", "-c", SINK, netns="s-n1"):
        poll(lambda: ":7 " in LAB.run(1, "ss", "-Htln"), "the sink listens")
        with background("python3", "-c", SOURCE % (PEER, count, times),
                        netns="s-n0") as source:
            yield source


def picks_builtin():
    """builtin picks as the module does, and usage equals lane counters."""
    steer("set", "dev", "lace0", "policy", "builtin")
    before = lanes()
    LAB.iperf((0, 1, PEER), seconds=2)
    send()
    counted = sent_as_counted(before)
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


def spreads():
    """spread has one TCP connection use both lanes, with nothing out of order."""
    steer("set", "spread")
    before = lanes()
    got = LAB.iperf((0, 1, PEER), seconds=2)
    sent = sent_as_counted(before)
    expect(min(b for _, b in sent.values()) >
           0.8 * max(b for _, b in sent.values()), (sent, got))


def pins():
    """pin has two connections use a lane each."""
    steer("set", "pin")
    before = lanes()
    LAB.iperf((0, 1, PEER), seconds=2)
    one = sorted(b for _, b in less(lanes(), before).values())
    expect(one[0] < 0.05 * one[1], one)
    steer("set", "pin")		# forget iperf3's, which the far end has reset
    before = lanes()
    with connections(2, 20) as source:
        expect(source.wait(60) == 0, "the connections broke")
    two = sorted(b for _, b in less(lanes(), before).values())
    expect(two[0] > 0.9 * two[1], two)


def flowlets():
    """flowlet moves a flow after a pause only."""
    steer("set", "flowlet", "gap", "30s")
    before = lanes()
    send(300)
    sent = sorted(p for p, _ in less(lanes(), before).values())
    expect(sent[0] < 10 and sent[1] >= 300, sent)
    steer("set", "flowlet", "gap", "0")
    before = lanes()
    send(300)
    sent = sorted(p for p, _ in less(lanes(), before).values())
    expect(sent[0] > 60, sent)


def told():
    """The context holds what there is to know of a packet and its lanes."""
    steer("set", "spread")
    send(3)
    dump = json.loads(run("bpftool", "-j", "map", "dump", "name",
                          "lace_steer"))
    seen = [v["value"] for v in dump[0]["formatted"]["values"]
            if v["value"]["version"]]
    expect(seen, dump)
    for one in seen:
        expect((one["version"], one["lanes"], one["ports"], one["segment"],
                one["from"], one["to"], one["next"]) ==
               (1, 2, 3, 0, 0, 1, 1), one)
        expect([l["port"] for l in one["lane"][:2]] == [0, 1], one["lane"])
        expect(one["hash"] and one["frames"] == 1 and one["bytes"], one)


def compiled(name, *functions, head=""):
    """Object file of socket programs, each the body of a function."""
    source = "%s/%s.bpf.c" % (LAB.folder.name, name)
    with open(source, "w", encoding="ascii") as file:
        file.write('#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n')
        file.write(head)
        for i, body in enumerate(functions):
            file.write('SEC("socket") int %s%d(struct __sk_buff *skb) {%s}\n'
                       % (name, i, body))
        file.write('char _license[] SEC("license") = "GPL";\n')
    run("clang", "-target", "bpf", "-O2", "-g", "-c", source, "-o",
        source + ".o", "-idirafter", "/usr/include/" +
        run("gcc", "-print-multiarch").strip())
    return source + ".o"


def own_program():
    """A program of one's own is taken from an object file."""
    steer("set", "file", OBJECT, "steer_hash")
    expect(show()["policy"] == "hash", show())
    send()
    expect(usage(), "nothing counted")
    two = compiled("two", "return 0;", "return 1;")
    steer("set", "file", two, "two1")
    expect(show()["program"] == "two1", show())
    expect("say which" in steer("set", "file", two, status=2), "many")
    expect("no program" in steer("set", "file", OBJECT, "nothing", status=2),
           "none of that name")
    expect("socket program" in steer("set", "file",
                                     TOP + "/build/ebpf/ocs.bpf.o", status=2),
           "wrong type")
    expect("BPF object" in steer("set", "file", __file__, status=2), "no BPF")
    small = compiled("small", "__u32 i = 0; return bpf_map_lookup_elem("
                     "&lace_steer, &i) ? 0 : 1;", head="""
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lace_steer SEC(".maps");
""")
    expect("lace_steer" in steer("set", "file", small, status=1), "small map")
    expect(show()["program"] == "two1", "a refused one was taken")


def bad_answers():
    """An answer out of range is counted, and the module decides."""
    steer("set", "file", compiled("bad", "return 99;"))
    said = show()
    expect(said["policy"] == "custom" and "usage_map_id" not in said, said)
    expect(not os.path.exists(PIN), "the pin of before is still there")
    expect(LAB.pings(0, PEER), "no answer")
    device = json.loads(lacectl("-j", "-s", "-n", "s-n0", "device", "show"))
    expect(device[0]["stats"]["steer_bad"] >= 3, device)


def slow_program():
    """A program that takes long holds traffic up, and does not stop it."""
    steer("set", "file", compiled("slow", """
	__u64 until = bpf_ktime_get_ns() + 2000000;
	return bpf_loop(1 << 20, spin, &until, 0) & 1;
""", head="""
static long spin(__u32 i, void *until)
{
	return bpf_ktime_get_ns() > *(__u64 *)until;
}
"""))
    expect(LAB.pings(0, PEER), "no answer")
    send(50)


def taken_away():
    """Programs and maps that go under traffic take no packet along."""
    before = lanes()
    turns = 0
    with connections(1, 400) as sender:
        while sender.poll() is None and turns < 40:
            for words in (("spread",), ("pin",), ("flowlet",), ("none",)):
                steer("set", *words)
                if os.path.exists(PIN):
                    run("bpftool", "map", "delete", "pinned", PIN, "key",
                        *"1 0 0 0 0 0 0 0".split(), check=False)
                    os.unlink(PIN)
            turns += 1
        expect(sender.wait(60) == 0, "the connection broke")
    sent = sum(b for _, b in less(lanes(), before).values())
    expect(turns and sent > 4000000, (turns, sent))
    expect(LAB.pings(0, PEER), "no answer")


def refused():
    """What cannot be is refused in one line, and nothing changes."""
    steer("set", "policy", "hash")
    before = show()["program_id"]
    for words, status in (
            (("set", "dev", "lace9", "policy", "hash"), 1),
            (("set", "dev", "lane0", "policy", "builtin"), 1),
            (("set", "policy", "fastest"), 2),
            (("set", "policy"), 2), (("set",), 2), (("set", "none", "x"), 2),
            (("set", "flowlet", "gap"), 2), (("set", "flowlet", "1ms"), 2),
            (("set", "flowlet", "gap", "-1ms"), 2),
            (("set", "flowlet", "gap", "61s"), 2), (("set", "pin", "x"), 2),
            (("set", "dev", "lace9", "none"), 1),
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
    main(picks_builtin, picks_hash, picks_weighted, spreads, pins, flowlets,
         told, what_show_says, bpftool_dump, taken_back, own_program,
         bad_answers, slow_program, taken_away, refused, down_removes_pins)
finally:
    subprocess.run(("lacectl", "lab", "down", "s"), check=False,
                   stderr=subprocess.DEVNULL)
