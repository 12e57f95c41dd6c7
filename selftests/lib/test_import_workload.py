#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""lacec import of workload files: simai (ASTRA-sim 1.0, SimAI), aicb."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import importing as t  # noqa: E402

BIG = 1 << 53
HYBRID = "HYBRID_TRANSFORMER_FWD_IN_BCKWD"


def one(name, content, *args):
    return t.run_import(name, {"in.txt": content.encode()}, *args)


# ---- simai ----

def layer(forward="NONE 0", input_grad="NONE 0", weight_grad="NONE 0"):
    return "l\t-1\t5\t%s\t6\t%s\t7\t%s\t8" % tuple(
        e.replace(" ", "\t") for e in (forward, input_grad, weight_grad))


def simai(header, *layers, nr=None, args=()):
    return one("simai", "\n".join(
        [header, str(len(layers) if nr is None else nr)] + list(layers)) +
        "\n", *args)


def order_of_layers():
    got = simai(HYBRID + " model_parallel_NPU_group: 2 all_gpus: 4",
                layer("ALLREDUCE 1", "ALLGATHER 2", "ALLREDUCE 3"),
                layer("ALLREDUCE 4", "ALLTOALL 5", "REDUCESCATTER 6"))
    tp, dp = "groups=[[0,1],[2,3]]", "groups=[[0,2],[1,3]]"
    t.check(got.ops() == ["1 all_reduce bytes=1 " + tp,
                          "1 all_reduce bytes=4 " + tp,
                          "1 all_to_all bytes=5 " + tp,
                          "1 reduce_scatter bytes=6 " + dp,
                          "1 all_gather bytes=2 " + tp,
                          "1 all_reduce bytes=3 " + dp], got)


def experts():
    got = simai(HYBRID + " model_parallel_NPU_group 2 ep 2 pp 1 all_gpus 8",
                layer("ALLTOALL_EP 9", "BROADCAST 8", "ALLGATHER_DP_EP 7"))
    t.check(got.ops() == [
        "1 all_to_all bytes=9 groups=[[0,2],[1,3],[4,6],[5,7]]",
        "1 broadcast bytes=8 groups=[[0,1],[2,3],[4,5],[6,7]]",
        "1 all_gather bytes=7 groups=[[0,4],[1,5],[2,6],[3,7]]"], got)


def pipeline():
    """Stages are outermost; what they send has no order in the file."""
    got = simai(HYBRID + " model_parallel_NPU_group: 2 ep: 1 pp: 2 ga: 4 "
                "all_gpus: 8 checkpoints: 2 1 0 checkpoint_initiates: 1 "
                "pp_comm 77", layer(weight_grad="ALLREDUCE 3"))
    t.check(got.ops() == [
        "1 all_reduce bytes=3 groups=[[0,2],[1,3],[4,6],[5,7]]"], got)
    t.check("pp_comm 77" in got.errors, got)


def policies():
    for policy in ("DATA", "MODEL", "MICRO"):
        got = simai(policy + " all_gpus: 4", layer("ALLREDUCE 1"),
                    layer(weight_grad="ALLREDUCE 2"))
        t.check(got.ops() == ["1 all_reduce bytes=1 groups=[[0,1,2,3]]",
                              "1 all_reduce bytes=2 groups=[[0,1,2,3]]"], got)
    simai("HYBRID_DLRM all_gpus: 4", layer()).refused(2, ":1:", "HYBRID_DLRM")


def nothing_to_move():
    got = simai(HYBRID + " model_parallel_NPU_group: 1 all_gpus: 2",
                layer("ALLREDUCE 5", "ALLREDUCE 0", "ALLREDUCE 3"))
    t.check(got.ops() == ["1 all_reduce bytes=3 groups=[[0,1]]"], got)
    t.check("zero_bytes 1, single_rank 1" in got.errors, got)
    simai(HYBRID + " all_gpus: 2", layer()).refused(1, "no communication")


