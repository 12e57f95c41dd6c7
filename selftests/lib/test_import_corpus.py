#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
"""Run lacec import on every case of a corpus and compare with its answer.

    LACE_CORPUS=FOLDER selftests/lib/test_import_corpus.py [FORMAT[/CASE]]...

FOLDER/FORMAT/CASE.expect.json says what is to come out of `lacec import' and,
for good input, of `lacec matrix' on the result; FOLDER's own README tells the
fields. Formats that this lacec does not have are skipped by name. Without
LACE_CORPUS there is nothing to test.
"""

import glob
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

LACEC = os.environ.get("LACEC") or os.path.join(
    os.environ.get("LACE_BUILD", "build"), "tools", "lacec")
LONGEST = 512
TOLERANCE = 1e-6


class Wrong(Exception):
    """The answer is not the expected one."""


def check(condition, text):
    if not condition:
        raise Wrong(text)


def run(args, folder):
    """Exit status, standard output, standard error of lacec."""
    done = subprocess.run([os.path.abspath(LACEC)] + args, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def read_text(path):
    with open(path, "rb") as file:
        data = file.read()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


# ---- schedules as lines, the way the corpus writes them ----

def ranks_of(group):
    if isinstance(group, list):
        return group
    return [group["first"] + i * group.get("stride", 1)
            for i in range(group["count"])]


def groups_text(groups):
    compact = json.dumps(groups, separators=(",", ":"))
    if sum(len(g) for g in groups) <= LONGEST:
        return "groups=" + compact
    return "groups=%dx%d first=%s sha256=%s" % (
        len(groups), len(groups[0]),
        json.dumps(groups[0], separators=(",", ":")),
        hashlib.sha256(compact.encode()).hexdigest())


def op_text(op):
    check(len(op["parts"]) == 1, "op %s has %d parts" %
          (op["name"], len(op["parts"])))
    part = op["parts"][0]
    if "transfers" in part:
        return "transfers " + " ".join("%d>%d:%d" % tuple(t)
                                       for t in part["transfers"])
    words = [part["collective"]]
    if part["collective"] != "all_to_allv":
        words.append("bytes=%d" % part["bytes"])
    if part["collective"] in ("broadcast", "reduce"):
        words.append("root=%d" % part.get("root", 0))
    words.append(groups_text([ranks_of(g) for g in part["groups"]]))
    if part["collective"] == "all_to_allv":
        words.append("matrix=" + json.dumps(part["matrix"],
                                            separators=(",", ":")))
    return " ".join(words)


def sequence(schedule):
    """[repeat, text] of each op, neighbours folded."""
    lines = []
    for op in schedule["ops"]:
        text = op_text(op)
        if lines and lines[-1][1] == text:
            lines[-1][0] += op.get("repeat", 1)
        else:
            lines.append([op.get("repeat", 1), text])
    return lines


def count_instances(schedule):
    counts = {}
    for op in schedule["ops"]:
        for part in op["parts"]:
            kind = "transfers" if "transfers" in part else part["collective"]
            nr = len(part["transfers"] if "transfers" in part
                     else part["groups"])
            counts[kind] = counts.get(kind, 0) + nr * op.get("repeat", 1)
    return counts


# ---- comparing ----

def compare_sequence(schedule, path):
    want = [line.split(" ", 1) for line in read_text(path).splitlines()]
    want = [[int(repeat), text] for repeat, text in want]
    got = sequence(schedule)
    for i, (a, b) in enumerate(zip(want, got)):
        check(a == b, "op %d: want %s, got %s" % (i, a, b))
    check(len(want) == len(got), "%d ops, want %d" % (len(got), len(want)))


def close(a, b):
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def compare_matrix(text, path):
    want = [line.split() for line in read_text(path).splitlines()]
    got = [line.split() for line in text.splitlines()]
    check(len(want) == len(got), "matrix of %d rows, want %d" %
          (len(got), len(want)))
    for i, (a, b) in enumerate(zip(want, got)):
        check(len(a) == len(b) and all(close(float(x), float(y))
                                       for x, y in zip(a, b)),
              "matrix row %d: want %s, got %s" % (i, a[:8], b[:8]))


def compare_edges(text, path):
    want = {}
    for line in read_text(path).splitlines():
        src, dst, nr_bytes = line.split()
        want[int(src), int(dst)] = float(nr_bytes)
    for i, line in enumerate(text.splitlines()):
        for j, cell in enumerate(line.split()):
            if cell == "0" and (i, j) not in want:
                continue
            check(close(float(cell), want.pop((i, j), 0.0)),
                  "bytes from %d to %d: %s" % (i, j, cell))
    check(not want, "%d pairs without bytes" % len(want))


def compare_total(text, want):
    total = sum(float(cell) for line in text.splitlines()
                for cell in line.split() if cell != "0")
    check(close(total, float(want)), "%f bytes in all, want %s" %
          (total, want))


def compare_skipped(errors, skipped):
    for reason, count in skipped.items():
        check(re.search(r"\b%s %d\b" % (reason, count), errors),
              "no '%s %d' in: %s" % (reason, count, errors))


def good_case(expect, folder, schedule_path):
    status, out, errors = run(["import"] + expect["args"] +
                              ["-o", schedule_path], folder)
    check(status == 0, "exit status %d: %s" % (status, errors))
    check(not out, "output beside -o")
    with open(schedule_path, encoding="utf-8") as file:
        schedule = json.load(file)
    check(schedule["ranks"] == expect["ranks"], "%d ranks" %
          schedule["ranks"])
    check(schedule["placement"] == list(range(expect["ranks"])),
          "placement is not one rank per node")
    check(count_instances(schedule) == expect["ops"], "instances: %s" %
          count_instances(schedule))
    nr_ops = sum(op.get("repeat", 1) for op in schedule["ops"])
    check(nr_ops == expect["schedule_ops"], "%d schedule ops, want %d" %
          (nr_ops, expect["schedule_ops"]))
    if "sequence" in expect:
        compare_sequence(schedule, os.path.join(folder, expect["sequence"]))
    compare_skipped(errors, expect.get("skipped", {}))
    status, out, errors = run(["matrix", schedule_path], folder)
    check(status == 0, "lacec matrix: %s" % errors)
    if "matrix" in expect:
        compare_matrix(out.decode(), os.path.join(folder, expect["matrix"]))
    if "edges" in expect:
        compare_edges(out.decode(), os.path.join(folder, expect["edges"]))
    compare_total(out.decode(), expect["total_bytes"])


def bad_case(expect, folder, schedule_path):
    status, out, errors = run(["import"] + expect["args"] +
                              ["-o", schedule_path], folder)
    check(status == expect["exit"], "exit status %d: %s" % (status, errors))
    check(not out, "output although it failed")
    check(not os.path.exists(schedule_path), "an output file was left")
    check(len(errors.splitlines()) == 1, "not one line: %s" % errors)
    for words in expect["mentions"]:
        check(any(word in errors for word in words),
              "none of %s in: %s" % (words, errors))


def has_format(name):
    """Whether lacec knows a format, by how it refuses a missing file."""
    errors = run(["import", "--format", name, "/nonexistent/x.0"], ".")[2]
    return "unknown format" not in errors


def main():
    corpus = os.environ.get("LACE_CORPUS")
    if not corpus:
        print("1..0 # SKIP LACE_CORPUS names no corpus")
        return 0
    cases = sorted(glob.glob(os.path.join(corpus, "*", "*.expect.json")))
    wanted = sys.argv[1:]
    failed = number = 0
    print("TAP version 13\n1..%d" % len(cases))
    for path in cases:
        number += 1
        with open(path, encoding="utf-8") as file:
            expect = json.load(file)
        name = "%s/%s" % (expect["format"],
                          os.path.basename(path)[:-len(".expect.json")])
        if wanted and not any(name.startswith(w) for w in wanted):
            print("ok %d - %s # SKIP not asked for" % (number, name))
            continue
        if not has_format(expect["format"]):
            print("ok %d - %s # SKIP lacec has no such format" %
                  (number, name))
            continue
        with tempfile.TemporaryDirectory() as work:
            try:
                (good_case if expect["ok"] else bad_case)(
                    expect, os.path.dirname(os.path.abspath(path)),
                    os.path.join(work, "schedule.json"))
                print("ok %d - %s" % (number, name))
            except (Wrong, KeyError, ValueError,
                    subprocess.TimeoutExpired) as error:
                failed += 1
                print("not ok %d - %s" % (number, name))
                print("# %s: %s" % (type(error).__name__, str(error)[:500]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
