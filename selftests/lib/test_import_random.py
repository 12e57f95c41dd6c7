#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
"""lacec import of random traces, against the rules written down plainly.

What becomes of a trace is in Documentation/import.rst. Here it is worked out
again with no thought for speed: repeated passes in place of heaps and queues,
all pairs in place of sorting. Half the traces have ids that run against the
order in which they were made, so many contradict themselves: those must be
refused, and no others.
"""

import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import chakra as c  # noqa: E402
import importing as t  # noqa: E402

ROUNDS = 40
KINDS = {c.ALL_REDUCE: "all_reduce", c.REDUCE_SCATTER: "reduce_scatter",
         c.ALL_GATHER: "all_gather", c.BROADCAST: "broadcast",
         c.ALL_TO_ALL: "all_to_all", c.BARRIER: "barrier"}
ORDER = ["all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce",
         "all_to_all"]


class Refused(Exception):
    """The trace contradicts itself."""


class Node:
    """A node: what it does, and the nodes of its rank that it waits for."""

    def __init__(self, rank, call):
        self.rank = rank
        self.call = call        # (kind, ...) or None
        self.ident = None
        self.waits = []


def make(rng):
    """Programs of ranks, made call by call over all ranks."""
    nr = rng.randint(2, 5)
    groups = {"g%d" % g: sorted(rng.sample(range(nr), rng.randint(1, nr)))
              for g in range(3)}
    ranks = [[] for _ in range(nr)]

    def add(rank, call):
        node = Node(rank, call)
        earlier = ranks[rank][-4:]
        node.waits = rng.sample(earlier, min(len(earlier), rng.randint(0, 2)))
        ranks[rank].append(node)

    for _ in range(rng.randint(1, 14)):
        what = rng.random()
        size = rng.choice([0, 8, 8, 16])
        if what < 0.5:
            name = rng.choice(sorted(groups))
            kind = rng.choice(sorted(KINDS))
            for rank in groups[name]:
                add(rank, ("coll", kind, name, size))
        elif what < 0.8:
            src, dst = rng.randrange(nr), rng.randrange(nr)
            tag = rng.randint(0, 1)
            add(src, ("send", dst, tag, size))
            add(dst, ("recv", src, tag, size))
        else:
            add(rng.randrange(nr), None)
    shuffled = rng.random() < 0.5
    for nodes in ranks:
        ids = rng.sample(range(100), len(nodes))
        for node, ident in zip(nodes, ids if shuffled else sorted(ids)):
            node.ident = ident
    return groups, ranks


def files_of(groups, ranks, rng):
    files = {"groups.json": json.dumps(groups).encode()}
    for rank, nodes in enumerate(ranks):
        out = []
        for node in nodes:
            data = [w.ident for w in node.waits]
            if node.call is None:
                out.append(c.node(node.ident, data=data))
            elif node.call[0] == "coll":
                out.append(c.collective(node.ident, node.call[1],
                                        node.call[3], node.call[2], data))
            else:
                way = c.send if node.call[0] == "send" else c.recv
                out.append(way(node.ident, node.call[1], node.call[3],
                               node.call[2], data))
        rng.shuffle(out)
        files["t.%d.et" % rank] = c.trace(out)
    return files


# ---- the rules ----

def in_order(nodes):
    left, done = sorted(nodes, key=lambda n: n.ident), []
    while left:
        ready = [n for n in left if not any(w in left for w in n.waits)]
        done.append(ready[0])
        left.remove(ready[0])
    return done


class Vertex:
    """A collective, a send, a receive, or a node that does nothing."""

    def __init__(self, nodes, traffic=False, after=None):
        self.nodes = nodes
        self.traffic = traffic
        self.after = after      # a receive: its send
        self.depth = None


def moves(kind, size, group):
    return size > 0 and KINDS[kind] != "barrier" and len(group) > 1


def match_collectives(groups, ordered):
    found = []
    for name in sorted(groups):
        queues = [[n for n in ordered[rank] if n.call and
                   n.call[0] == "coll" and n.call[2] == name]
                  for rank in groups[name]]
        if len({len(q) for q in queues}) > 1:
            raise Refused
        for members in zip(*queues):
            calls = {(n.call[1], 0 if n.call[1] == c.BARRIER else n.call[3])
                     for n in members}
            if len(calls) > 1:
                raise Refused
            (kind, size), = calls
            found.append((Vertex(members, moves(kind, size, groups[name])),
                          kind, size, groups[name]))
    return found


