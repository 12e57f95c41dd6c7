#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""lacec import --format chakra: what traces mean, and which are refused."""

import gzip
import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import chakra as c  # noqa: E402
import importing as t  # noqa: E402

BIG = 1 << 53


def chakra(files, *args, **more):
    return t.run_import("chakra", {name: c.trace(nodes) if
                                   isinstance(nodes, list) else nodes
                                   for name, nodes in files.items()},
                        *args, **more)


def ranks(*programs):
    return {"t.%d.et" % i: nodes for i, nodes in enumerate(programs)}


def everywhere(nr, make):
    return ranks(*[make(rank) for rank in range(nr)])


def groups(**named):
    return ("--groups", "groups.json"), {
        "groups.json": json.dumps(named).encode()}


def all_reduce(ident=1, size=800, group=None, data=(), **more):
    return c.collective(ident, c.ALL_REDUCE, size, group, data, **more)


# ---- kinds and sizes ----

def kinds():
    for number, name, factor in (
            (c.ALL_REDUCE, "all_reduce", 1), (c.REDUCE, "reduce", 1),
            (c.ALL_GATHER, "all_gather", 4), (c.BROADCAST, "broadcast", 1),
            (c.ALL_TO_ALL, "all_to_all", 1),
            (c.REDUCE_SCATTER, "reduce_scatter", 1),
            (c.REDUCE_SCATTER_BLOCK, "reduce_scatter", 1)):
        got = chakra(everywhere(4, lambda r, k=number:
                                [c.collective(1, k, 4096)]))
        t.check(got.ops() == ["1 %s bytes=%d groups=[[0,1,2,3]]" %
                              (name, 4096 * factor)], got)
    for number in (c.GATHER, c.SCATTER, 10, -1):
        chakra(ranks([c.collective(1, number, 8)])).refused(
            2, "t.0.et", "node 1", "comm_type")


def numbers():
    for kind in ("double", "float", "int32", "int64", "uint32", "uint64",
                 "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
                 "sfixed64"):
        def program(rank, kind=kind):
            return [c.node(1, c.COLL, attrs=[("comm_type", 0, kind),
                                             ("comm_size", 800, kind)])]
        got = chakra(everywhere(2, program))
        t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)
    for value, kind in ((float("nan"), "double"), (float("inf"), "double"),
                        (1.5, "double"), (1e300, "double"), (-8, "int64"),
                        (-8.0, "double"), (BIG + 1, "int64"),
                        ((1 << 64) - 1, "uint64"), ("800", "string"),
                        (True, "bool")):
        bad = [c.node(7, c.COLL, attrs=[("comm_type", 0),
                                        ("comm_size", value, kind)])]
        chakra(ranks(bad, bad)).refused(2, "t.0.et", "node 7", "comm_size")


def largest_size():
    got = chakra(everywhere(2, lambda r: [all_reduce(size=BIG)]))
    t.check(got.ops() == ["1 all_reduce bytes=%d groups=[[0,1]]" % BIG], got)
    chakra(everywhere(2, lambda r: [c.collective(3, c.ALL_GATHER, BIG)])
           ).refused(2, "t.0.et", "node 3", "2 ranks")


def missing_attributes():
    chakra(ranks([c.node(4, c.COLL, attrs=[("comm_type", 0)])])).refused(
        2, "t.0.et", "node 4", "comm_size is missing")
    chakra(ranks([c.node(4, c.COLL, attrs=[("comm_size", 8)])])).refused(
        2, "t.0.et", "node 4", "comm_type is missing")
    chakra(ranks([c.node(4, c.SEND, attrs=[("comm_size", 8)])])).refused(
        2, "t.0.et", "node 4", "comm_dst is missing")
    chakra(ranks([c.node(4, c.RECV, attrs=[("comm_size", 8)])])).refused(
        2, "t.0.et", "node 4", "comm_src is missing")
    chakra(ranks([c.node(4, c.SEND, attrs=[("comm_dst", 0)])])).refused(
        2, "t.0.et", "node 4", "comm_size is missing")
    chakra(ranks([c.node(4, c.COLL, attrs=[("comm_type", 0),
                                           ("comm_type", 2)])])).refused(
        2, "t.0.et", "node 4", "comm_type is there twice")


