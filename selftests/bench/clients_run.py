# SPDX-License-Identifier: GPL-2.0
"""What selftests/bench/clients does in the virtual machine: programs that know
nothing of lace, on three nodes with two ports each, over

    one-way   n0 ====> n1 ====> n2 ====> n0, two lanes each
    duplex    n0 <---> n1 <---> n2 <---> n0, one lane each way

Prints JSON.
"""

import json
import os
import subprocess
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
STEPS = 6
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


def host_file(lab, form):
    hosts = lab.path("hosts")
    with open(hosts, "w", encoding="ascii") as file:
        file.writelines(form % address(n) + "\n" for n in NODES)
    return hosts


def mpi_program(lab, kind):
    program = lab.path(kind)
    run("mpicc." + kind, "-O2", TOP + "/selftests/net/mpi/collectives.c", "-o",
        program)
    return program


def open_mpi(lab):
    return json.loads(run(
        AGENT, address(0), "mpirun.openmpi", "-np", "3", "--hostfile",
        host_file(lab, "%s slots=1"), "--mca", "plm_rsh_agent", AGENT, "--mca",
        "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lace0", "--mca",
        "oob_tcp_if_include", "lace0", "--mca", "mpi_yield_when_idle", "1",
        mpi_program(lab, "openmpi"), str(BYTES), str(TIMES)).splitlines()[-1])


def mpich(lab):
    return json.loads(run(
        AGENT, address(0), "env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lace0",
        "MPIR_CVAR_POLLS_BEFORE_YIELD=1", "mpiexec.mpich", "-launcher", "rsh",
        "-launcher-exec", AGENT, "-f", host_file(lab, "%s:1"), "-n", "3",
        "-iface", "lace0", mpi_program(lab, "mpich"), str(BYTES),
        str(TIMES)).splitlines()[-1])


def training(_):
    """Seconds of a step; train.py checks what came out.

    Gloo's ring goes from each rank to the one before, so ranks are placed such
    that this is the next node.
    """
    ranks = [subprocess.Popen(
        (AGENT, address(-rank % len(NODES)), "/usr/bin/python3",
         TOP + "/selftests/bench/train.py", str(rank), str(len(NODES)),
         address(0), "lace0", str(STEPS)), stdout=subprocess.PIPE)
        for rank in NODES]
    said = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise RuntimeError("training: a rank failed")
    return json.loads(said[0].splitlines()[-1])


def streams(lab):
    return {"-P %d, Mb/s" % n: iperf(lab, n) for n in (1, 4, 8)}


CLIENTS = {"iperf3": streams, "openmpi": open_mpi, "mpich": mpich,
           "pytorch": training}


def main():
    clients = sys.argv[1].split(",") if len(sys.argv) > 1 else list(CLIENTS)
    if set(clients) - set(CLIENTS):
        sys.exit("clients: there are " + ", ".join(CLIENTS))
    lab = Lab("c", FIBRES)
    os.environ.update(
        LACE_LAB="c", LACE_CLUSTER=lab.path("cluster.json"),
        OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    lab.up("switch-time", "0")
    found = {}
    try:
        for name, plan in PLANS.items():
            lab.apply(*plan)
            found[name] = {}
            for client in clients:
                found[name][client] = CLIENTS[client](lab)
                print(name, client, found[name][client], file=sys.stderr,
                      flush=True)
    finally:
        lab.down()
    print(json.dumps(found, indent=1))


main()
