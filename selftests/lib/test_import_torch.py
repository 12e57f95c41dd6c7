#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""lacec import of what PyTorch records: pytorch (execution traces), kineto
(profiles)."""

import gzip
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import importing as t  # noqa: E402

BIG = 1 << 53


def dump(files):
    return {name: value if isinstance(value, bytes) else
            json.dumps(value).encode() for name, value in files.items()}


def pytorch(files, *args):
    return t.run_import("pytorch", dump(files), *args)


def kineto(files, *args):
    return t.run_import("kineto", dump(files), *args)


# ---- execution traces ----

def tensor(elements, size=4):
    return [7, 8, 0, elements, size, "cuda:0"]


def old(ident, name, elements=0, slot=0, splits=((), ()), behind=(),
        tensors=None, out=0):
    """A node of schema 1.0.1: all by place."""
    values = [ident, 140000000, slot, name, list(splits[0]), list(splits[1])]
    if name not in ("wait", "barrier"):
        values.insert(0, tensors or tensor(elements))
    return {"name": "record_param_comms", "id": ident,
            "inputs": values + list(behind), "outputs": [tensor(out)]}


def new(ident, name, elements=0, group="0", size=None, slot=0, dtype="Float",
        splits=((), ()), out=0):
    """A node of schema 1.1: by attributes, but for the rank's slot."""
    attrs = {"collective_name": name, "dtype": dtype,
             "in_msg_nelems": elements, "out_msg_nelems": out,
             "in_split_size": str(list(splits[0])),
             "out_split_size": str(list(splits[1])), "pg_name": group}
    if size is not None:
        attrs["pg_size"] = size
    return {"name": "record_param_comms", "id": ident,
            "inputs": {"values": [tensor(1), ident, [group, ""], slot, name,
                                  [], [], -1, -1, size or -1]},
            "attrs": [{"name": k, "type": "", "value": v}
                      for k, v in attrs.items()]}


def init(groups, ident=1):
    text = json.dumps([{"pg_name": name, "ranks": ranks}
                       for name, ranks in groups.items()])
    return {"name": "## process_group:init ##", "id": ident,
            "inputs": {"values": [text]}}


def trace(*nodes, schema="1.1.0-chakra.0.0.4"):
    return {"schema": schema, "nodes": list(nodes)}


def old_trace(*nodes):
    return trace(*nodes, schema="1.0.1")


def everywhere(nr, make):
    return {"rank-%d.json" % r: make(r) for r in range(nr)}


def names_of_calls():
    for name, kind, factor in (
            ("allreduce", "all_reduce", 1), ("broadcast", "broadcast", 1),
            ("reduce", "reduce", 1), ("reduce_scatter", "reduce_scatter", 1),
            ("_reduce_scatter_base", "reduce_scatter", 1),
            ("all_gather", "all_gather", 2), ("_allgather_base", "all_gather",
                                              2),
            ("all_gather_into_tensor_coalesced", "all_gather", 2),
            ("all_to_all", "all_to_all", 1), ("all_to_allv", "all_to_all", 1)):
        for make in (lambda r, n=name: trace(new(5, n, 100)),
                     lambda r, n=name: old_trace(old(5, n, 100))):
            got = pytorch(everywhere(2, make))
            t.check(got.ops() == ["1 %s bytes=%d groups=[[0,1]]" %
                                  (kind, 400 * factor)], got)
    for bad in ("gather", "scatter", "dance", ""):
        pytorch(everywhere(2, lambda r, n=bad: old_trace(old(5, n, 100)))
                ).refused(2, "rank-0.json", "node 5", "collective")


def types():
    for name, size in (("Half", 2), ("BFloat16", 2), ("Double", 8),
                       ("Long", 8), ("Int", 4), ("Byte", 1), ("Bool", 1),
                       ("Float8_e4m3fn", 1), ("ComplexDouble", 16)):
        got = pytorch(everywhere(2, lambda r, n=name: trace(
            new(5, "allreduce", 10, dtype=n))))
        t.check(got.ops() == ["1 all_reduce bytes=%d groups=[[0,1]]" %
                              (10 * size)], got)
    pytorch(everywhere(2, lambda r: trace(new(5, "allreduce", 10,
                                              dtype="Odd")))).refused(
        2, "node 5", "dtype", "Odd")