def host_side():
    """A collective's launch on the host says neither type nor size."""
    for is_cpu in ((True, "bool"), (1, "int32")):
        got = chakra(everywhere(2, lambda r, v=is_cpu: [
            c.node(1, c.COLL, attrs=[("is_cpu_op",) + v]),
            all_reduce(2, data=[1])]))
        t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)
    chakra(ranks([c.node(1, c.COLL, attrs=[("is_cpu_op", False)])])).refused(
        2, "node 1", "comm_type is missing")


# ---- groups ----

def group_names():
    args, extra = groups(**{"1": [0, 1], "0": [3, 2]})
    got = chakra(dict(everywhere(4, lambda r: [all_reduce(
        group=("1.0" if r == 0 else "1") if r < 2 else "0")]), **extra), *args)
    t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1],[2,3]]"], got)
    for name in ("", "0", None):
        got = chakra(everywhere(2, lambda r, n=name: [all_reduce(group=n)]))
        t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)
    chakra(everywhere(2, lambda r: [all_reduce(group="7")])).refused(
        2, "t.0.et", "node 1", '"7"', "--groups")
    args, extra = groups(**{"1": [0, 1]})
    chakra(dict(everywhere(2, lambda r: [all_reduce(group="7")]), **extra),
           *args).refused(2, "t.0.et", "node 1", '"7"', "groups.json")


def comm_group():
    args, extra = groups(**{"5": [1, 0]})
    for value in (("5", "string"), (5, "int32")):
        got = chakra(dict(everywhere(2, lambda r, v=value: [
            c.node(1, c.COLL, attrs=[("comm_type", 0), ("comm_size", 800),
                                     ("comm_group",) + v])]), **extra), *args)
        t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)


def groups_file():
    def refused(content, *words):
        files = everywhere(2, lambda r: [all_reduce()])
        files["groups.json"] = content
        chakra(files, "--groups", "groups.json").refused(
            2, "groups.json", *words)
    refused(b'{"1": [0, 5]}', "rank 5", "0..1")
    refused(b'{"1": [0, -1]}', "rank -1")
    refused(b'{"1": [0, 0]}', "rank 0 twice")
    refused(b'{"1": []}', "group 1")
    refused(b'{"1": [0.5]}', "group 1")
    refused(b'{"1": "all"}', "group 1")
    refused(b'{"1": [0], "1": [1]}', "1")
    refused(b'[1]', "object")
    refused(b'{\n"1": [0,}', ":2:")
    refused(b'', "JSON")
    files = everywhere(2, lambda r: [all_reduce()])
    chakra(files, "--groups", "none.json").refused(2, "none.json", "No such")


def noted_groups():
    """process_group:init, as converters write it; after its use, even."""
    noted = json.dumps([{"pg_name": "0", "ranks": []},
                        {"pg_name": "tp", "ranks": [1, 0]}])
    for values in ("[%s]" % noted, "['%s']" % noted,
                   '["%s"]' % noted.replace('"', '\\"'),
                   "[[%s]]" % noted):
        got = chakra(everywhere(4, lambda r, v=values: [
            all_reduce(1, 64, "tp") if r < 2 else c.node(1),
            all_reduce(2, 128, "0", [1]),
            c.node(9, c.METADATA, name="## process_group:init ##", values=v)]))
        t.check(got.ops() == ["1 all_reduce bytes=64 groups=[[0,1]]",
                              "1 all_reduce bytes=128 groups=[[0,1,2,3]]"],
                got)
    for values, word in (('[{"pg_name": "a", "ranks": [9]}]', "rank 9"),
                         ('[{"ranks": [0]}]', "pg_name"),
                         ('[{"pg_name": "a", "ranks": 0}]', "group a"),
                         ('[{"pg_name": "a", "ranks": [0]}, {"pg_name": "a",'
                          ' "ranks": [1]}]', "two lists"),
                         ('[{"pg_name": "a"', "")):
        chakra(everywhere(2, lambda r, v=values: [
            c.node(9, c.METADATA, name="## process_group:init ##", values=v),
            all_reduce(1, 64, "a")])).refused(2, "t.0.et", word)