def number_of_ranks():
    line = layer(weight_grad="ALLREDUCE 3")
    got = simai(HYBRID, line, args=("--ranks", "2"))
    t.check(got.ops() == ["1 all_reduce bytes=3 groups=[[0,1]]"], got)
    simai(HYBRID, line).refused(2, "--ranks")
    simai(HYBRID + " all_gpus: 4", line, args=("--ranks", "2")).refused(
        2, "--ranks 2", "4")
    for header, word in (("model_parallel_NPU_group: 3 all_gpus: 4", "TP 3"),
                         ("ep: 3 all_gpus: 4", "ep 3"),
                         ("pp: 0 all_gpus: 4", "pp is 0"),
                         ("ep: 0 all_gpus: 4", "ep is 0"),
                         ("model_parallel_NPU_group: 0 all_gpus: 4", "is 0"),
                         ("all_gpus: 99999999999999999999", "all_gpus"),
                         ("all_gpus: 4x", "all_gpus"),
                         ("all_gpus: ep: 1", "all_gpus: without"),
                         ("all_gpus:", "without a number")):
        simai(HYBRID + " " + header, line).refused(2, ":1:", word)


def layers_that_are_none():
    head = HYBRID + " all_gpus: 2"
    good = layer(weight_grad="ALLREDUCE 3")
    for lines, word in (
            ([good + "\t9"], ":3:"), (["l -1 5"], "3 columns"),
            ([layer("ALLREDUCE -1")], '"-1"'),
            ([layer("ALLREDUCE 1.5")], '"1.5"'),
            ([layer("ALLREDUCE %d" % (BIG + 1))], ":3:"),
            ([layer("DANCE 1")], "DANCE"), ([layer("ALLREDUCE_XX 1")], "_XX"),
            ([layer("_EP 1")], "_EP")):
        simai(head, *lines).refused(2, "in.txt", word)
    simai(head, good, nr=2).refused(2, "1 layers")
    simai(head, good, good, nr=1).refused(2, "more than 1")
    simai(head, good, nr="x").refused(2, ":2:", "number of layers")
    one("simai", "").refused(2, "no header")
    one("simai", head + "\n\n").refused(2, "number of layers")


# ---- aicb ----

COLUMNS = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src," \
    "additional,_elapsed_time,algbw,busbw,count"


def row(kind, group="tp_group", size=2, moved=8, src=None, additional="",
        count=1):
    return "CommType.%s,CommGroup.%s,%s,%s,x.y,None,%s,%s,None,None,None,%s" \
        % (kind, group, size, moved, src, additional, count)


def stage(banner, *rows):
    return "\n".join([banner, COLUMNS] + list(rows)) + "\n"


def aicb(*stages):
    return one("aicb", "".join(stages))


def one_stage():
    got = aicb(stage(
        "[rank0 ~ rank3]", row("all_reduce"), row("all_gather", "dp_group"),
        row("computation", "None", "None", 0), row("broadcast", src=1),
        row("barrier", "all", 4), row("reduce_scatter", moved="16.0"),
        row("epoch_end", "None", "None", 0)))
    t.check(got.ops() == ["1 all_reduce bytes=8 groups=[[0,1],[2,3]]",
                          "1 all_gather bytes=8 groups=[[0,2],[1,3]]",
                          "1 broadcast bytes=8 root=1 groups=[[0,1],[2,3]]",
                          "1 reduce_scatter bytes=16 groups=[[0,1],[2,3]]"],
            got)
    t.check("barrier 1" in got.errors, got)


def expert_groups():
    got = aicb(stage("[rank0 ~ rank7]", row("all_to_all", "ep_group"),
                     row("all_reduce", "ep_dp_group"), row("all_reduce")))
    t.check(got.ops() == [
        "1 all_to_all bytes=8 groups=[[0,2],[1,3],[4,6],[5,7]]",
        "1 all_reduce bytes=8 groups=[[0,4],[1,5],[2,6],[3,7]]",
        "1 all_reduce bytes=8 groups=[[0,1],[2,3],[4,5],[6,7]]"], got)


