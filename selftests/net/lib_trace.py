# SPDX-License-Identifier: GPL-2.0
"""What the module's tracepoints say while something is done."""

import re

from lib_kmod import expect

TRACING = "/sys/kernel/tracing/"
EVENTS = TRACING + "events/lace/"


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Trace:
    """What the events of some names said meanwhile: lists of dictionaries."""

    def __init__(self, *names):
        self.names = names
        self.events = []

    def __enter__(self):
        write(TRACING + "trace", "")
        write(TRACING + "buffer_size_kb", "16384")
        for name in self.names:
            write(EVENTS + name + "/enable", "1")
        return self

    def __exit__(self, *_):
        write(EVENTS + "enable", "0")
        with open(TRACING + "trace", encoding="ascii") as file:
            text = file.read()
        for line in text.splitlines():
            found = re.match(r"\s*\S+\s+\[\d+\].* (lace_\w+): (.*)", line)
            if found:
                event = dict(f.split("=") for f in found.group(2).split())
                event = {k: int(v) if re.match(r"-?\d+$", v) else v
                         for k, v in event.items()}
                self.events.append({"event": found.group(1), **event})
        expect(not re.search(r"LOST .* EVENTS", text), "events were lost")

    def of(self, name, **fields):
        return [e for e in self.events if e["event"] == name and
                all(e[k] == v for k, v in fields.items())]
