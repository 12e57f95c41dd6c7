#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The specification of the netlink family and the header that C includes say
the same: names, values and types of all commands, attributes and constants.
"""

import os
import re
import sys

import yaml

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
SPEC = os.path.join(TOP, "Documentation/netlink/specs/lace.yaml")
HEADER = os.path.join(TOP, "include/uapi/linux/lace.h")
# Enums of the header that are no business of netlink.
NOT_NETLINK = {"lace_steer_cb"}
# Enums that have a longer name in C, where the short one is liblace's.
ENUM_NAMES = {"phase": "lace_transition_phase"}
# How a comment in the header begins, for each type of the specification.
COMMENT = {"string": "string", "nest": "nest", "flag": "flag",
           "binary": r"(\d+ or )?\d+ bytes"}


def read_header():
    """(enums, constants): enums as {name: [(member, value, comment)]}."""
    with open(HEADER, encoding="utf-8") as file:
        text = file.read()
    enums = {}
    for name, body in re.findall(r"enum (\w+) \{(.*?)\n\};", text, re.S):
        members = []
        for member, comment in re.findall(
                r"^\t(\w+),?[ \t]*(?:/\*\s*(.*?)\*/)?[ \t]*$", body,
                re.M | re.S):
            members.append((member, len(members), comment))
        enums[name] = members
    constants = dict(re.findall(r'^#define (LACE_\w+) ([\w"]+)', text, re.M))
    return enums, constants


def c_name(*parts):
    return "_".join(parts).replace("-", "_").upper()


def enum_name(definition):
    name = definition["name"]
    return ENUM_NAMES.get(name, ("lace_" + name).replace("-", "_"))


def listed(members):
    """Members that mean something, as {name: value}."""
    return {name: value for name, value, _ in members
            if not name.startswith("__") and not name.endswith("_UNSPEC")}


def compare(found, expected, what):
    if found != expected:
        raise AssertionError("%s:\nheader        %s\nspecification %s" % (
            what, sorted(found.items()), sorted(expected.items())))


class Files:
    """Both sides, read."""

    def __init__(self):
        with open(SPEC, encoding="utf-8") as file:
            self.spec = yaml.safe_load(file)
        self.enums, self.constants = read_header()
        self.sets = {s["name"]: s for s in self.spec["attribute-sets"]}


def family(files):
    """name, version and groups"""
    expected = {"LACE_GENL_NAME": files.spec["name"],
                "LACE_GENL_VERSION": str(files.spec["version"])}
    for group in files.spec["mcast-groups"]["list"]:
        expected[c_name("lace-genl-mcgrp", group["name"])] = group["name"]
    compare({k: v.strip('"') for k, v in files.constants.items()
             if k.startswith("LACE_GENL_")}, expected, "family")


def constants(files):
    """constants"""
    found = {k: int(v) for k, v in files.constants.items() if v.isdigit() and
             k != "LACE_GENL_VERSION"}
    compare(found, {c_name("lace", d["name"]): d["value"]
                    for d in files.spec["definitions"]
                    if d["type"] == "const"}, "constants")


def enums(files):
    """enumerations"""
    for definition in files.spec["definitions"]:
        if definition["type"] != "enum":
            continue
        compare(listed(files.enums[enum_name(definition)]),
                {c_name("lace", definition["name"], e): i
                 for i, e in enumerate(definition["entries"])},
                definition["name"])


def commands(files):
    """commands"""
    compare(listed(files.enums["lace_cmd"]),
            {c_name("lace-cmd", o["name"]): i for i, o in
             enumerate(files.spec["operations"]["list"], 1)}, "commands")


def attributes(files):
    """attributes: names and values"""
    for name, one in files.sets.items():
        compare(listed(files.enums["lace_attr_" + name]),
                {c_name("lace-a", name, a["name"]): i for i, a in
                 enumerate(one["attributes"], 1)}, name)


def nothing_missing(files):
    """everything in the header is specified"""
    known = {"lace_attr_" + s for s in files.sets} | {"lace_cmd"} | \
        {enum_name(d) for d in files.spec["definitions"]}
    extra = set(files.enums) - known - NOT_NETLINK
    if extra:
        raise AssertionError("not specified: %s" % sorted(extra))


def types(files):
    """attributes: types"""
    for name, one in files.sets.items():
        # A set of counters says its type once, above.
        if all(a["type"] in ("pad", "u64") for a in one["attributes"]):
            continue
        members = files.enums["lace_attr_" + name][1:]
        for attribute, (member, _, comment) in zip(one["attributes"], members):
            kind = attribute["type"]
            if kind == "pad":
                continue
            pattern = COMMENT.get(kind, kind)
            if not re.match(pattern + r"\b", comment):
                raise AssertionError("%s: the header says `%s', the "
                                     "specification %s" % (member, comment,
                                                           kind))


def references(files):
    """the specification refers to what is there, and documents everything"""
    for name, one in files.sets.items():
        for attribute in one["attributes"]:
            where = "%s %s" % (name, attribute["name"])
            if attribute["type"] == "nest" and \
                    attribute["nested-attributes"] not in files.sets:
                raise AssertionError(where + ": nest of nothing")
            if attribute["type"] != "pad" and not attribute.get("doc"):
                raise AssertionError(where + ": not documented")
    operations = files.spec["operations"]["list"]
    names = {o["name"] for o in operations}
    for operation in operations:
        if not operation.get("doc"):
            raise AssertionError(operation["name"] + ": not documented")
        if operation.get("notify", operation["name"]) not in names:
            raise AssertionError(operation["name"] + ": notifies nothing")
        known = {a["name"] for a in files.sets[
            operation["attribute-set"]]["attributes"]} \
            if "attribute-set" in operation else set()
        for mode in ("do", "dump", "event"):
            parts = operation.get(mode, {})
            for part in [parts] if mode == "event" else parts.values():
                unknown = set(part.get("attributes", ())) - known
                if unknown:
                    raise AssertionError("%s: %s" % (operation["name"],
                                                     unknown))


def main():
    files = Files()
    tests = (family, constants, enums, commands, attributes, nothing_missing,
             types, references)
    print("KTAP version 1\n1..%d" % len(tests))
    failed = 0
    for index, test in enumerate(tests, 1):
        try:
            test(files)
            print("ok %d - %s" % (index, test.__doc__))
        except (AssertionError, KeyError) as error:
            failed += 1
            print("not ok %d - %s" % (index, test.__doc__))
            print("# " + str(error).replace("\n", "\n# "))
    return 1 if failed else 0


sys.exit(main())