def dimensions():
    got = chakra(everywhere(2, lambda r: [
        c.node(1, c.COLL, attrs=[("comm_type", 0), ("comm_size", 8),
                                 ("involved_dim", [True, True])])]))
    t.check(got.ops() == ["1 all_reduce bytes=8 groups=[[0,1]]"], got)
    chakra(everywhere(2, lambda r: [
        c.node(1, c.COLL, attrs=[("comm_type", 0), ("comm_size", 8),
                                 ("involved_dim", [True, False])])])).refused(
        2, "node 1", "involved_dim")
    args, extra = groups(a=[0, 1])
    got = chakra(dict(everywhere(2, lambda r: [
        c.node(1, c.COLL, attrs=[("comm_type", 0), ("comm_size", 8),
                                 ("pg_name", "a"),
                                 ("involved_dim", [False])])]), **extra),
                 *args)
    t.check(got.ops() == ["1 all_reduce bytes=8 groups=[[0,1]]"], got)


# ---- order ----

def order_by_dependencies():
    """Neither place in the file nor id decides where dependencies do."""
    got = chakra(everywhere(2, lambda r: [
        all_reduce(9, 100, data=[2]), c.node(2, ctrl=[4], packed=False),
        c.collective(4, c.REDUCE_SCATTER, 200)]))
    t.check(got.ops() == ["1 reduce_scatter bytes=200 groups=[[0,1]]",
                          "1 all_reduce bytes=100 groups=[[0,1]]"], got)


def order_by_id():
    """Where they do not, the smallest id is first: calls match by that."""
    got = chakra(ranks([all_reduce(1, 100), all_reduce(2, 200)],
                       [all_reduce(8, 200), all_reduce(7, 100)]))
    t.check(got.ops() == ["1 all_reduce bytes=100 groups=[[0,1]]",
                          "1 all_reduce bytes=200 groups=[[0,1]]"], got)
    huge = (1 << 64) - 1
    got = chakra(everywhere(2, lambda r: [
        all_reduce(huge - 1, 300, data=[huge]), all_reduce(huge, 200),
        all_reduce(0, 100)]))
    t.check([line.split()[2] for line in got.ops()] ==
            ["bytes=100", "bytes=200", "bytes=300"], got)


def disjoint_groups_share():
    args, extra = groups(a=[0, 1], b=[2, 3], x=[1, 2])
    got = chakra(dict(ranks([all_reduce(1, 800, "a")],
                            [all_reduce(1, 800, "a"), all_reduce(2, 800, "x")],
                            [all_reduce(1, 800, "x"), all_reduce(2, 800, "b")],
                            [all_reduce(1, 800, "b")]), **extra), *args)
    t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1],[2,3]]",
                          "1 all_reduce bytes=800 groups=[[1,2]]"], got)


def repeats_fold():
    got = chakra(everywhere(3, lambda r: [
        all_reduce(i, 800, data=[i - 1] if i else []) for i in range(50)]))
    t.check(got.ops() == ["50 all_reduce bytes=800 groups=[[0,1,2]]"], got)


def long_groups():
    """Evenly spaced or not, they are the ranks that they are."""
    args, extra = groups(even=list(range(0, 40, 2)),
                         odd=[1] + list(range(5, 40, 2)))
    got = chakra(dict(everywhere(40, lambda r: [all_reduce(
        1, 800, "odd" if r % 2 else "even")] if r != 3 else []), **extra),
                 *args)
    t.check(got.ops() == ["1 all_reduce bytes=800 groups=" +
                          json.dumps([list(range(0, 40, 2)),
                                      [1] + list(range(5, 40, 2))],
                                     separators=(",", ":"))], got)


def circles():
    chakra(ranks([c.node(1, data=[2]), c.node(2, data=[3]),
                  c.node(3, data=[2])])).refused(2, "t.0.et", "cycl")
    chakra(ranks([c.node(5, data=[5])])).refused(2, "node 5", "cycl")


