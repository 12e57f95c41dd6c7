#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does the test driver see every way in which a test can fail?

Each row is what a program printed, how it ended, and what that must come to:
(passed, failed, skipped). A driver that is too kind makes all tests worthless.
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SELFTESTS = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, SELFTESTS)

from harness import programs, tap  # noqa: E402

VERDICTS = (
    ("all passed", "1..2\nok 1 - a\nok 2 - b\n", 0, None, (2, 0, 0)),
    ("plan at the end", "ok 1 - a\nok 2 - b\n1..2\n", 0, None, (2, 0, 0)),
    ("KTAP version first", "KTAP version 1\n1..1\nok 1 a\n", 0, None,
     (1, 0, 0)),
    ("one failed", "1..2\nok 1 - a\nnot ok 2 - b\n", 1, None, (1, 1, 0)),
    ("one failed, exit status 0", "1..1\nnot ok 1 - a\n", 0, None, (0, 1, 0)),
    ("a failure called TO" "DO fails", "1..1\nnot ok 1 - a # TO" "DO\n", 0, None,
     (0, 1, 0)),
    ("one skipped", "1..2\nok 1 - a # SKIP no b\nok 2 - b\n", 0, None,
     (1, 0, 1)),
    ("all skipped by the plan", "1..0 # SKIP no kernel\n", 4, None, (0, 0, 1)),
    ("nothing printed", "", 0, None, (0, 1, 0)),
    ("no plan", "ok 1 - a\n", 0, None, (1, 1, 0)),
    ("plans nothing", "1..0\n", 0, None, (0, 1, 0)),
    ("one result missing", "1..3\nok 1 - a\nok 2 - b\n", 0, None, (2, 1, 0)),
    ("all results missing", "1..3\n", 0, None, (0, 3, 0)),
    ("one result too many", "1..1\nok 1 - a\nok 2 - b\n", 0, None, (2, 1, 0)),
    ("a result twice", "1..2\nok 1 - a\nok 1 - a\n", 0, None, (2, 1, 0)),
    ("two plans", "1..1\n1..1\nok 1 - a\n", 0, None, (1, 1, 0)),
    ("died after the last result", "1..1\nok 1 - a\n", -11, None, (1, 1, 0)),
    ("exit status after good results", "1..1\nok 1 - a\n", 3, None, (1, 1, 0)),
    ("skip status after good results", "1..1\nok 1 - a\n", 4, None, (1, 1, 0)),
    ("took too long", "1..2\nok 1 - a\n", -9, 5, (1, 2, 0)),
    ("indented results are another's", "1..1\n    not ok 1 - a\nok 1 - a\n", 0,
     None, (1, 0, 0)),
    ("notes are no results", "1..1\n# not ok\nok 1 - a\nokay then\n", 0, None,
     (1, 0, 0)),
)

SOURCES = (
    ("backports from a deb822 source", "debian.sources",
     "Types: deb deb-src\nURIs: http://mirror.example/debian\n"
     "Suites: bookworm bookworm-updates\nComponents: main\n"
     "Signed-By: /key.gpg\n",
     ["Suites: bookworm bookworm-updates", "Suites: bookworm-backports",
      "Types: deb"], ["deb-src"]),
    ("backports from a one-line source", "../sources.list",
     "# deb http://old.example/debian bookworm main\n"
     "deb [signed-by=/k.gpg] http://mirror.example/debian bookworm main\n",
     ["deb [signed-by=/k.gpg] http://mirror.example/debian bookworm-backports "
      "main"], ["old.example"]),
    ("backports that are there already", "b.list",
     "deb http://m.example/debian bookworm main\n"
     "deb http://m.example/debian bookworm-backports main\n",
     ["deb http://m.example/debian bookworm-backports main"], []),
    ("sources of others are left out", "x.sources",
     "Types: deb\nURIs: http://other.example\nSuites: nodistro\n\n"
     "Types: deb\nURIs: http://m.example/debian\nSuites: bookworm\n",
     ["Suites: bookworm"], ["other.example"]),
)


DECLARED = (
    ("nothing said", "# a test\n", (240, ("6.12",), [])),
    ("a time", "# timeout: 30\n", (30, ("6.12",), [])),
    ("kernels", '"""What.\n\nkernels: 6.1 debug\ntimeout: 7\n"""\n',
     (7, ["6.1", "debug"], [])),
    ("no such kernel", "# kernels: 6.12 5.4\n", None),
    ("a kernel in turn", "# in turn: debug\n", (240, [], ["debug"])),
    ("each time and in turn", "# kernels: 6.1\n# in turn: debug\n",
     (240, ["6.1"], ["debug"])),
    ("no such kernel in turn", "# in turn: 5.4\n", None),
)


