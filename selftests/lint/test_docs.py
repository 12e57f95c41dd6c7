#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The documentation is sound, and says of the tools what their help says. Needs
a build before it.

That manual pages are sound roff is looked at in test_scripts.sh.
"""

import io
import os
import re
import subprocess
import sys

import docutils.core

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
DOCS = os.path.join(TOP, "Documentation")
TOOLS = os.path.join(TOP, "build/tools")
LINK = re.compile(r"`[^`<]+<([^>`]+)>`_|\]\(([^)\s]+)\)", re.S)
# In a synopsis, what is typed as it stands: words and options.
TYPED = re.compile(r"(?<![\w-])-{0,2}[a-z][a-z-]*(?![\w-])|(?<![\w-])-[A-Z]\b")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def documents(*suffixes):
    """Paths of the documents with such a suffix."""
    return sorted(os.path.join(folder, name)
                  for folder, _, names in os.walk(DOCS) for name in names
                  if name.endswith(suffixes)) + \
        [path for path in [os.path.join(TOP, "README.md")]
         if path.endswith(suffixes)]


def faults_of_rst(path):
    """What docutils says of a document."""
    told = io.StringIO()
    docutils.core.publish_doctree(
        read(path), os.path.relpath(path, TOP), settings_overrides={
            "warning_stream": told, "file_insertion_enabled": False,
            "raw_enabled": False})
    return told.getvalue().splitlines()


def rst():
    """reStructuredText is sound."""
    return sum((faults_of_rst(path) for path in documents(".rst")), [])


def links():
    """Links lead to files of the tree."""
    faults = []
    for path in documents(".rst", ".md"):
        for found in LINK.finditer(read(path)):
            target = (found.group(1) or found.group(2)).split("#")[0]
            if target and "://" not in target and not os.path.exists(
                    os.path.join(os.path.dirname(path), target)):
                faults.append("%s: %s is not there" % (
                    os.path.relpath(path, TOP), target))
    return faults


def said(tool, *words):
    """What a tool says when it is asked for help."""
    return subprocess.run([os.path.join(TOOLS, tool), *words], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def page(name):
    """A manual page without what is for the formatter."""
    return re.sub(r"\\f.|\\&", "",
                  read(os.path.join(DOCS, "man", name)).replace("\\-", "-"))


def synopses(text, tool):
    """{word after the tool's name: all that is typed there} of lines of help, or
    of a synopsis; lines that go on are deeper indented than prose."""
    found = {}
    words = None
    for line in text.splitlines():
        if line.startswith(tool + " "):
            line = re.sub(r"^%s (\[-\w\] )*" % tool, "", line)
            words = found.setdefault(re.match(r"[a-z]*", line).group(), set())
        elif not line.startswith(("\t", "   ")):
            words = None
        if words is not None:
            words |= set(TYPED.findall(line))
    return found


def compared(here, there, what):
    """Where two {name: words} differ."""
    return ["%s %s: %s" % (what, name, " ".join(sorted(
        here.get(name, set()) ^ there.get(name, set()))))
            for name in sorted(set(here) | set(there))
            if here.get(name) != there.get(name)]


def lacectl():
    """lacectl(8) has the commands that its help has, and no others."""
    text = page("lacectl.8")
    objects = re.findall(r"[a-z]+", re.search(
        r"^OBJECT := \{(.*)\}", text, re.M).group(1))
    here = {}
    for name in objects:
        here.update(synopses(said("lacectl", name, "help"), "lacectl"))
    there = synopses(re.sub(r"(?m)^\.B ", "", text), "lacectl")
    there.pop("", None)		# the line with all objects
    return compared(here, there, "lacectl")


def options(text):
    """Long options of a text, but for those of lacectl and the one for help."""
    text = re.sub(r"lacectl .*", "", text)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) - {"--help"}


def lacec():
    """lacec(1) has the options that the commands' help has, and no others."""
    commands = re.findall(r"^  ([a-z]+) ", said("lacec", "help"), re.M)
    here = set().union(*(options(said("lacec", c, "--help"))
                         for c in commands))
    return compared({"options": here}, {"options": options(page("lacec.1"))},
                    "lacec")


def replay():
    """lace-replay(1) has the options that its help has, and no others."""
    return compared({"options": options(said("lace-replay", "--help"))},
                    {"options": options(page("lace-replay.1"))},
                    "lace-replay")


TESTS = (rst, links, lacectl, lacec, replay)


def main():
    failed = 0
    print("KTAP version 1\n1..%d" % len(TESTS))
    for number, test in enumerate(TESTS, 1):
        faults = test()
        failed += bool(faults)
        print("%sok %d - %s" % ("not " if faults else "", number,
                                test.__doc__.rstrip(".")))
        for fault in faults:
            print("# " + fault)
    sys.exit(1 if failed else 0)


main()