def match_transfers(ordered):
    queues = {}
    for rank, nodes in enumerate(ordered):
        for n in nodes:
            if n.call and n.call[0] != "coll":
                ends = (rank, n.call[1]) if n.call[0] == "send" else \
                    (n.call[1], rank)
                queues.setdefault(ends + (n.call[2],), {"send": [], "recv":
                                                        []}
                                  )[n.call[0]].append(n)
    found = []
    for (src, dst, _), queue in sorted(queues.items()):
        if len(queue["send"]) != len(queue["recv"]):
            raise Refused
        for send, recv in zip(queue["send"], queue["recv"]):
            if send.call[3] != recv.call[3]:
                raise Refused
            traffic = send.call[3] > 0 and src != dst
            first = Vertex((send,), traffic)
            found.append((first, Vertex((recv,), traffic, first), src, dst,
                          send.call[3]))
    return found


def find_depths(vertices):
    of_node = {n: v for v in vertices for n in v.nodes}
    before = {v: [(of_node[w], of_node[w].traffic) for n in v.nodes
                  for w in n.waits] + ([(v.after, 0)] if v.after else [])
              for v in vertices}
    left = list(vertices)
    while left:
        ready = [v for v in left
                 if all(b.depth is not None for b, _ in before[v])]
        if not ready:
            raise Refused
        for v in ready:
            v.depth = max([b.depth + w for b, w in before[v]] or [0])
            left.remove(v)


def expected(groups, ranks):
    ordered = [in_order(nodes) for nodes in ranks]
    collectives = match_collectives(groups, ordered)
    transfers = match_transfers(ordered)
    idle = [Vertex((n,)) for nodes in ranks for n in nodes if not n.call]
    find_depths([x[0] for x in collectives] + idle +
                [v for x in transfers for v in x[:2]])
    ops = []
    depths = {x[0].depth for x in collectives + transfers if x[0].traffic}
    for depth in sorted(depths):
        here = sorted((ORDER.index(KINDS[kind]),
                       size * (len(group) if kind == c.ALL_GATHER else 1),
                       group) for v, kind, size, group in collectives
                      if v.traffic and v.depth == depth)
        opened = []
        for kind, size, group in here:
            for op in opened:
                if op[:2] == [kind, size] and not any(
                        set(group) & set(other) for other in op[2]):
                    op[2].append(group)
                    break
            else:
                opened.append([kind, size, [group]])
        ops += ["%s bytes=%d groups=%s" % (ORDER[k], s, t.compact(g))
                for k, s, g in opened]
        sent = sorted((src, dst, size) for v, _, src, dst, size in transfers
                      if v.traffic and v.depth == depth)
        if sent:
            ops.append("transfers " + " ".join("%d>%d:%d" % x for x in sent))
    return ops


def unfolded(got):
    return [text for repeat, text in (op.split(" ", 1) for op in got.ops())
            for _ in range(int(repeat))]


def random_traces(seed):
    rng = random.Random(seed)
    accepted = refused = 0
    for number in range(ROUNDS):
        groups, ranks = make(rng)
        files = files_of(groups, ranks, rng)
        got = t.run_import("chakra", files, "--groups", "groups.json")
        where = "seed %d, trace %d: %s" % (seed, number, got)
        try:
            want = expected(groups, ranks)
        except Refused:
            refused += 1
            t.check(got.status == 2, where)
            continue
        accepted += 1
        if not want:
            t.check(got.status == 1, where)
            continue
        t.check(got.status == 0, where)
        t.check(unfolded(got) == want, "%s\nwant %s" % (where, want))
    t.check(accepted and refused, "only one outcome")


def seeds_0_to_3():
    for seed in range(4):
        random_traces(seed)


def seeds_4_to_7():
    for seed in range(4, 8):
        random_traces(seed)


if __name__ == "__main__":
    sys.exit(t.main([seeds_0_to_3, seeds_4_to_7]))
