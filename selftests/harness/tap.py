# SPDX-License-Identifier: GPL-2.0
"""Judges a test program by its TAP or KTAP output and its end.

A program that died, that printed no plan, or that printed fewer results than
it planned has failed, whatever the results say that it did print.
"""

import collections
import re

RESULT = re.compile(r"(not )?ok\b\s*(\d+)?(.*)")
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*SKIP\b\s*(.*))?$", re.I)
SKIP = re.compile(r"#\s*SKIP\b", re.I)
KSFT_SKIP = 4
# Of the notes below a failure the last are told with it, such as the end of a
# traceback, each up to a width: CI keeps what was printed, and nothing else.
NOTES, NOTE_WIDTH = 8, 300


class Verdict:
    """What one program's run came to."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.reasons = []

    def fail(self, reason, count=1):
        self.failed += count
        self.reasons.append(reason)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = "%d passed, %d failed" % (self.passed, self.failed)
        if self.skipped:
            text += ", %d skipped" % self.skipped
        return text


def notes_below(lines):
    """The last of the notes that follow a result, before anything else."""
    notes = collections.deque(maxlen=NOTES)
    for line in lines:
        if not line.startswith("#"):
            break
        notes.append("  " + line[:NOTE_WIDTH])
    return list(notes)


def judge(output, status, killed_after=None):
    """Verdict on a program that printed `output' and exited with `status'
    (negative: the signal), or was killed after so many seconds."""
    verdict = Verdict()
    planned = None
    plan_skips = False
    numbers = set()
    results = 0
    lines = output.splitlines()
    for index, line in enumerate(lines):
        plan = PLAN.match(line)
        if plan:
            if planned is not None:
                verdict.fail("more than one plan")
            planned = int(plan.group(1))
            plan_skips = plan.group(2) is not None
            continue
        result = RESULT.match(line)
        if not result:
            continue
        results += 1
        if result.group(2):
            number = int(result.group(2))
            if number in numbers:
                verdict.fail("result %d twice" % number)
            numbers.add(number)
        if result.group(1):
            verdict.fail(line)
            verdict.reasons += notes_below(lines[index + 1:])
        elif SKIP.search(result.group(3)):
            verdict.skipped += 1
        else:
            verdict.passed += 1

    if killed_after is not None:
        verdict.fail("did not end in %d seconds" % killed_after)
    elif status < 0:
        verdict.fail("ended by signal %d" % -status)
    if planned is None:
        verdict.fail("no plan")
    elif results != planned:
        verdict.fail("planned %d results, had %d" % (planned, results),
                     max(1, planned - results))
    elif planned == 0 and plan_skips:
        verdict.skipped += 1
    elif planned == 0:
        verdict.fail("planned nothing")
    if status > 0 and not verdict.failed and \
       not (status == KSFT_SKIP and not verdict.passed):
        verdict.fail("exit status %d" % status)
    if status == 0 and any(r.startswith("not ok") for r in verdict.reasons):
        verdict.reasons.append("exit status 0 in spite of that")
    return verdict
