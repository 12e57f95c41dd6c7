#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write the Chakra traces of one training step of a small transformer.

    selftests/demo/make_chakra.py OUTDIR [--scale BYTES]

Eight ranks, tensor parallel 2 x data parallel 2 x pipeline parallel 2; rank =
tp + 2 dp + 4 pp. OUTDIR gets step.0.et .. step.7.et and groups.json. Each stage
has LAYERS layers; MICROBATCHES pass through both stages, forward and then
backward:

- tensor parallel: an all_reduce of the activations in each layer, forward and
  backward, between neighbours 0-1, 2-3, ...
- pipeline: activations go from the first stage to the second, gradients back;
- data parallel: at the end the gradients are reduce_scattered and the new
  weights all_gathered, between ranks 0-2, 1-3, ...; as weights take more than
  an activation, this is where most bytes are.

--scale is the size of one activation in bytes (default 262144).
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "lib"))

import chakra  # noqa: E402

TP, DP, PP = 2, 2, 2
LAYERS = 2
MICROBATCHES = 4
WEIGHTS = 16        # gradients of a stage, in activations


class Rank:
    """The program of one rank: nodes, each after the one before it."""

    def __init__(self, rank, activation):
        self.rank = rank
        self.tp = rank % TP
        self.dp = rank // TP % DP
        self.stage = rank // (TP * DP)
        self.activation = activation
        self.nodes = []

    def peer(self, stage):
        return self.rank + (stage - self.stage) * TP * DP

    def after(self):
        """Ids that the next node waits for."""
        return [len(self.nodes)] if self.nodes else []

    def ident(self):
        return len(self.nodes) + 1

    def compute(self, name):
        self.nodes.append(chakra.node(self.ident(), data=self.after(),
                                      name=name))

    def collective(self, kind, size, group, name):
        self.nodes.append(chakra.collective(
            self.ident(), kind, size, group, self.after(), name=name))

    def send(self, stage, tag):
        self.nodes.append(chakra.send(self.ident(), self.peer(stage),
                                      self.activation, tag, self.after()))

    def recv(self, stage, tag):
        self.nodes.append(chakra.recv(self.ident(), self.peer(stage),
                                      self.activation, tag, self.after()))

    def layers(self, what):
        for layer in range(LAYERS):
            self.compute("%s layer %d" % (what, layer))
            self.collective(chakra.ALL_REDUCE, self.activation,
                            "tp%d" % (self.rank // TP), "tp " + what)

    def forward(self, batch):
        if self.stage > 0:
            self.recv(self.stage - 1, batch)
        self.layers("forward")
        if self.stage < PP - 1:
            self.send(self.stage + 1, batch)

    def backward(self, batch):
        if self.stage < PP - 1:
            self.recv(self.stage + 1, MICROBATCHES + batch)
        self.layers("backward")
        if self.stage > 0:
            self.send(self.stage - 1, MICROBATCHES + batch)

    def update(self):
        group = "dp%d" % (self.stage * TP + self.tp)
        size = WEIGHTS * self.activation
        self.collective(chakra.REDUCE_SCATTER, size, group, "gradients")
        self.compute("optimizer")
        # A Chakra all_gather has the size of one rank's share.
        self.collective(chakra.ALL_GATHER, size // DP, group, "weights")

    def program(self):
        for batch in range(MICROBATCHES):
            self.forward(batch)
        for batch in range(MICROBATCHES):
            self.backward(batch)
        self.update()
        return self.nodes


def groups():
    found = {}
    for rank in range(TP * DP * PP):
        found.setdefault("tp%d" % (rank // TP), []).append(rank)
        found.setdefault("dp%d" % (rank // (TP * DP) * TP + rank % TP),
                         []).append(rank)
    return found


def main():
    args = sys.argv[1:]
    activation = 262144
    if len(args) == 3 and args[1] == "--scale" and args[2].isdigit():
        activation = int(args[2])
        del args[1:]
    if len(args) != 1 or args[0].startswith("-"):
        sys.stderr.write("usage: make_chakra.py OUTDIR [--scale BYTES]\n")
        return 2
    os.makedirs(args[0], exist_ok=True)
    for rank in range(TP * DP * PP):
        nodes = Rank(rank, activation).program()
        with open(os.path.join(args[0], "step.%d.et" % rank), "wb") as file:
            file.write(chakra.trace(nodes))
    with open(os.path.join(args[0], "groups.json"), "w",
              encoding="utf-8") as file:
        json.dump(groups(), file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