# (time limits of tests, number of lots, their time limits lot by lot)
LOTS = (
    ("no tests", (), 2, []),
    ("fewer tests than lots", (5,), 2, [[5]]),
    ("one lot", (5, 7, 1), 1, [[5, 7, 1]]),
    ("two lots that are about as long", (1, 9, 5, 2, 4), 2,
     [[9, 2], [1, 5, 4]]),
)


def shared_out(limits, n):
    """Time limits of lots, of tests with such limits."""
    tests = []
    for seconds in limits:
        tests.append(programs.Program("harness", "test", ["/dev/null"]))
        tests[-1].seconds = seconds
    return [[p.seconds for p in lot] for lot in programs.share_out(tests, n)]


def declared(head):
    try:
        return (programs.declared_seconds(head),
                programs.declared_kernels(head, "a test"),
                programs.declared_in_turn(head, "a test"))
    except ValueError:
        return None


def turns(kernel):
    """How often each test that takes turns runs in all of them, and each that
    does not.
    """
    titles = [p.title for turn in range(programs.TURNS)
              for p in programs.guest_programs(kernel, turn)]
    return {kernel in p.kernels: {titles.count(q.title) for q in found
                                  if (kernel in q.kernels) ==
                                  (kernel in p.kernels)}
            for found in [programs.guest_programs(kernel)] for p in found}


def execute(script, seconds=20):
    """(verdict's numbers) of a shell script run as the driver runs tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)
        program = programs.Program("harness", "script", [path])
        program.seconds = seconds
        status, killed_after, _ = programs.execute(program)
        return numbers(tap.judge(programs.output(program, "tap"), status,
                                 killed_after))


def numbers(verdict):
    return verdict.passed, verdict.failed, verdict.skipped


def sources(name, text):
    """(exit status, what selftests/setup/sources made of a source file)"""
    with tempfile.TemporaryDirectory() as folder:
        etc, out = folder + "/etc", folder + "/out"
        os.makedirs(etc + "/sources.list.d")
        os.makedirs(out)
        with open(os.path.join(etc, "sources.list.d", name), "w",
                  encoding="utf-8") as file:
            file.write(text)
        status = subprocess.run([SELFTESTS + "/setup/sources", out, etc],
                                check=False).returncode
        made = ""
        for path in sorted(os.listdir(out)):
            with open(os.path.join(out, path), encoding="utf-8") as file:
                made += file.read()
        return status, made


def checks():
    for name, output, status, killed_after, want in VERDICTS:
        got = numbers(tap.judge(output, status, killed_after))
        yield "verdict: " + name, got == want, "%s, not %s" % (got, want)
    got = tap.judge("1..2\nnot ok 1 - a\n" + "".join(
        "# line %d\n" % i for i in range(20)) + "ok 2 - b\n# no\n", 1).reasons
    yield "verdict: the last notes below a failure are told with it", \
        got == ["not ok 1 - a"] + ["  # line %d" % i for i in range(12, 20)], \
        str(got)
    for name, script, want in (
            ("a script that passes", "echo 1..1; echo ok 1 - a", (1, 0, 0)),
            ("a script that kills itself", "echo 1..1; kill -9 $$",
             (0, 2, 0)),
            ("a script with libraries of tests",
             ". %s/ktap.sh; ktap_plan 2; ktap_check a true; ktap_check b "
             "false; ktap_end" % SELFTESTS, (1, 1, 0)),
            ("a script that stops half way",
             ". %s/ktap.sh; ktap_plan 2; ktap_check a true; ktap_end"
             % SELFTESTS, (1, 1, 0))):
        got = execute(script)
        yield "run: " + name, got == want, "%s, not %s" % (got, want)
    got = execute("echo 1..1; echo ok 1 - a; sleep 60", 1)
    yield "run: a script that hangs", got == (1, 1, 0), str(got)
    for name, head, want in DECLARED:
        got = declared(head)
        yield "declared: " + name, got == want, str(got)
    got = turns("debug")
    yield "turns: in all of them, or in one", \
        got == {True: {programs.TURNS}, False: {1}}, str(got)
    for name, limits, n, want in LOTS:
        got = shared_out(limits, n)
        yield "lots: " + name, got == want, str(got)
    for name, file, text, has, lacks in SOURCES:
        status, made = sources(file, text)
        yield "sources: " + name, status == 0 and \
            all(line in made.splitlines() for line in has) and \
            not any(part in made for part in lacks) and \
            made.count("bookworm-backports") <= 1, made
    status, made = sources("x.list", "deb http://m.example/debian trixie main\n")
    yield "sources: another release is refused", (status, made) == (1, ""), made


def main():
    results = list(checks())
    print("KTAP version 1\n1..%d" % len(results))
    for number, (name, passed, details) in enumerate(results, 1):
        print("%sok %d - %s" % ("" if passed else "not ", number, name))
        if not passed:
            print("# " + details.replace("\n", "\n# "))
    sys.exit(0 if all(passed for _, passed, _ in results) else 1)


main()
