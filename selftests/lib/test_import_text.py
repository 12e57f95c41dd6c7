#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""lacec import of formats that are one text: matrix, goal, msccl."""

import gzip
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import importing as t  # noqa: E402

BIG = 1 << 53


def one(name, content, *args):
    return t.run_import(name, {"in.txt": content.encode()}, *args)


# ---- matrix ----

def matrix():
    got = one("matrix", "# sizes\n\n 1 2 3 # a\n4\t5 6\r\n7 8 0")
    t.check(got.ops() == ["1 all_to_allv groups=[[0,1,2]] "
                          "matrix=[[[1,2,3],[4,5,6],[7,8,0]]]"], got)
    got = t.run_import("matrix", {"m": gzip.compress(b"0 1\n%d 0" % BIG)})
    t.check(got.ops() == ["1 all_to_allv groups=[[0,1]] "
                          "matrix=[[[0,1],[%d,0]]]" % BIG], got)


def matrices_that_are_none():
    for text, word in (("0 1 2\n3 0 4\n", "2 rows, 3 columns"),
                       ("0 1\n2 3 4\n", ":2:"), ("0 1\n\n1 0\n0 0\n", ":4:"),
                       ("", "no rows"), ("# 1 2\n", "no rows"),
                       ("0 -1\n1 0", '"-1"'), ("0 1\n1.5 0", '"1.5"'),
                       ("0 1e3\n1 0", '"1e3"'), ("0 x\n1 0", '"x"'),
                       ("0 %d\n1 0" % (BIG + 1), ":1:"),
                       ("0 " + "9" * 99 + "\n1 0", ":1:"),
                       ("0 1\0\n1 0", ":1:")):
        one("matrix", text).refused(2, "in.txt", word)
    one("matrix", "5 0\n0 7\n").refused(1, "no communication")
    one("matrix", "3").refused(1, "no communication")
    t.run_import("matrix", {"a": b"0 1\n1 0", "b": b"0 1\n1 0"}).refused(
        2, "second file")


# ---- goal ----

def goal():
    got = one("goal", """num_ranks 3 // three
rank 2 { a: recv 5b from 1 tag 4 nic 1 cpu 2
  b: send 6b to 0
  b requires a }
rank 0 { x: send 9b to 1 /* over
two lines */ tag 1
 recv 6b from 2 }
rank 1 {
  send 5b to 2 tag 4
  recv 9b from 0 tag 1 c: calc 7 }
""")
    t.check(got.ops() == ["1 transfers 0>1:9 1>2:5", "1 transfers 2>0:6"],
            got)


def goal_starts():
    """irequires waits for a start, which costs no depth."""
    text = """num_ranks 2
rank 0 { %s a: send 1b to 1 b: send 2b to 1 }
rank 1 { recv 1b from 0 recv 2b from 0 }"""
    got = one("goal", text % "b irequires a")
    t.check(got.ops() == ["1 transfers 0>1:1 0>1:2"], got)
    got = one("goal", text % "b requires a")
    t.check(got.ops() == ["1 transfers 0>1:1", "1 transfers 0>1:2"], got)
    got = one("goal", text % "b requires nowhere")
    t.check(got.ops() == ["1 transfers 0>1:1 0>1:2"], got)
    t.check("warning: 1 dep" in got.errors, got)


