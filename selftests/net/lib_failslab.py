# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail, on a kernel with fault injection: one of this thread, or
a share of those of the module.
"""

import contextlib
import errno
import os

from lib_kmod import Refused, expect

FAULTS = ["/sys/kernel/debug/failslab/", "/sys/kernel/debug/fail_page_alloc/"]
MODULE = "/sys/module/lace/"
# What a command may answer where memory is short.
SHORT = (errno.ENOMEM, errno.ENOBUFS)
MANY = 100000000


def contents(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def set_faults(**values):
    for folder in FAULTS:
        for name, value in values.items():
            path = folder + name.replace("_", "-")
            if os.path.exists(path):
                with open(path, "w", encoding="ascii") as file:
                    file.write(str(value))


def allow_faults():
    """Also where the allocation could wait; not a word of each."""
    set_faults(ignore_gfp_wait="N", min_order=0, verbose=0)


@contextlib.contextmanager
def percent_of_module(percent):
    """So many of the allocations made by the module, or for it, fail."""
    start = int(contents(MODULE + "sections/.text"), 16)
    set_faults(require_start=hex(start), stacktrace_depth=32, times=MANY,
               require_end=hex(start + int(contents(MODULE + "coresize"))),
               probability=percent)
    try:
        yield
    finally:
        set_faults(probability=0)


def failed_so_far():
    return sum(MANY - int(contents(folder + "times")) for folder in FAULTS)


class Nth:
    """The next but so many allocations of this thread fails."""

    def __init__(self):
        self.fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def set(self, number):
        os.pwrite(self.fd, b"%d" % number, 0)

    def left(self):
        """How many fewer there were; 0 if it has failed."""
        return int(os.pread(self.fd, 32, 0).rstrip(b"\n\0"))

    def attempt(self, command, number):
        """Have an allocation of a command fail; (whether the command was done,
        None if nobody knows, and whether there was such an allocation)."""
        self.set(number)
        try:
            command.ask()
        except OSError as error:
            if error.errno not in SHORT:
                raise
            return False, True
        finally:
            failed = not self.left()
            self.set(0)
        try:
            command.receive()
        except Refused as refused:
            expect(failed and refused.errno in SHORT, refused)
            return False, failed
        except OSError as error:	# the answer got lost
            expect(failed and error.errno == errno.ENOBUFS, error)
            return None, failed
        return True, failed

    def exhaust(self, command, look, step=1):
        """A command, with each of its allocations, or some, failing in turn: it
        is done, and then undone, or has changed nothing that look() tells."""
        before = look()

        def unchanged(note):
            after = look()
            expect(after == before, "%s, %s\n%s\nis now\n%s" % (
                command.name, note, before, after))
        number, refused, failed = 1 - step, 0, True
        while failed:
            number += step
            done, failed = self.attempt(command, number)
            expect(failed or done, command.name)
            if done:
                command.undo()
                continue
            refused += done is False
            if done is None:
                with contextlib.suppress(Refused, OSError):
                    command.undo()
            unchanged("allocation %d: %s" % (
                number, "unknown" if done is None else "refused"))
        unchanged("done and undone")
        print("# %-24s %4d allocations, refused for %d" % (
            command.name, (number - 1) // step, refused), flush=True)
        expect(number > 1, command.name)