def sizes():
    several = [tensor(10), tensor(5, 8)]
    got = pytorch(everywhere(2, lambda r: old_trace(
        old(5, "allreduce", tensors=several))))
    t.check(got.ops() == ["1 all_reduce bytes=80 groups=[[0,1]]"], got)
    for bad in (-1, BIG, 1.5, "7", None):
        pytorch(everywhere(2, lambda r, n=bad: old_trace(
            old(5, "allreduce", n)))).refused(2, "node 5")
        pytorch(everywhere(2, lambda r, n=bad: trace(
            new(5, "allreduce", n)))).refused(2, "node 5")
    pytorch(everywhere(2, lambda r: trace(
        new(5, "_allgather_base", BIG // 4)))).refused(2, "node 5")


def order_is_that_of_ids():
    """Over all threads, whatever the place in the file."""
    got = pytorch(everywhere(2, lambda r: trace(
        new(9, "allreduce", 3), new(5, "allreduce", 1),
        new(7, "allreduce", 2))))
    t.check([op.split()[2] for op in got.ops()] ==
            ["bytes=4", "bytes=8", "bytes=12"], got)
    pytorch(everywhere(2, lambda r: trace(
        new(5, "allreduce", 3), new(5, "allreduce", 1)))).refused(
        2, "node 5", "two nodes")


def batches():
    """Sends and receives are concurrent until a wait or a collective."""
    def program(rank, *between):
        other = 1 - rank
        return trace(new(1, "send", 1, slot=other), *between,
                     new(3, "recv", 1, slot=other),
                     new(4, "allreduce", 1))
    got = pytorch(everywhere(2, program))
    t.check(got.ops() == ["1 transfers 0>1:4 1>0:4",
                          "1 all_reduce bytes=4 groups=[[0,1]]"], got)
    got = pytorch(everywhere(2, lambda r: trace(
        new(1, "send", 1, slot=1 - r), new(2, "recv", 1, slot=1 - r),
        new(3, "wait"), new(4, "send", 2, slot=1 - r),
        new(5, "recv", 2, slot=1 - r))))
    t.check(got.ops() == ["1 transfers 0>1:4 1>0:4",
                          "1 transfers 0>1:8 1>0:8"], got)


def peers_in_groups():
    groups = {"a": [1, 3], "b": [0, 2]}
    got = pytorch(everywhere(4, lambda r: trace(
        init(groups), new(5, "send" if r < 2 else "recv", 1,
                          "a" if r % 2 else "b", 2, slot=int(r < 2)))))
    t.check(got.ops() == ["1 transfers 0>2:4 1>3:4"], got)
    for slot in (2, -1):
        pytorch(everywhere(4, lambda r, s=slot: trace(
            init(groups), new(5, "send", 1, "a" if r % 2 else "b", 2,
                              slot=s)))).refused(2, "node 5", "peer")


def roots():
    got = pytorch(everywhere(3, lambda r: trace(
        new(5, "broadcast", 1, slot=2))))
    t.check(got.ops() == ["1 broadcast bytes=4 root=2 groups=[[0,1,2]]"], got)
    pytorch(everywhere(3, lambda r: trace(
        new(5, "reduce", 1, slot=3)))).refused(2, "node 5", "root 3")


def which_ranks():
    """By name, by start and stride, by size; else refused."""
    got = pytorch(everywhere(4, lambda r: trace(
        init({"x": [0, 3], "y": [1, 2]}),
        new(5, "allreduce", 1, "x" if r in (0, 3) else "y", 2))))
    t.check(got.ops() == ["1 all_reduce bytes=4 groups=[[0,3],[1,2]]"], got)
    got = pytorch(everywhere(4, lambda r: old_trace(
        old(5, "allreduce", 1, behind=(r % 2, 2, 2)))))
    t.check(got.ops() == ["1 all_reduce bytes=4 groups=[[0,2],[1,3]]"], got)
    got = pytorch(everywhere(4, lambda r: old_trace(
        old(5, "allreduce", 1, behind=(4,)))))
    t.check(got.ops() == ["1 all_reduce bytes=4 groups=[[0,1,2,3]]"], got)
    pytorch(everywhere(4, lambda r: old_trace(
        old(5, "allreduce", 1, behind=(2,))))).refused(2, "node 5", "ranks")
    pytorch(everywhere(4, lambda r: trace(
        init({"x": [0, 1, 2]}), new(5, "allreduce", 1, "x", 2)))).refused(
        2, "node 5", "3 ranks")


def splits():
    rows = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]

    def program(r, make, row=None):
        column = [line[r] for line in rows]
        return make(5, "all_to_allv", 2 * sum(rows[r]),
                    splits=(row or rows[r], column), out=2 * sum(column))
    want = ["1 all_to_allv groups=[[0,1,2]] matrix=[[[8,16,24],[32,40,48],"
            "[56,64,72]]]"]
    got = pytorch(everywhere(3, lambda r: trace(program(r, new))))
    t.check(got.ops() == want, got)
    got = pytorch(everywhere(3, lambda r: old_trace(program(r, old))))
    t.check(got.ops() == want, got)
    pytorch(everywhere(3, lambda r: trace(program(
        r, new, [2, 1, 3] if r == 0 else None)))).refused(2, "expects")
    pytorch(everywhere(3, lambda r: trace(program(
        r, new, [1, 2, 4] if r == 0 else None)))).refused(2, "divide")
    pytorch(everywhere(3, lambda r: trace(program(
        r, new, [3, 3] if r == 0 else None)))).refused(2, "splits")
    files = everywhere(3, lambda r: trace(program(r, new)))
    del files["rank-1.json"]
    pytorch(files).refused(2, "every member", "rank 1")


def missing_ranks():
    """They do what the others do, and send what the others receive."""
    got = pytorch({"rank-1.json": trace(
        init({"w": [], "p": [1, 2]}), new(5, "allreduce", 1, "w", 4),
        new(6, "send", 2, "p", 2, slot=1))})
    t.check(got.ops() == ["1 all_reduce bytes=4 groups=[[0,1,2,3]]",
                          "1 transfers 1>2:8"], got)
    t.check("warning: 3 of 4 ranks" in got.errors, got)
    got = pytorch({"trace.json": old_trace(old(5, "allreduce", 1,
                                               behind=(2,)))})
    t.check(got.ops() == ["1 all_reduce bytes=4 groups=[[0,1]]"], got)
    pytorch({"a.json": trace(), "b.json": trace()}).refused(2, "no rank")
    pytorch({"a0.json": trace(), "rank-0.json": trace(),
             "x-0.json": trace()}).refused(2, "rank")


def traces_that_are_none():
    for bad, word in ((b"", "JSON"), (b"{", "JSON"), ([], "schema"), ({}, ""),
                      ({"schema": "1.1.0"}, "nodes"),
                      ({"schema": 5, "nodes": []}, "schema"),
                      (trace(schema="1.0.0"), "schema"),
                      (trace(schema="1.2.0"), "schema"),
                      (trace(schema="2"), "schema"),
                      (trace({"name": "record_param_comms"}), "id"),
                      (trace({"name": "record_param_comms", "id": -1}), "id"),
                      (trace({"name": "record_param_comms", "id": 3}), "name"),
                      (trace(init({"a": [-1]})), "rank -1"),
                      (trace(init({"a": [1 << 40]})), "rank"),
                      (trace(new(5, "allreduce", 1, size=1 << 40)), "ranks"),
                      ({"schema": "1.1.0", "nodes": [3, None, [], {"name": 1}]},
                       "")):
        pytorch({"rank-0.json": bad}).refused((1, 2), word)
    huge = json.dumps(trace(new(5, "allreduce", 1, size=2), {
        "name": "x", "id": (1 << 64) - 1})).encode()
    t.check(pytorch({"rank-0.json.gz": gzip.compress(huge)}).ops())


# ---- profiles ----

def event(name, ts, dur=5, elements=100, kernel=True, ranks="[0, 1]", size=2,
          group="g", dtype="Float", **more):
    args = {"Collective name": name, "In msg nelems": elements,
            "Out msg nelems": elements, "Group size": size, "dtype": dtype,
            "In split size": "[]", "Out split size": "[]",
            "Process Group Name": group, "Process Group Ranks": ranks}
    args.update({k.replace("_", " "): v for k, v in more.items()})
    args = {k: v for k, v in args.items() if v is not None}
    return {"ph": "X", "cat": "kernel" if kernel else "cpu_op", "ts": ts,
            "dur": dur, "args": args,
            "name": "ncclDevKernel_X" if kernel else "record_param_comms"}


def profile(rank, *events, **info):
    known = dict({"rank": rank, "world_size": 2}, **info)
    return {"distributedInfo": known, "traceEvents": list(events)}


def order_of_time():
    got = kineto({"a.json": profile(0, event("allreduce", 20, elements=2),
                                    event("allreduce", 10, elements=1)),
                  "b.json": profile(1, event("allreduce", 5, elements=1),
                                    event("allreduce", 6, elements=2))})
    t.check([op.split()[2] for op in got.ops()] == ["bytes=4", "bytes=8"], got)


def overlaps():
    """In a run of transfers, one waits for those that ended before it."""
    def program(r, second):
        peer = {"Dst_Rank": 1} if r == 0 else {"Src_Rank": 0}
        kind = "send" if r == 0 else "recv"
        return profile(r, event(kind, 10, elements=1, **peer),
                       event(kind, second, elements=2, **peer),
                       event("allreduce", 90))
    for second, ops in ((12, 1), (15, 2), (40, 2)):
        got = kineto({"%d.json" % r: program(r, second) for r in range(2)})
        t.check(len(got.ops()) == ops + 1 and "all_reduce" in got.ops()[-1],
                got)
    # No time at all: they cannot wait for each other.
    got = kineto({"%d.json" % r: profile(r, *[event(
        "send" if r == 0 else "recv", 10, 0, 1, Dst_Rank=1, Src_Rank=0)] * 3)
        for r in range(2)})
    t.check(sum(int(op.split()[0]) for op in got.ops()) == 3, got)


def which_events():
    """Kernels that say what they do, or else what the host says."""
    host = event("allreduce", 1, kernel=False, elements=7)
    bare = {"cat": "kernel", "name": "ncclKernel_X", "ts": 3, "dur": 1,
            "args": {}}
    named = event("allreduce", 4, elements=5)
    got = kineto({"0.json": profile(0, host, named)})
    t.check(got.ops() == ["1 all_reduce bytes=20 groups=[[0,1]]"], got)
    got = kineto({"0.json": profile(0, host, bare)})
    t.check(got.ops() == ["1 all_reduce bytes=28 groups=[[0,1]]"], got)
    kineto({"0.json": profile(0, bare)}).refused(2, "0.json",
                                                 "Collective name")
    kineto({"0.json": profile(0, bare, named)}).refused(2, "event 0")
    kineto({"0.json": profile(0)}).refused(1, "no communication")


def ranks_cut_short():
    cut = {"ranks": "[0, 1, ...]", "group": "w", "size": 4}
    config = {"pg_config": [{"pg_name": "w", "ranks": [0, 1, 2, 3]},
                            {"pg_name": "v", "ranks": "[0, ...]"}]}
    got = kineto({"0.json": profile(0, event("allreduce", 1, **cut),
                                    **config)})
    t.check(got.ops() == ["1 all_reduce bytes=400 groups=[[0,1,2,3]]"], got)
    got = kineto({"0.json": profile(0, event(
        "allreduce", 1, Global_rank_start=0, Global_rank_stride=2, **cut))})
    t.check(got.ops() == ["1 all_reduce bytes=400 groups=[[0,2,4,6]]"], got)
    kineto({"0.json": profile(0, event("allreduce", 1, **cut))}).refused(
        2, "call 0", "ranks")
    kineto({"0.json": profile(0, event("allreduce", 1, size=3))}).refused(
        2, "call 0", "2 ranks")


def roots_and_peers():
    got = kineto({"0.json": profile(0, event("broadcast", 1, Rank=1),
                                    event("reduce", 9),
                                    event("send", 20, Dst_Rank=1))})
    t.check(got.ops() == ["1 broadcast bytes=400 root=1 groups=[[0,1]]",
                          "1 reduce bytes=400 groups=[[0,1]]",
                          "1 transfers 0>1:400"], got)
    kineto({"0.json": profile(0, event("broadcast", 1, Rank=2))}).refused(
        2, "root 2")
    kineto({"0.json": profile(0, event("send", 1))}).refused(2, "no peer")


def which_rank():
    named = event("allreduce", 4, elements=5)
    files = {"t_0.json": {"traceEvents": [named]},
             "t_1.json": {"traceEvents": [named]}}
    t.check(kineto(files).ops())
    kineto({"x.json": {"traceEvents": [named]}}).refused(2, "x.json", "rank")
    kineto({"x.json": profile(0, named), "y.json": profile(0, named)}
           ).refused(2, "y.json", "rank 0", "x.json")


def profiles_that_are_none():
    for bad, word in ((b"", "JSON"), ({}, "traceEvents"),
                      (profile(0, event("dance", 1)), "dance"),
                      (profile(0, event("allreduce", None)), "ts"),
                      (profile(0, event("allreduce", 1, -5)), "dur"),
                      (profile(0, event("allreduce", 1, elements=-5)), "In"),
                      (profile(0, event("allreduce", 1, elements=BIG)), "In"),
                      (profile(0, event("allreduce", 1, elements=None)), "In"),
                      (profile(0, event("allreduce", 1, dtype=None)), "dtype"),
                      (profile(0, event("allreduce", 1, ranks="[1, 1]")),
                       "twice"),
                      (profile(0, event("allreduce", 1, ranks="[0, %d]" %
                                        (1 << 40))), "large"),
                      (profile(0, event("all_to_allv", 1,
                                        In_split_size="[1, ...]")), "split"),
                      (profile(0, event("allreduce", 1, ranks="[1, 2]")),
                       "not in")):
        kineto({"0.json": bad}).refused(2, "0.json", word)


if __name__ == "__main__":
    sys.exit(t.main([
        names_of_calls, types, sizes, order_is_that_of_ids, batches,
        peers_in_groups, roots, which_ranks, splits, missing_ranks,
        traces_that_are_none, order_of_time, overlaps, which_events,
        ranks_cut_short, roots_and_peers, which_rank,
        profiles_that_are_none]))
