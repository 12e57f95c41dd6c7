# SPDX-License-Identifier: GPL-2.0
"""Which test programs there are, found from their sources, and how to run one.
"""

import os
import re
import signal
import subprocess
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
LOGS = "build/check"
KERNELS = ("6.1", "6.12", "debug")
# What a test in a virtual machine runs on unless it says otherwise. A test on
# the host says so only if it cannot do without the debug kernel.
DEFAULT_KERNELS = ("6.12",)
# So many turns have all tests that take turns on a kernel.
TURNS = 6
# By how much a kernel is slower than others; times that tests allow for what
# the kernel does are multiplied by it (LACE_SLOW in the machine).
SLOW = {"debug": 5}

# Folders of selftests whose tests run on the host, and in virtual machines.
HOST = ("lint", "setup", "vm", "demo", "bench")
GUEST = ("net", "ebpf")
# Groups whose tests may run beside others.
TOGETHER = ("lib", "lib-san", "tools", "tools-san", "fuzz")
DEFAULT_SECONDS = 240
FUZZ_SECONDS = 10
# Random instances of a test, where sanitizers make each ten times slower.
SANITIZED_COUNT = "40"


class Program:
    """One test program: where it is, and what it is called in reports."""

    def __init__(self, group, name, command, build="build", source=None):
        self.group = group
        self.name = name
        self.command = command
        self.build = build
        head = read_head(source or command[0])
        self.seconds = declared_seconds(head)
        self.kernels = declared_kernels(head, source or command[0])
        self.in_turn = declared_in_turn(head, source or command[0])

    @property
    def title(self):
        return self.group + "/" + self.name

    def log(self, suffix):
        return "%s/%s.%s" % (LOGS, self.title, suffix)


def read_head(path):
    """The part of a source that may hold declarations."""
    try:
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            return file.read(4000)
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


def declared_seconds(head):
    """A test that needs longer says so: a line with `timeout: SECONDS'."""
    match = re.search(r"^\W*timeout: (\d+)\W*$", head, re.M)
    return int(match.group(1)) if match else DEFAULT_SECONDS


def declared_names(head, key, path):
    """Names of kernels in a line with `KEY: NAME...'; None without it."""
    match = re.search(r"^\W*%s: ([\w. ]+?)\W*$" % key, head, re.M)
    if not match:
        return None
    names = match.group(1).split()
    for name in names:
        if name not in KERNELS:
            raise ValueError("%s: there is no kernel %s" % (path, name))
    return names


def declared_kernels(head, path):
    """What a test runs on each time. One that says nothing does on the usual."""
    usual = [] if declared_in_turn(head, path) else DEFAULT_KERNELS
    return declared_names(head, "kernels", path) or usual


def declared_in_turn(head, path):
    """What else it runs on, where there is no time for all such tests at once:
    a line with `in turn: NAME...'.
    """
    return declared_names(head, "in turn", path) or []


def files(folder, accept):
    try:
        names = os.listdir(os.path.join(TOP, "selftests", folder))
    except FileNotFoundError:
        return []
    return sorted(n for n in names if accept(n) and
                  os.path.isfile(os.path.join(TOP, "selftests", folder, n)))


def scripts(folder, prefix):
    """Executable scripts of a folder whose names start with the prefix."""
    return files(folder, lambda n: n.startswith(prefix) and
                 n.endswith((".sh", ".py")) and not n.startswith("lib") and
                 os.access(os.path.join(TOP, "selftests", folder, n), os.X_OK))


def host_programs():
    found = []
    units = files("lib", lambda n: re.fullmatch(r"test_\w+\.c", n))
    for group, build in (("lib", "build"), ("lib-san", "build/san")):
        for name in units:
            found.append(Program(group, name[:-2],
                                 [build + "/selftests/" + name[:-2]], build,
                                 "selftests/lib/" + name))
    for group, build in (("tools", "build"), ("tools-san", "build/san")):
        for folder in ("tools", "lib"):
            for name in scripts(folder, "test_"):
                found.append(Program(group, name, ["selftests/%s/%s" %
                                                   (folder, name)], build))
    for name in files("fuzz", lambda n: re.fullmatch(r"fuzz_\w+\.c", n)):
        found.append(Program("fuzz", name[:-2], [
            "selftests/harness/fuzz",
            "build/fuzz/selftests/" + name[:-2], str(FUZZ_SECONDS)]))
    for folder in HOST:
        for name in scripts(folder, "test_"):
            found.append(Program(folder, name,
                                 ["selftests/%s/%s" % (folder, name)]))
    return found


def guest_programs(kernel, turn=None):
    """Tests that run on a kernel. Of those that take turns there: the ones whose
    turn it is, or all.
    """
    found = [Program("%s-%s" % (folder, kernel), name,
                     ["selftests/%s/%s" % (folder, name)])
             for folder in GUEST for name in scripts(folder, "")]
    found = [p for p in found if kernel in p.kernels or kernel in p.in_turn]
    for program in found:
        program.seconds *= SLOW.get(kernel, 1)
    if turn is None:
        return found
    wait = [p for p in found if kernel not in p.kernels]
    lots = share_out(wait, TURNS)
    now = lots[turn % len(lots)] if lots else []
    return [p for p in found if p not in wait or p in now]


def turn_of_commit():
    """The turn that a commit has, which goes by its name: always the same."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TOP, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return int(done.stdout[:8] or b"0", 16) % TURNS


def share_out(tests, n):
    """The tests in up to n lots that take about equally long, going by their
    time limits; those of a lot in the order that they had."""
    lots = [[] for _ in range(n)]
    for program in sorted(tests, key=lambda p: -p.seconds):
        min(lots, key=lambda lot: sum(p.seconds for p in lot)).append(program)
    return [[p for p in tests if p in lot] for lot in lots if lot]


def signal_group(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def end(process):
    """Stop a program that took too long; it may clean up first."""
    signal_group(process, signal.SIGTERM)
    try:
        return process.wait(5)
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL


def execute(program, wrapper=()):
    """Run a program with its output in files; (status, killed_after, seconds).
    """
    for suffix in ("tap", "err"):
        os.makedirs(os.path.dirname(os.path.join(TOP, program.log(suffix))),
                    exist_ok=True)
    env = dict(os.environ, LACE_BUILD=program.build)
    if program.build == "build/san":
        env.setdefault("LACE_RANDOM_COUNT", SANITIZED_COUNT)
    env["PATH"] = ":".join([os.path.join(TOP, program.build, "tools"),
                            "/usr/sbin:/usr/bin:/sbin:/bin", env["PATH"]])
    start = time.monotonic()
    killed_after = None
    with open(os.path.join(TOP, program.log("tap")), "wb") as out, \
         open(os.path.join(TOP, program.log("err")), "wb") as err:
        try:
            process = subprocess.Popen(
                list(wrapper) + program.command, cwd=TOP, env=env,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True)
        except OSError as error:
            err.write(("%s\n" % error).encode())
            return 127, None, 0.0
        try:
            status = process.wait(program.seconds)
        except subprocess.TimeoutExpired:
            killed_after = program.seconds
            status = end(process)
        finally:
            signal_group(process, signal.SIGKILL)
            process.wait()
    return status, killed_after, time.monotonic() - start


def output(program, suffix):
    try:
        with open(os.path.join(TOP, program.log(suffix)), encoding="utf-8",
                  errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""
