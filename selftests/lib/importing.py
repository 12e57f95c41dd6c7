# SPDX-License-Identifier: GPL-2.0
"""Runs lacec import on files that a test makes, and looks at what came out."""

import json
import os
import subprocess
import tempfile
import traceback

LACEC = os.path.abspath(os.environ.get("LACEC") or os.path.join(
    os.environ.get("LACE_BUILD", "build"), "tools", "lacec"))


class Wrong(Exception):
    """The answer is not the expected one."""


def check(condition, got=None):
    if not condition:
        raise Wrong(str(got) if got is not None else "")


def ranks_of(group):
    if isinstance(group, list):
        return group
    return [group["first"] + i * group.get("stride", 1)
            for i in range(group["count"])]


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def op_text(op):
    """An op as a line: REPEAT KIND, then what it holds."""
    part, = op["parts"]
    text = "%d " % op.get("repeat", 1)
    if "transfers" in part:
        return text + "transfers " + " ".join("%d>%d:%d" % tuple(t)
                                              for t in part["transfers"])
    text += part["collective"]
    if "bytes" in part:
        text += " bytes=%d" % part["bytes"]
    if part.get("root"):
        text += " root=%d" % part["root"]
    text += " groups=" + compact([ranks_of(g) for g in part["groups"]])
    if "matrix" in part:
        text += " matrix=" + compact(part["matrix"])
    return text


class Outcome:
    """What one run of lacec import did."""

    def __init__(self, status, output, errors):
        self.status = status
        self.output = output
        self.errors = errors

    def __str__(self):
        return "exit status %d\n%s%s" % (self.status, self.errors,
                                         self.output.decode()[:2000])

    def schedule(self):
        check(self.status == 0, self)
        return json.loads(self.output)

    def ops(self):
        return [op_text(op) for op in self.schedule()["ops"]]

    def refused(self, status, *words):
        """One line on standard error with all the words, and nothing else."""
        allowed = status if isinstance(status, tuple) else (status,)
        check(self.status in allowed, self)
        check(not self.output, self)
        check(len(self.errors.splitlines()) == 1, self)
        for word in words:
            check(word in self.errors, "no \"%s\" in: %s" % (word, self))


def run_import(name, files, *args):
    """lacec import of files (name -> bytes); groups.json is not a trace, and
    without files, args are all there is."""
    with tempfile.TemporaryDirectory() as folder:
        for path, data in files.items():
            with open(os.path.join(folder, path), "wb") as file:
                file.write(data)
        traces = [path for path in files if path != "groups.json"]
        done = subprocess.run(
            [LACEC, "import", "--format", name] + list(args) + traces,
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, timeout=100)
        return Outcome(done.returncode, done.stdout,
                       done.stderr.decode(errors="replace"))


def main(tests):
    print("TAP version 13\n1..%d" % len(tests))
    failed = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print("ok %d - %s" % (number, name), flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print("not ok %d - %s" % (number, name), flush=True)
            where = traceback.extract_tb(error.__traceback__)
            lines = [f.lineno for f in where if "test_" in f.filename]
            print("# line %s: %s: %s" % (lines, type(error).__name__,
                                         str(error).replace("\n", "\n# ")))
    return 1 if failed else 0
