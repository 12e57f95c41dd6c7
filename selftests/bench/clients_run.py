# SPDX-License-Identifier: GPL-2.0
"""What selftests/bench/clients does in the virtual machine: programs that know
nothing of lace, on three nodes with two ports each, over

    one-way   n0 ====> n1 ====> n2 ====> n0, two lanes each
    duplex    n0 <---> n1 <---> n2 <---> n0, one lane each way

Prints JSON.
"""

import json
import os
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, TOP + "/selftests/net")
sys.dont_write_bytecode = True
from lib_kmod import poll, run  # noqa: E402
from lib_lab import Lab  # noqa: E402

NODES = range(3)
FIBRES = [[(["ocs0", 2 * n + p + 1], ["ocs0", 2 * n + p + 1])
           for p in range(2)] for n in NODES]
ONE_WAY = [(n, p, (n + 1) % 3, p) for n in NODES for p in range(2)]
ROUTES = [((n + 1) % 3, n, [(n + 2) % 3]) for n in NODES]
# Port 0 leads to the next node, port 1 to the one before.
DUPLEX = [(n, 0, (n + 1) % 3, 1) for n in NODES] + \
    [(n, 1, (n + 2) % 3, 0) for n in NODES]
PLANS = {"one-way": (ONE_WAY, ROUTES), "duplex": (DUPLEX, ())}
BYTES, TIMES = 3000000, 2
AGENT = TOP + "/selftests/net/mpi/rsh"


def address(node):
    return "10.77.0.%d" % (node + 1)


def iperf(lab, streams, seconds=3):
    """Mb/s from n0 to n1."""
    lab.run(1, "iperf3", "-s", "-1", "-D")
    poll(lambda: ":5201" in lab.run(1, "ss", "-Hltn"), "iperf3 listens", 60)
    end = json.loads(lab.run(0, "iperf3", "-J", "-c", address(1), "-P",
                             str(streams), "-O", "1", "-t",
                             str(seconds)))["end"]
    return round(end["sum_received"]["bits_per_second"] / 1e6, 1)


def open_mpi(lab, program):
    hosts = lab.folder.name + "/hosts"
    with open(hosts, "w", encoding="ascii") as file:
        file.writelines(address(n) + " slots=1\n" for n in NODES)
    return json.loads(run(
        AGENT, address(0), "mpirun", "-np", "3", "--hostfile", hosts, "--mca",
        "plm_rsh_agent", AGENT, "--mca", "btl", "tcp,self", "--mca",
        "btl_tcp_if_include", "lace0", "--mca", "oob_tcp_if_include", "lace0",
        "--mca", "mpi_yield_when_idle", "1", program, str(BYTES),
        str(TIMES)).splitlines()[-1])


def main():
    lab = Lab("c", FIBRES)
    program = lab.folder.name + "/collectives"
    os.environ.update(
        LACE_LAB="c", LACE_CLUSTER=lab.folder.name + "/cluster.json",
        OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    run("mpicc", "-O2", TOP + "/selftests/net/mpi/collectives.c", "-o", program)
    lab.up("switch-time", "0")
    found = {}
    try:
        for name, plan in PLANS.items():
            lab.apply(*plan)
            found[name] = {"iperf3 -P %d, Mb/s" % n: iperf(lab, n)
                           for n in (1, 4, 8)}
            print(name, found[name], file=sys.stderr, flush=True)
            found[name].update(open_mpi(lab, program))
            print(name, found[name], file=sys.stderr, flush=True)
    finally:
        lab.down()
    print(json.dumps(found, indent=1))


main()