def goal_that_is_none():
    for text, words in (
            ("", ["num_ranks"]), ("num_ranks", ["ends"]),
            ("num_ranks 0", ["no ranks"]), ("num_ranks -1", ["-1"]),
            ("num_ranks 99999999999", ["99999999999"]),
            ("num_ranks 1\nrank 1 { }", [":2:", "below num_ranks"]),
            ("num_ranks 1\nrank 0 {\n", ["ends"]),
            ("num_ranks 1\nrank 0 { /*", [":2:", "comment"]),
            ("num_ranks 1\nrank 0 { calc 1 } rank 0 { }", ["without"]),
            ("num_ranks 1 rank 0 { send 5 b }", ['"to"']),
            ("num_ranks 2 rank 0 { send 5b from 1 }", ['"to"']),
            ("num_ranks 2 rank 0 { send 5b to 2 }", ["rank below"]),
            ("num_ranks 2 rank 0 { recv 5b from any }", ["any rank"]),
            ("num_ranks 2 rank 0 { recv 5b from -1 }", ["any rank"]),
            ("num_ranks 2 rank 0 { recv 5b from 1 tag any }", ["any"]),
            ("num_ranks 2 rank 0 { recv 5b from 1 tag -1 }", ["any"]),
            ("num_ranks 2 rank 0 { send -5b to 1 }", ["-5b"]),
            ("num_ranks 2 rank 0 { send %db to 1 }" % (BIG + 1), ["size"]),
            ("num_ranks 2 rank 0 { a: a: calc 1 }", ['"a"']),
            ("num_ranks 2 rank 0 { a: calc 1\na: calc 2 }", [":2:", "taken"]),
            ("num_ranks 2 rank 0 { b requires a a: calc 1 }", ['"b"']),
            ("num_ranks 2 rank 0 { a requires }", ["label"]),
            ("num_ranks 2 rank 0 { a: calc 1\na requires a }", ["cycl"]),
            ("num_ranks 2 rank 0 { jump 5 }", ['":"']),
            ("num_ranks 2 rank 0 { ; }", ['";"']),
            ("num_ranks 2 rank 0 {\n send 5b to 1 }",
             ["1 sends and 0 receives"]),
            ("num_ranks 2\nrank 0 {\nsend 5b to 1 }\nrank 1 { recv 6b from 0 }",
             [":3:", "5 bytes", "receives 6"])):
        one("goal", text).refused(2, "in.txt", *words)
    one("goal", "num_ranks 4").refused(1, "no communication")


# ---- msccl ----

def algo(*gpus, head='ngpus="3" nchunksperloop="4"'):
    return "<algo name='x' %s>\n%s\n</algo>" % (head, "\n".join(gpus))


def gpu(number, *tbs):
    return "<gpu id='%d'>%s</gpu>" % (number, "".join(tbs))


def tb(number, send, recv, *steps, chan=0):
    return "<tb id='%d' send='%d' recv='%d' chan='%d'>\n%s</tb>" % (
        number, send, recv, chan, "\n".join(
            "<step s='%d' type='%s' cnt='%d' depid='%d' deps='%d'/>" %
            ((i,) + s + (-1, -1)[len(s) - 2:]) for i, s in enumerate(steps)))


def msccl():
    """A step that receives and sends passes on in one op less."""
    for kind in ("rcs", "rrs", "rrcs"):
        got = one("msccl", algo(
            gpu(0, tb(0, 1, -1, ("s", 3))),
            gpu(1, tb(0, 2, 0, (kind, 3))),
            gpu(2, tb(0, -1, 1, ("rrc", 3), ("nop", 1)))), "--bytes", "400")
        t.check(got.ops() == ["1 transfers 0>1:300", "1 transfers 1>2:300"],
                got)


def msccl_depends():
    """A step may wait for a thread block that comes later."""
    for dep, count in (((1, 0), 2), ((-1, -1), 1)):
        got = one("msccl", algo(
            gpu(0, tb(0, 1, -1, ("s", 1) + dep), tb(1, -1, 2, ("r", 1))),
            gpu(1, tb(0, -1, 0, ("r", 1))),
            gpu(2, tb(5, 0, -1, ("s", 1)))), "--bytes", "4")
        t.check(len(got.ops()) == count, got)


def msccl_channels():
    """Two channels between the same GPUs do not mix."""
    got = one("msccl", algo(
        gpu(0, tb(0, 1, -1, ("s", 1), chan=0), tb(1, 1, -1, ("s", 2), chan=1)),
        gpu(1, tb(0, -1, 0, ("r", 2), chan=1), tb(1, -1, 0, ("r", 1)))),
        "--bytes", "4")
    t.check(got.ops() == ["1 transfers 0>1:1 0>1:2"], got)