def deadlock():
    args, extra = groups(a=[0, 1], b=[0, 1])
    chakra(dict(ranks([all_reduce(1, 8, "a"), all_reduce(2, 8, "b", [1])],
                      [all_reduce(1, 8, "b"), all_reduce(2, 8, "a", [1])]),
                **extra), *args).refused(2, "deadlock")
    chakra(ranks([c.recv(1, 1, 8), c.send(2, 1, 8, 0, [1])],
                 [c.recv(1, 0, 8), c.send(2, 0, 8, 0, [1])])).refused(
        2, "deadlock")


def dangling():
    got = chakra(everywhere(2, lambda r: [all_reduce(2, data=[1, 77])]))
    t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)
    t.check("warning: 4 dep" in got.errors, got)


def same_id_twice():
    chakra(ranks([c.node(3), c.node(4), c.node(3)])).refused(
        2, "t.0.et", "node 3", "two nodes")


# ---- ranks that contradict each other ----

def disagreement():
    first = [all_reduce(1, 800)]
    for other, word in (([all_reduce(1, 801)], "801"),
                        ([c.collective(1, c.ALL_TO_ALL, 800)], "all_to_all"),
                        ([c.collective(1, c.BARRIER, None)], "barrier")):
        chakra(ranks(first, other)).refused(2, "t.1.et", "node 1", word)


def somebody_missing():
    chakra(ranks([all_reduce(1)], [all_reduce(1)], [c.node(1)])).refused(
        2, "rank 2", "no part")
    args, extra = groups(a=[0, 1])
    chakra(dict(ranks([all_reduce(1, 8, "a")], [all_reduce(1, 8, "a")],
                      [all_reduce(5, 8, "a")]), **extra), *args).refused(
        2, "t.2.et", "node 5", "not in")


# ---- transfers ----

def transfers():
    """First in, first out by tag; a receive passes its depth on."""
    got = chakra(ranks(
        [c.send(1, 1, 100), c.send(2, 1, 200), c.send(3, 1, 300, 5)],
        [c.recv(1, 0, 300, 5), c.recv(2, 0, 100), c.recv(3, 0, 200),
         c.send(4, 2, 50, 0, [3])],
        [c.recv(1, 1, 50)]))
    t.check(got.ops() == ["1 transfers 0>1:100 0>1:200 0>1:300",
                          "1 transfers 1>2:50"], got)


def depth_of_a_transfer():
    """It is the send's: a receive that waits for more does not delay it."""
    got = chakra(ranks([c.send(1, 1, 100)],
                       [c.send(1, 2, 7), c.recv(2, 0, 100, 0, [1]),
                        c.send(3, 2, 9, 1, [2])],
                       [c.recv(1, 1, 7), c.recv(2, 1, 9, 1)]))
    t.check(got.ops() == ["1 transfers 0>1:100 1>2:7", "1 transfers 1>2:9"],
            got)


def exchange_is_no_deadlock():
    got = chakra(ranks([c.recv(1, 1, 8), c.send(2, 1, 8)],
                       [c.recv(1, 0, 8), c.send(2, 0, 8)]))
    t.check(got.ops() == ["1 transfers 0>1:8 1>0:8"], got)


def transfers_that_do_not_match():
    chakra(ranks([c.send(1, 1, 8)], [c.node(1)])).refused(
        2, "1 sends and 0 receives", "rank 0", "rank 1")
    chakra(ranks([c.node(1)], [c.recv(1, 0, 8, -3)])).refused(
        2, "0 sends and 1 receives", "tag -3")
    chakra(ranks([c.send(1, 1, 8, 1)], [c.recv(1, 0, 8, 2)])).refused(
        2, "1 sends and 0 receives")
    chakra(ranks([c.send(6, 1, 8)], [c.recv(1, 0, 9)])).refused(
        2, "t.0.et", "node 6", "8 bytes", "receives 9")
    chakra(ranks([c.send(6, 1, 8)])).refused(2, "node 6", "comm_dst")
    chakra(ranks([c.send(6, -1, 8)])).refused(2, "node 6", "comm_dst")


