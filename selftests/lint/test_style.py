#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""House rules that a program can check, on every file of the tree.

One result for each rule. `test_style.py FILE...' checks only those files.
"""

import os
import re
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
SELF = os.path.relpath(os.path.realpath(__file__), TOP)
MAX_LINES, MAX_COLUMNS, TAB = 900, 100, 8

GPL = "GPL-2.0"
LGPL = "LGPL-2.1 OR MIT"
UAPI = "(GPL-2.0 WITH Linux-syscall-note) OR MIT"
LICENCES = (("include/uapi/", (UAPI, "(%s)" % UAPI)),
            ("Documentation/netlink/specs/", (UAPI, "(%s)" % UAPI)),
            ("lib/", (LGPL,)),
            # liblace includes the layouts that it shares with BPF programs.
            ("ebpf/", (GPL, GPL + " OR MIT")),
            ("", (GPL,)))
# Data and prose, which are not code of ours or have no place for comments.
DATA = re.compile(r"\.(json|txt|md|rst|ops|matrix|edges|csv|xml|et|gz|goal|"
                  r"patch|dict|png|svg|bin)$|^LICENSES/|^COPYING$|/corpus/|"
                  r"/data/")


def tree():
    """Names of the tree's files, whether it is a clone or an archive."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=TOP,
            check=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        listed = [os.path.relpath(os.path.join(path, name), TOP)
                  for path, _, names in os.walk(TOP) for name in names]
    return sorted(n for n in listed if n and not n.startswith("build/") and
                  os.path.isfile(os.path.join(TOP, n)))


class File:
    """One file: its name and its lines."""

    def __init__(self, name):
        self.name = name
        with open(os.path.join(TOP, name), encoding="utf-8",
                  errors="replace") as file:
            self.text = file.read()
        self.lines = self.text.splitlines()

    def is_ours(self):
        # The rules' own patterns are here; they would find themselves.
        return not DATA.search(self.name) and self.name != SELF

    def is_c(self):
        return self.name.endswith((".c", ".h"))

    def is_kernel(self):
        return self.is_c() and self.name.startswith("kmod/")

    def is_narrow(self):
        return self.name.endswith((".c", ".h", ".sh", ".py"))


def code_of(line):
    """A line of C less what is in quotes and comments."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    line = re.sub(r"'(?:\\.|[^'\\])*'", "''", line)
    line = re.sub(r"/\*.*?(\*/|$)", "", line)
    return "" if re.match(r"\s*\*(\s|/|$)", line) else line


def matching(applies, pattern, in_code=False):
    """A rule: no line matches the pattern (less its quotes and comments)."""
    compiled = re.compile(pattern)

    def rule(file):
        if applies(file):
            for number, line in enumerate(file.lines, 1):
                if compiled.search(code_of(line) if in_code else line):
                    yield number, line.strip()
    return rule


def licence(file):
    if DATA.search(file.name):
        return
    # The build's rules in a folder are no part of what the folder ships.
    wanted = (GPL,) if file.name.endswith("/Makefile") else next(
        licences for prefix, licences in LICENCES
        if file.name.startswith(prefix))
    found = re.search(r"SPDX-License-Identifier: *(.*?)\s*(?:\*/|-->)?$",
                      "\n".join(file.lines[:4]), re.M)
    if not found:
        yield 1, "no SPDX line"
    elif found.group(1) not in wanted:
        yield 1, "SPDX line is not " + wanted[0]


def length(file):
    # A netlink family has one specification, and that is one file.
    if file.name.startswith("Documentation/netlink/specs/"):
        return
    if len(file.lines) >= MAX_LINES and file.is_ours():
        yield len(file.lines), "too long"


def ending(file):
    if file.is_ours() and file.text and (not file.text.endswith("\n") or
                                         file.text.endswith("\n\n")):
        yield len(file.lines), "one newline ends a file"


def executable(file):
    """What names its interpreter can be run: the harness passes by what
    cannot."""
    wanted = file.text.startswith("#!")
    if os.access(os.path.join(TOP, file.name), os.X_OK) != wanted:
        yield 1, "is executable, but names no interpreter" if not wanted \
            else "names an interpreter, but is not executable"


def columns(file):
    """A text that people may search for stays in one piece, however long."""
    for number, line in enumerate(file.lines, 1):
        if file.is_narrow() and len(line.expandtabs(TAB)) > MAX_COLUMNS and \
           not re.match(r'\s*"(?:\\.|[^"\\])*"[,;)]*$', line):
            yield number, "%d columns" % len(line.expandtabs(TAB))


ALL, OURS, CODE, KERNEL = (lambda file: True, File.is_ours, File.is_c,
                           File.is_kernel)
RULES = (
    ("SPDX lines name the licence of the folder", licence),
    ("files have fewer than %d lines" % MAX_LINES, length),
    ("files end with one newline", ending),
    ("scripts are executable, and nothing else is", executable),
    ("lines have at most %d columns" % MAX_COLUMNS, columns),
    ("no trailing white space", matching(OURS, r"[ \t]+$")),
    ("tabs indent C", matching(CODE, r"^\t* {8}")),
    ("comments in C are /* */",
     matching(CODE, r"(?<!:)//(?! SPDX)", in_code=True)),
    ("a space between keyword and (",
     matching(CODE, r"\b(?:if|for|while|switch)\(", in_code=True)),
    ("a space before {", matching(
        CODE, r"\w\{|\b(?:if|for|while|switch) .*\)\{", in_code=True)),
    ("a function's { has a line of its own", matching(
        CODE, r"^(?:static |inline |void |int |bool |struct \w+ |const )+"
        r"\*?\w+\([^;{=]*\)\s*\{", in_code=True)),
    ("else follows its }", matching(CODE, r"^\s*else\b.*\{$", in_code=True)),
    ("(void) for no parameters",
     matching(CODE, r"^[a-z][\w *]*\b\w+\(\)\s*[;{]?$", in_code=True)),
    ("sizeof has parentheses",
     matching(CODE, r"\bsizeof\s+\w", in_code=True)),
    ("the module has no BUG()",
     matching(KERNEL, r"\bBUG(?:_ON)?\(", in_code=True)),
    ("the module logs with a level",
     matching(KERNEL, r"\bprintk\(", in_code=True)),
    ("no path of one machine",
     matching(OURS, r"(?<![\w.}/-])/(?:work|home)/")),
    ("no host of a package registry", matching(
        OURS, r"\b(?:deb|security|archive|snapshot)\.debian\.org|pypi\.org|"
        r"crates\.io|proxy\.golang|registry\.npmjs")),
    # In brackets, or a search for these words finds the rule.
    ("nothing is left to do",
     matching(OURS, r"\b(?:TOD[O]|FIXM[E]|XX[X])\b")),
)


def main():
    files = [File(name) for name in sys.argv[1:] or tree()]
    failed = 0
    print("KTAP version 1\n1..%d" % len(RULES))
    for number, (name, rule) in enumerate(RULES, 1):
        found = ["# %s:%d: %s" % (file.name, line, what)
                 for file in files for line, what in rule(file)]
        failed += bool(found)
        print("%sok %d - %s" % ("not " if found else "", number, name))
        for line in found:
            print(line)
            print("%s: %s" % (name, line[2:]), file=sys.stderr)
    sys.exit(1 if failed or not files else 0)


main()
