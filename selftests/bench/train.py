# SPDX-License-Identifier: GPL-2.0
"""A small model trained data-parallel by PyTorch over gloo, as users do: each
rank has a third of every batch, and gradients are all-reduced in one piece.

    train.py RANK RANKS ADDRESS INTERFACE STEPS

ADDRESS is rank 0's. What comes out has to be the same on all ranks, and what one
process makes of whole batches. Rank 0 prints JSON: seconds of a step, and bytes
of gradients.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist

WIDTH, BATCH = 360, 12


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh(),
                               torch.nn.Linear(WIDTH, WIDTH))


def batch(step):
    generator = torch.Generator().manual_seed(100 + step)
    return torch.randn(2, BATCH, WIDTH, generator=generator)


def gradients(net, inputs, wanted, share):
    """Of the mean over the whole batch, what this part adds."""
    net.zero_grad()
    ((net(inputs) - wanted) ** 2).mean().mul(share).backward()
    return torch.cat([p.grad.flatten() for p in net.parameters()])


def descend(net, gradient):
    with torch.no_grad():
        for parameter in net.parameters():
            count = parameter.numel()
            parameter -= 0.1 * gradient[:count].view_as(parameter)
            gradient = gradient[count:]


def train(net, steps, rank, ranks):
    """Seconds of a step: the mean but for the first."""
    part = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    for step in range(steps):
        if step == 1:
            start = time.monotonic()
        inputs, wanted = batch(step)
        gradient = gradients(net, inputs[part], wanted[part], 1 / ranks)
        if ranks > 1:
            dist.all_reduce(gradient)
        descend(net, gradient)
    return (time.monotonic() - start) / (steps - 1), gradient.numel() * 4


def parameters(net):
    return torch.cat([p.detach().flatten() for p in net.parameters()])


def is_same_everywhere(values):
    least, most = values.clone(), values.clone()
    dist.all_reduce(least, dist.ReduceOp.MIN)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    return torch.equal(least, most)


def main():
    rank, ranks, steps = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[5])
    os.environ.update(MASTER_ADDR=sys.argv[3], MASTER_PORT="29500",
                      GLOO_SOCKET_IFNAME=sys.argv[4])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    net = model()
    seconds, size = train(net, steps, rank, ranks)
    same = is_same_everywhere(parameters(net))
    if rank == 0:
        alone = model()
        train(alone, steps, 0, 1)
        off = (parameters(net) - parameters(alone)).abs().max().item()
        print(json.dumps({"step_s": round(seconds, 4), "bytes": size,
                          "off": off}), flush=True)
        same = same and off < 1e-5
    dist.barrier()
    sys.exit(0 if same else 1)


main()