def msccl_bytes():
    pair = (gpu(0, tb(0, 1, -1, ("s", 1))), gpu(1, tb(0, -1, 0, ("r", 1))))
    limits = 'ngpus="2" nchunksperloop="4" minBytes="8" maxBytes="16"'
    for size, words in ((None, ["bytes"]), ("4", ["minBytes"]),
                        ("20", ["maxBytes"]), ("10", ["nchunksperloop"])):
        one("msccl", algo(*pair, head=limits),
            *(["--bytes", size] if size else [])).refused(2, *words)
    for size in ("8", "16"):
        t.check(one("msccl", algo(*pair, head=limits), "--bytes", size).ops() ==
                ["1 transfers 0>1:%d" % (int(size) // 4)])
    unlimited = 'ngpus="2" nchunksperloop="4" minBytes="0" maxBytes="0"'
    t.check(one("msccl", algo(*pair, head=unlimited), "--bytes", "4").ops())


def msccl_that_is_none():
    send = ("s", 1)
    for text, words in (
            ("", ["not XML"]), ("<algo", ["not XML"]), ("hello", ["not XML"]),
            ("<gpu/>", ["<gpu>", "<algo>"]),
            (algo(head='nchunksperloop="4"'), ["ngpus"]),
            (algo(head='ngpus="3"'), ["nchunksperloop"]),
            (algo(head='ngpus="0" nchunksperloop="4"'), ["ngpus is 0"]),
            (algo(head='ngpus="3" nchunksperloop="0"'), ["is 0"]),
            (algo(head='ngpus="-3" nchunksperloop="4"'), ["-3"]),
            (algo("<tb/>"), [":2:", "<tb>", "<gpu>"]),
            (algo("<gpu/>"), [":2:", "gpu without id"]),
            (algo(gpu(3)), ["id", '"3"']),
            (algo(gpu(0, tb(0, 1, -1, send)), gpu(0)), ["second gpu"]),
            (algo(gpu(0, tb(0, 1, -1, send), tb(0, 2, -1, send))), ["two tb"]),
            (algo(gpu(0, tb(0, 9, -1, send))), ['"9"']),
            (algo(gpu(0, tb(0, -1, 1, send))), ["has no send"]),
            (algo(gpu(0, tb(0, 1, -1, ("r", 1)))), ["has no recv"]),
            (algo(gpu(0, tb(0, 1, -1, ("zz", 1)))), ["zz"]),
            (algo(gpu(0, tb(0, 1, -1, ("s", -1)))), ['"-1"']),
            (algo(gpu(0, tb(0, 1, -1, ("s", BIG)))), ["out of range"]),
            (algo(gpu(0, tb(0, 1, -1, ("s", 1, 0, 7)))), ["step 7"]),
            (algo(gpu(0, tb(0, 1, -1, ("s", 1, 4, 0)))), ["tb 4"]),
            (algo(gpu(0, tb(0, 1, -1, ("s", 1, 0, 0)))), ["cycl"]),
            (algo("<gpu id='0'><tb id='0' send='1'><step s='1' type='s' "
                  "cnt='1'/></tb></gpu>"), ["step 0 is due"]),
            (algo(gpu(0, tb(0, 1, -1, send))), ["1 sends and 0 receives"]),
            ("<!DOCTYPE algo [<!ENTITY a 'b'>]>" + algo(),
             ["document type"]),
            (algo() + algo(), ["not XML"])):
        one("msccl", text, "--bytes", "400").refused(2, "in.txt", *words)
    one("msccl", algo(), "--bytes", "400").refused(1, "no communication")


if __name__ == "__main__":
    sys.exit(t.main([
        matrix, matrices_that_are_none, goal, goal_starts, goal_that_is_none,
        msccl, msccl_depends, msccl_channels, msccl_bytes,
        msccl_that_is_none]))