# ---- no traffic ----

def no_traffic():
    """It orders what depends on it, and is counted."""
    args, extra = groups(me0=[0], me1=[1])
    got = chakra(dict(everywhere(2, lambda r: [
        all_reduce(1, 0), c.collective(2, c.BARRIER, None, None, [1]),
        all_reduce(3, 64, "me%d" % r, [2]), c.send(4, r, 5, 0, [3]),
        c.recv(5, r, 5, 0, [3]), all_reduce(6, 4096, data=[4, 5])]), **extra),
                 *args)
    t.check(got.ops() == ["1 all_reduce bytes=4096 groups=[[0,1]]"], got)
    t.check("zero_bytes 1, barrier 1, single_rank 2, self 2" in got.errors,
            got)


def nothing_at_all():
    chakra(everywhere(2, lambda r: [c.node(1)])).refused(
        1, "no communication")
    chakra(everywhere(2, lambda r: [])).refused(1, "no communication")
    chakra(ranks([all_reduce(1)])).refused(1, "no communication")


# ---- files ----

def compressed():
    got = chakra({name: gzip.compress(c.trace(nodes)) for name, nodes in
                  everywhere(2, lambda r: [all_reduce()]).items()})
    t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)


def damaged_gzip():
    data = gzip.compress(c.trace([all_reduce(i) for i in range(200)]))
    for bad in (data[:-1], data[:40], data[:12] + b"\xff" * 9 + data[21:],
                data[:-8] + b"\0\0\0\0" + data[-4:], data[:3]):
        chakra({"t.0.et": bad}).refused(2, "t.0.et")


def truncated():
    whole = c.trace([all_reduce(1), all_reduce(2)])
    chakra({"t.0.et": whole[:-5]}).refused(2, "t.0.et", "byte ", "left")
    # A cut between messages cannot be seen: it is a shorter trace.
    for end in range(1, len(whole) - 1):
        chakra({"t.0.et": whole[:end]}).refused((1, 2), "")
    chakra({"t.0.et": b""}).refused(2, "t.0.et", "empty")
    chakra({"t.0.et": whole + b"\x80"}).refused(2, "t.0.et", "length")


def lengths_that_lie():
    head = c.trace([])
    for length in ((1 << 64) - 1, 1 << 40, 60 << 20):
        chakra({"t.0.et": head + c.varint(length) + b"x"}).refused(
            2, "t.0.et", "byte 8")
    chakra({"t.0.et": head + b"\xff" * 11}).refused(2, "byte 8")


def wrong_wire_types():
    for bad in (c.text(1, "id"), c.number(2, 5), c.number(10, 1),
                c.text(4, b"\x80"), b"\x00", b"\x0b", b"\xff" * 12,
                c.text(10, b"\x12")):
        chakra({"t.0.et": c.trace([bad])}).refused(2, "t.0.et", "byte 8")
    chakra({"t.0.et": c.trace([], c.number(1, 3))}).refused(
        2, "t.0.et", "GlobalMetadata")


def kinds_of_nodes():
    for kind in (0, 11, -5):
        chakra(ranks([c.node(3, kind)])).refused(2, "node 3", "type")
    chakra(ranks([c.node(3, extra=c.number(12, 1))])).refused(
        2, "t.0.et", "field 12")
    chakra(ranks([c.node(3, 8, extra=c.text(11, c.number(1, 1)))])).refused(
        2, "t.0.et", "field 11")


def old_layout():
    old_attr = c.text(11, c.text(1, "comm_type") + c.number(2, 3) +
                      c.number(7, 1))
    old_node = c.number(1, 1) + c.text(2, "x") + c.number(3, 7) + old_attr
    old_head = c.text(1, c.text(1, "schema") + c.number(2, 4) +
                      c.text(8, "1.0.1"))
    chakra({"t.0.et": c.trace([old_node], old_head)}).refused(
        2, "t.0.et", "layout")
    chakra({"t.0.et": c.trace([old_node], b"")}).refused(
        2, "t.0.et", "layout")
    chakra({"t.0.et": c.trace([c.number(1, 1) + c.text(6, "inputs")], b"")}
           ).refused(2, "t.0.et", "layout")


