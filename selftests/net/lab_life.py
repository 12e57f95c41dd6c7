#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Labs come up and go without leftovers, whatever happens in between.

    n-x: lace0 = lane0, lane1 \\         / n-y: lace0 = lane0, lane1
                               n-ocs

timeout: 300
"""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from lib_kmod import expect, main, poll, run  # noqa: E402

LAB = "n"
WORK = tempfile.TemporaryDirectory()


def cluster(nodes=("x", "y"), ports=("lane0", "lane1"), **more):
    wide = 2 * len(nodes)
    return dict({
        "format": "lace-cluster/1", "name": LAB, "reconfig_s": 0.02,
        "control_ratio": 0.01,
        "ocs": [{"name": "ocs0", "inputs": wide, "outputs": wide}],
        "nodes": [{"name": node, "address": "10.77.0.%d" % (n + 1), "ports": [
            {"name": port, "rate_bps": 100000000,
             "tx": ["ocs0", 2 * n + p + 1], "rx": ["ocs0", 2 * n + p + 1]}
            for p, port in enumerate(ports)]}
            for n, node in enumerate(nodes)]}, **more)


def write(content):
    path = WORK.name + "/cluster.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else
                   json.dumps(content))
    return path


def lacectl(*words, status=0, env=None):
    done = subprocess.run(("lacectl",) + words, check=False, text=True,
                          env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    expect(done.returncode == status, "lacectl %s: status %d, not %d\n%s" % (
        " ".join(words), done.returncode, status, done.stderr))
    return done.stdout if status == 0 else done.stderr


def up(*words, content=None, **more):
    return lacectl("lab", "up", write(content or cluster()), *words, **more)


def down():
    return lacectl("lab", "down", LAB)


def tree(path):
    return sorted(os.path.join(folder, name)
                  for folder, folders, files in os.walk(path)
                  for name in folders + files)


def machine():
    """All that a lab could leave behind."""
    links = sorted(link["ifname"] for link in json.loads(run("ip", "-j",
                                                             "link")))
    return {"netns": sorted(run("ip", "netns").split()), "links": links,
            "bpffs": tree("/sys/fs/bpf"), "run": tree("/run/lace"),
            "mounts": sorted(line.split()[1] for line in
                             open("/proc/mounts", encoding="ascii")
                             if "/run/netns/" in line)}


CLEAN = {}


def expect_clean():
    now = machine()
    expect(now == CLEAN, (now, CLEAN))


def namespaces():
    return sorted(line.split()[0] for line in run("ip", "netns").splitlines())


def twice():
    """Up and down, twice, leaves nothing."""
    for _ in range(2):
        up()
        expect(namespaces() == ["n-ocs", "n-x", "n-y"], namespaces())
        down()
        expect_clean()


def what_is_there():
    """A lab is what the cluster file says."""
    content = cluster()
    content["nodes"][1]["prefixes"] = ["10.99.0.0/16", "fd99::5/128"]
    up("rate", "10M", "mtu", "4000", "switch-time", "5ms",
       "sysctl", "net.ipv4.tcp_no_metrics_save=1", content=content)
    lab = json.loads(lacectl("-j", "lab", "show", LAB))
    expect(abs(lab["payload_ratio"] - 3948 / 4014) < 1e-6, lab)
    expect(lab["switch_s"] == 0.005 and lab["mtu"] == 4000, lab)
    port = lab["nodes"][0]["ports"][0]
    expect(port["rate_bps"] == 10000000, port)
    link = json.loads(run("ip", "-j", "-n", "n-x", "link", "show", "lane0"))
    expect(link[0]["address"] == port["mac"] and link[0]["mtu"] == 4000, link)
    expect(link[0]["master"] == "lace0", link)
    addresses = run("ip", "-n", "n-y", "addr", "show", "lace0")
    for address in ("10.77.0.2/32", "fd99::5/128"):
        expect(address in addresses, addresses)
    routes = run("ip", "-n", "n-x", "route") + run("ip", "-n", "n-x", "-6",
                                                   "route")
    for route in ("10.77.0.2 dev lace0", "10.99.0.0/16 dev lace0",
                  "fd99::5 dev lace0"):
        expect(route in routes, routes)
    nodes = run("lacectl", "-n", "n-x", "node", "show")
    expect("10.99.0.0/16" in nodes and port["mac"] in nodes, nodes)
    qdisc = run("tc", "-n", "n-x", "qdisc", "show", "dev", "lane1")
    expect("rate 10Mbit" in qdisc, qdisc)
    expect(run("ip", "netns", "exec", "n-y", "sysctl", "-n",
               "net.ipv4.tcp_no_metrics_save").strip() == "1", "sysctl")
    expect(LAB in lacectl("lab").split(), "lab is not listed")
    with open("/run/lace/n/cluster.json", encoding="ascii") as file:
        expect(json.load(file) == content, "cluster.json")
    down()
    expect_clean()


def there_already():
    """A lab or a namespace of that name is not touched."""
    up()
    before = machine()
    expect("there is a lab n" in up(status=1), "wrong reason")
    expect(machine() == before, machine())
    down()
    run("ip", "netns", "add", "n-y")
    try:
        expect("namespace n-y" in up(status=1), "wrong reason")
        expect(namespaces() == ["n-y"], namespaces())
        expect(not os.path.exists("/run/lace"), tree("/run/lace"))
    finally:
        run("ip", "netns", "del", "n-y")
    expect_clean()
    expect("no lab n" in lacectl("lab", "down", LAB, status=1), "wrong reason")


def removed_by_hand():
    """Down copes with namespaces, pins and files that are gone."""
    up()
    run("ip", "netns", "del", "n-x")
    down()
    expect_clean()
    up()
    for name in namespaces():
        run("ip", "netns", "del", name)
    for path in tree("/sys/fs/bpf/lace/n"):
        os.unlink(path)
    os.unlink("/run/lace/n/lab.json")
    down()
    expect_clean()


def failing(tool, nth):
    """A PATH where the nth call of a tool fails."""
    folder = tempfile.mkdtemp(dir=WORK.name)
    path = "%s/%s" % (folder, tool)
    with open(path, "w", encoding="ascii") as file:
        file.write("""#!/bin/sh