def stages():
    def forward(kind, where):
        return row(kind, "pp_group", 2, 5, additional=where)
    banners = ("[ pp_stage0: [rank0, rank1] ]", "[ pp_stage1: [rank2, rank3] ]")
    got = aicb(
        stage(banners[0], row("all_reduce"), forward("isend", "send_next"),
              forward("irecv", "recv_next"), row("all_reduce", moved=9)),
        stage(banners[1], forward("irecv", "recv_prev"), row("all_reduce"),
              forward("isend", "send_prev")))
    t.check(got.ops() == ["1 all_reduce bytes=8 groups=[[0,1]]",
                          "1 transfers 0>2:5 1>3:5",
                          "1 all_reduce bytes=8 groups=[[2,3]]",
                          "1 transfers 2>0:5 3>1:5",
                          "1 all_reduce bytes=9 groups=[[0,1]]"], got)
    got = aicb(
        stage(banners[0], row("all_reduce")),
        stage(banners[1], row("all_reduce"),
              row("all_reduce", "embedding_group", moved=3),
              row("all_reduce", "pp_group", moved=0)),
        ).refused(2, "pp_group", "no part")
    got = aicb(
        stage(banners[0], row("all_reduce")),
        stage(banners[1], row("all_reduce"),
              row("all_reduce", "embedding_group", moved=3)))
    t.check(got.ops() == ["1 all_reduce bytes=8 groups=[[0,1],[2,3]]",
                          "1 all_reduce bytes=3 groups=[[0,2],[1,3]]"], got)


def batches():
    """Sends and receives that follow each other are concurrent."""
    pair = (row("isend", "pp_group", 2, 5, additional="send_%s"),
            row("irecv", "pp_group", 2, 5, additional="recv_%s"))
    for between, ops in (((), 1), ((row("computation", "None", "None", 0),),
                                   2)):
        text = [stage("[ pp_stage%d: [rank%d] ]" % (s, s),
                      *[line % way if "%s" in line else line for line in
                        pair + between + pair])
                for s, way in ((0, "next"), (1, "prev"))]
        got = aicb(*text)
        t.check(sum(int(op.split()[0]) for op in got.ops()) == ops, got)


def workloads_that_are_none():
    good = stage("[rank0 ~ rank3]", row("all_reduce"))
    t.check(aicb(good).ops())
    banner = "[rank0 ~ rank3]"
    for text, words in (
            ("", ["banner"]), (row("all_reduce"), [":1:", "banner"]),
            ("[ranks]\n", [":1:", "without ranks"]),
            ("[rank1 ~ rank3]\n", [":1:", "rank 0"]),
            ("[rank0, rank2]\n", [":1:", "rank 1"]),
            ("[rank0 ~ rank99999999]\n", [":1:"]),
            (good + stage("[rank4 ~ rank5]"), [":4:", "2 ranks"]),
            (good + stage("[rank0 ~ rank3]"), [":4:", "rank 4"]),
            (banner + "\ncomm_type,msg_size\n", [":2:", "comm_group"]),
            (stage(banner, row("dance")), [":3:", "dance"]),
            (stage(banner, row("send")), [":3:", "send"]),
            (stage(banner, row("all_reduce", "odd_group")), ["odd_group"]),
            (stage(banner, row("all_reduce", size=3)), ["divide"]),
            (stage(banner, row("all_reduce", size=0)), [":3:"]),
            (stage(banner, row("all_reduce", "dp_group", 2)),
             [":3:", "4 ranks"]),
            (stage(banner, row("all_reduce"), row("all_reduce", size=4)),
             [":4:"]),
            (stage(banner, row("all_reduce", moved=-8)), [":3:", "msg_size"]),
            (stage(banner, row("all_reduce", moved="8.5")), ["msg_size"]),
            (stage(banner, row("all_reduce", moved=BIG + 1)), ["msg_size"]),
            (stage(banner, row("all_reduce", moved="")), ["msg_size"]),
            (stage(banner, row("broadcast", src=2)), [":3:", "src 2"]),
            (stage(banner, row("broadcast", src="x")), [":3:", "src"]),
            (stage(banner, row("all_reduce", count=2)), [":3:", "count 2"]),
            (stage(banner, row("isend", "pp_group", 1, 5,
                               additional="send_next")), [":3:", "next"]),
            (stage(banner, row("isend", "pp_group", 1, 5,
                               additional="recv_prev")), ["additional"]),
            (stage(banner, "all_reduce,tp_group"), [":3:"])):
        one("aicb", text).refused(2, "in.txt", *words)
    one("aicb", stage(banner)).refused(1, "no communication")


if __name__ == "__main__":
    sys.exit(t.main([
        order_of_layers, experts, pipeline, policies, nothing_to_move,
        number_of_ranks, layers_that_are_none, one_stage, expert_groups,
        stages, batches, workloads_that_are_none]))
