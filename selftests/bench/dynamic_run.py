# SPDX-License-Identifier: GPL-2.0
"""What selftests/bench/replay --dynamic does in the virtual machine: testbed3,
whose ring turns round for each backward window if a transition costs little.

A first lab is calibrated while it plays the plan with transitions. A second one
plays three plans for what was found: duplex circuits, one configuration of
simplex ones, and simplex ones with transitions. Prints a table or JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
EXAMPLE = os.path.join(TOP, "Documentation/examples/testbed3")
SCHEDULE = EXAMPLE + "/schedule.json"
LAB = "dynamic"
os.environ["PATH"] = TOP + "/build/tools:" + os.environ["PATH"]
SCHEDULERS = ("symmetric", "lace-oneshot", "lace")
WITHIN = 0.05
# TCP here takes packets that overtake each other for lost; see the demo.
SYSCTLS = ("sysctl", "net.ipv4.tcp_recovery=0",
           "sysctl", "net.ipv4.tcp_reordering=127")


def run(*words):
    done = subprocess.run(words, check=False, text=True, cwd=TOP,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit("dynamic: %s: exit status %d" % (" ".join(words),
                                                  done.returncode))
    return done.stdout


class Bench:
    def __init__(self, folder, options):
        self.folder = folder
        self.options = options

    def path(self, name):
        return os.path.join(self.folder, name)

    def lab(self, cluster, act):
        run("lacectl", "lab", "up", cluster, "name", LAB, "rate-scale",
            str(self.options.scale), "switch-time", self.options.switch_time,
            *SYSCTLS)
        try:
            return act(cluster)
        finally:
            run("lacectl", "lab", "down", LAB)

    def compile(self, cluster, scheduler):
        plan = self.path(scheduler + ".plan")
        run("lacec", "compile", "-c", cluster, "-s", SCHEDULE, "--scheduler",
            scheduler, "-o", plan)
        return plan

    def replay(self, cluster, plan):
        return ("lace-replay", "-j", "--transitions", "-l", LAB, "-c", cluster,
                "-s", SCHEDULE, "-p", plan, "--scale-bytes", str(self.options.scale))

    def calibrate(self, cluster):
        """Counters and transitions while the plan is played."""
        play = self.replay(cluster, self.compile(cluster, "lace"))
        with subprocess.Popen(play, cwd=TOP, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as player:
            time.sleep(1)
            found = json.loads(run(
                "lacectl", "-j", "calibrate", "lab", LAB, "seconds", "12",
                "output", self.path("calibrated.json")))
        if player.returncode:
            sys.exit("dynamic: %s: exit status %d" % (" ".join(play),
                                                      player.returncode))
        return found

    def measure(self, cluster):
        return {scheduler: json.loads(run(*self.replay(
                    cluster, self.compile(cluster, scheduler))))
                for scheduler in SCHEDULERS}


def summary(found, results):
    values = {"reconfig_ms": 1e3 * found["reconfig_s"],
              "control_ratio": found["control_ratio"],
              "payload_ratio": found["payload_ratio"],
              "transitions": len(results["lace"]["segments"]) - 1,
              "bad_bytes": sum(r["bad_bytes"] + r["extra_bytes"]
                               for r in results.values())}
    for name, result in results.items():
        values[name] = {
            "predicted_s": result["predicted_s"],
            "measured_s": result["measured_s"],
            "off": result["measured_s"] / result["predicted_s"] - 1}
    return values


def complaints(values):
    """What is not as it has to be."""
    if values["bad_bytes"]:
        yield "%d bytes are wrong" % values["bad_bytes"]
    for name in SCHEDULERS:
        if abs(values[name]["off"]) > WITHIN:
            yield "%s: %.1f %% off" % (name, 100 * values[name]["off"])
    best = [min(SCHEDULERS, key=lambda n, k=key: values[n][k])
            for key in ("predicted_s", "measured_s")]
    if best[0] != best[1]:
        yield "the plans say that %s is fastest, and %s is" % tuple(best)


def print_table(values):
    print("payload %.4f of the rate, control %.4f, transition %.2f ms" % (
        values["payload_ratio"], values["control_ratio"],
        values["reconfig_ms"]))
    print("%-14s %12s %12s %8s" % ("plan", "predicted s", "measured s", "off"))
    for name in SCHEDULERS:
        print("%-14s %12.3f %12.3f %7.1f%%" % (
            name, values[name]["predicted_s"], values[name]["measured_s"],
            100 * values[name]["off"]))
    print("lace: %d transitions; %d bad bytes" % (values["transitions"],
                                                  values["bad_bytes"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--scale", type=float, default=0.0002)
    parser.add_argument("--switch-time", default="10ms")
    options = parser.parse_args()
    run("modprobe", "lace")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, options)
        found = bench.lab(EXAMPLE + "/cluster-fast.json", bench.calibrate)
        results = bench.lab(bench.path("calibrated.json"), bench.measure)
    values = summary(found, results)
    if options.json:
        print(json.dumps(values))
    else:
        print_table(values)
    wrong = list(complaints(values))
    for line in wrong:
        sys.stderr.write("dynamic: %s\n" % line)
    sys.exit(1 if wrong else 0)


main()