def names_of_files():
    program = [all_reduce(1)]
    for names in (("a.0.et", "a.1.et"), ("rank-0.et", "rank-1.et"),
                  ("rank0.et", "RANK1.et"), ("m2_00_x", "m2_01_x"),
                  ("7.0", "7.1")):
        got = chakra(dict.fromkeys(names, program))
        t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)
    chakra({"a.0.et": program, "a.2.et": program}).refused(2, "rank 1")
    chakra({"a.0.et": program, "b.0.et": program}).refused(
        2, "b.0.et", "rank 0", "a.0.et")
    chakra({"resnet_2gpu_et": program}).refused(
        2, "resnet_2gpu_et", "no rank")
    chakra({"a.99999999999999999999.et": program}).refused(2, "rank")
    chakra({}, "t.0.et").refused(2, "t.0.et", "No such file")
    chakra({}, ".").refused(2)


# ---- options ----

def placement():
    files = everywhere(4, lambda r: [all_reduce()])
    for spec, nodes in ((None, [0, 1, 2, 3]), ("1", [0, 1, 2, 3]),
                        ("2", [0, 0, 1, 1]), ("block:3", [0, 0, 0, 1]),
                        ("cyclic:2", [0, 1, 0, 1]),
                        ("3,1,0,1", [3, 1, 0, 1])):
        got = chakra(files, *(["--placement", spec] if spec else []))
        t.check(got.schedule()["placement"] == nodes, got)
    for spec in ("", "0", "x", "block:", "block:0", "cyclic:0", "1,2,3",
                 "0,1,2,3,", "0,1,2,-3", "1.5", "0,1,2,99999999",
                 "0,1,2,3,4"):
        chakra(files, "--placement", spec).refused(2, "placement")


def options_without_meaning():
    files = everywhere(2, lambda r: [all_reduce()])
    chakra(files, "--ranks", "2").refused(2, "--ranks", "chakra")
    chakra(files, "--bytes", "8").refused(2, "--bytes", "chakra")
    t.run_import("nonsense", {"a.0": b""}).refused(2, "nonsense")


def many_nodes():
    """Long chains, many ready at once, and deps as wide: no recursion, no
    quadratic step."""
    n = 20000
    got = chakra(everywhere(2, lambda r: [
        all_reduce(i, 800, data=[i - 1] if i else []) for i in range(n)]))
    t.check(got.ops() == ["%d all_reduce bytes=800 groups=[[0,1]]" % n], got)
    got = chakra(everywhere(2, lambda r: [
        all_reduce(i, 800) for i in range(n)]))
    t.check(got.ops() == ["%d all_reduce bytes=800 groups=[[0,1]]" % n], got)
    got = chakra(everywhere(2, lambda r: [c.node(i) for i in range(n)] +
                            [all_reduce(n, data=range(n))]))
    t.check(got.ops() == ["1 all_reduce bytes=800 groups=[[0,1]]"], got)


def bomb():
    """A few bytes of gzip that stand for very many."""
    zeros = gzip.compress(c.trace([]) + struct.pack("8x") * (1 << 22))
    chakra({"t.0.et": zeros}).refused(2, "t.0.et")


if __name__ == "__main__":
    sys.exit(t.main([
        kinds, numbers, largest_size, missing_attributes, host_side,
        group_names, comm_group, groups_file, noted_groups, dimensions,
        order_by_dependencies, order_by_id, disjoint_groups_share,
        repeats_fold, long_groups, circles, deadlock, dangling, same_id_twice,
        disagreement, somebody_missing, transfers, depth_of_a_transfer,
        exchange_is_no_deadlock, transfers_that_do_not_match, no_traffic,
        nothing_at_all, compressed, damaged_gzip, truncated, lengths_that_lie,
        wrong_wire_types, kinds_of_nodes, old_layout, names_of_files,
        placement, options_without_meaning, many_nodes, bomb]))