echo >>%s.calls
[ $(wc -l <%s.calls) = %d ] && { echo "no, said %s" >&2; exit 1; }
exec /usr/sbin/%s "$@"
""" % (path, path, nth, tool, tool))
    os.chmod(path, stat.S_IRWXU)
    return dict(os.environ, PATH=folder + ":" + os.environ["PATH"])


def any_step_fails():
    """Whichever step fails, all of it is taken down."""
    # The first tc only asks whether there is fair queueing.
    for tool, calls in (("ip", range(1, 6)), ("tc", range(2, 4))):
        for nth in calls:
            said = up(env=failing(tool, nth), status=2)
            expect("no, said " + tool in said, (tool, nth, said))
            expect_clean()


def interrupted():
    """Interrupted at any time, a lab is taken down or can be."""
    path = write(cluster())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        for delay in (0.02, 0.1, 0.3):
            process = subprocess.Popen(("lacectl", "lab", "up", path),
                                       stderr=subprocess.PIPE)
            time.sleep(delay)
            process.send_signal(number)
            process.communicate()
            if os.path.exists("/run/lace/n"):
                expect(number == signal.SIGKILL or process.returncode == 0,
                       "left behind after signal %d" % number)
                down()
            expect_clean()


def ends_processes():
    """Down ends what runs in the lab, and says so."""
    up()
    # A shell that does not hear, and what it waits for.
    stubborn = subprocess.Popen(
        ("lacectl", "lab", "exec", LAB, "x", "--", "sh", "-c",
         "trap '' TERM; while :; do sleep 1; done"))
    meek = subprocess.Popen(("ip", "netns", "exec", "n-y", "sleep", "1000"))
    poll(lambda: run("ip", "netns", "pids", "n-x").strip() and
         run("ip", "netns", "pids", "n-y").strip(), "processes")
    done = subprocess.run(("lacectl", "lab", "down", LAB), check=True,
                          stderr=subprocess.PIPE, text=True)
    expect("processes in lab n" in done.stderr, done.stderr)
    expect(stubborn.wait(5) == -signal.SIGKILL, stubborn.returncode)
    expect(meek.wait(5) == -signal.SIGTERM, meek.returncode)
    expect_clean()


def exec_in_node():
    """exec runs in the node, with its /sys, bpffs, and exit status."""
    up()
    expect(sorted(os.listdir("/sys/class/net")) !=
           sorted(lacectl("lab", "exec", LAB, "x", "ls",
                          "/sys/class/net").split()), "host's /sys")
    links = lacectl("lab", "exec", LAB, "x", "--", "ls",
                    "/sys/class/net").split()
    expect(links == ["lace0", "lane0", "lane1", "lo"], links)
    expect("ocs_connect" in lacectl("lab", "exec", LAB, "ocs", "ls",
                                    "/sys/fs/bpf/lace/n"), "no bpffs")
    lacectl("lab", "exec", LAB, "x", "--", "sh", "-c", "exit 7", status=7)
    expect("no node z" in lacectl("lab", "exec", LAB, "z", "true", status=1),
           "wrong reason")
    lacectl("lab", "exec", LAB, "x", status=2)
    down()


def refused():
    """Names and numbers that cannot be are refused in one line."""
    bad = [
        (("name", "a/b"), None), (("name", ".."), None), (("name", ""), None),
        (("name", "x" * 33), None), (("name", "a b"), None),
        (("name", "-n"), None), (("name", "a\nb"), None),
        (("mtu", "100"), None), (("mtu", "70000"), None),
        (("rate", "0"), None), (("rate", "-5M"), None),
        (("rate", "5furlongs"), None), (("rate", "nan"), None),
        (("rate-scale", "0"), None), (("rate-scale", "inf"), None),
        (("rate-scale", "1e-9"), None), (("rate-scale",), None),
        (("switch-time", "never"), None), (("sysctl", "novalue"), None),
        (("sysctl", "../../etc/passwd=1"), None), (("bogus",), None),
        ((), cluster(ports=("lane0", "a-name-too-long-for-linux"))),
        ((), cluster(ports=("lane0", "lace0"))),
        ((), cluster(ports=("lane0", "lo"))),
        ((), cluster(ports=("lane0", "la ne"))),
        ((), cluster(ports=("lane0", "lane/0"))),
        ((), cluster(nodes=("x", "ocs"))), ((), cluster(nodes=("x", "../y"))),
        ((), cluster(nodes=("x", "y" * 65))), ((), cluster(nodes=("x", ""))),
        ((), json.dumps(cluster())[:200]), ((), "{}"),
    ]
    same = cluster()
    same["nodes"][1]["address"] = "10.77.0.1"
    odd = cluster()
    odd["nodes"][1]["address"] = "10.77.0.300"
    for words, content in bad + [((), same), ((), odd)]:
        said = up(*words, content=content, status=2)
        expect(said.startswith("lacectl: ") and said.count("\n") == 1,
               (words, said))
        expect_clean()
    said = lacectl("lab", "up", WORK.name + "/nothing.json", status=2)
    expect("nothing.json" in said, said)


def dry_run():
    """dry-run prints the commands and does nothing."""
    said = up("dry-run", "rate", "50M")
    for line in ("ip netns add n-x", "ip -n n-x link add name lace0 type lace",
                 "ip -n n-y link set dev lane1 master lace0"):
        expect(line in said.splitlines(), said)
    expect("tc -n n-x qdisc add dev lane0 root handle 1: tbf rate 50000000bit"
           in said, said)
    expect_clean()


def tidy(test):
    """A test that fails leaves nothing to those after it."""
    def tidied():
        try:
            test()
        finally:
            subprocess.run(("lacectl", "lab", "down", LAB), check=False,
                           stderr=subprocess.DEVNULL)
    tidied.__doc__ = test.__doc__
    return tidied


subprocess.run(("modprobe", "lace"), check=False)
CLEAN.update(machine())
try:
    main(*map(tidy, (twice, what_is_there, there_already, removed_by_hand,
                     any_step_fails, interrupted, ends_processes, exec_in_node,
                     refused, dry_run)))
finally:
    WORK.cleanup()
