# SPDX-License-Identifier: GPL-2.0-only
"""Steps of a pipeline in the engines: at flow level as an independent recurrence says, to the ps.

Every rail and every rack is one switch, and no two kinds of messages of a step share a link: data
parallelism stays in the rack and the pipeline on the rails, or the other way round without stages.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyorch
from pyorch.metrics import RunTables, training_step
from pyorch.theory import exposed, full_step, preset
from pyorch.theory.fct import Framing, unloaded_fct_ps
from pyorch.training.plan import Shape, amounts

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import pipeline_oracle  # noqa: E402

pytestmark = pytest.mark.ns3

DIVIDE, UP_BPS, OUT_BPS, DELAY_PS = 2000, 14_400_000_000_000, 800_000_000_000, 1000
FRAMING = Framing(mtu_bytes=9000, header_bytes=1, first_header_bytes=0, framing_bytes=0)


def scenario(engine, **load):
    racks = load.get("stages", 1) * load.get("peers", 1)
    return {
        "name": "schedules",
        "engine": engine,
        "topology": {
            "type": "rails", "devices": load.get("members", 1) * load.get("tensor", 1),
            "rail": {"type": "star", "hosts": racks},
            "scale_up": {"rate": "14.4 Tb/s", "delay": "1 ns"},
        },
        "link": {"rate": "800 Gb/s", "delay": "1 ns"},
        "switch": {"buffer": "none"},
        "workload": {"type": "training", "preset": "dense-100t", "divide": DIVIDE} | load,
        "transport": {"type": "ns3::RoceTransport",
                      "attributes": {"MtuBytes": 9000, "HeaderBytes": 1, "RethBytes": 0}},
        "wire": {"framing": "0 B"},
        "stop": "10 s",
    }  # fmt: skip


def recurrence_ps(load):
    """Return the step by the recurrence, with what a message alone takes over two links."""
    setup = preset.training("dense-100t").setup
    setup = replace(setup, degrees=replace(setup.degrees, schedule=load["schedule"]))
    shape = Shape(*(load.get(name, 1) for name in Shape._fields))
    chunks = load.get("chunks", 16)
    one = amounts(setup, shape, DIVIDE, 1, chunks)

    def alone_ps(size_bytes, rate_bps):
        return unloaded_fct_ps(size_bytes, [rate_bps] * 2, [DELAY_PS] * 2, FRAMING)

    messages = pipeline_oracle.Messages(
        alone_ps(one.tensor_bytes // shape.tensor, UP_BPS),
        alone_ps(one.pipeline_bytes, OUT_BPS),
        alone_ps(one.rack_bytes // chunks // shape.members, UP_BPS),
        alone_ps(one.rail_bytes // chunks // shape.peers, OUT_BPS),
    )
    return pipeline_oracle.step_ps(
        pipeline_oracle.Job(
            load["schedule"], *shape[:4], 1, load["micro_batches"], load.get("model_chunks", 1),
            chunks, load.get("overlap", "pass"), 0, one.forward_ps, one.backward_ps,
        ), messages,
    )  # fmt: skip


def step_ps(engine, folder, **load):
    run = pyorch.run(scenario(engine, **load), results=folder)
    (row,) = training_step.measure(RunTables(run.spec, run.folder)).to_dict("records")
    return row


LOADS = [
    {"schedule": name, "stages": stages, "members": 2, "micro_batches": 8, "overlap": overlap,
     "model_chunks": 2 if name == "interleaved" else 1, "chunks": 1}
    for name in ("gpipe", "1f1b", "interleaved", "zero_bubble")
    for stages, overlap in ((2, "none"), (4, "pass"))
    # Passes of one length on four stages: messages from both sides meet at a port.
    if (name, stages) != ("zero_bubble", 4)
]  # fmt: skip
LOADS += [
    {"schedule": "1f1b", "peers": 3, "micro_batches": 2, "overlap": "none", "chunks": 1},
    {"schedule": "1f1b", "stages": 4, "tensor": 4, "micro_batches": 6},
]


@pytest.mark.parametrize("load", LOADS, ids=lambda load: "-".join(map(str, load.values())))
def test_the_fluid_engine_takes_as_long_as_the_recurrence(load, tmp_path):
    assert step_ps("fluid", tmp_path, **load)["step_ps"] == recurrence_ps(load)


def test_exposed_data_parallelism_is_that_of_one_stage(tmp_path):
    # 1, 2, 4 and 8 stages of two racks, whose reductions once ran one after the other. The last
    # message of each stage but the first shares its port with the reduction, and takes twice as
    # long: one message more for each stage, a fiftieth of a reduction, is all that is added.
    one = amounts(preset.training("dense-100t").setup, Shape(1, 2, 1, 1), DIVIDE, 1, 16)
    message_ps = one.pipeline_bytes * 8e12 / OUT_BPS
    added = []
    for stages in (1, 2, 4, 8):
        load = {"schedule": "1f1b", "stages": stages, "micro_batches": 8, "overlap": "none"}
        whole = step_ps("fluid", tmp_path, **load, peers=2)["step_ps"]
        added.append(whole - recurrence_ps(load) - (stages - 1) * message_ps)
    assert message_ps < added[0] / 40
    assert np.ptp(added) <= 1e-3 * added[0]


def test_packets_and_the_fluid_engine_agree_within_three_points(tmp_path):
    load = {"schedule": "1f1b", "stages": 4, "peers": 2, "members": 2, "tensor": 2,
            "micro_batches": 8, "divide": 200}  # fmt: skip
    rows = [step_ps(engine, tmp_path, **load) for engine in ("fluid", "packets")]
    shares = [row["exposed_share"] for row in rows]
    assert shares[1] == pytest.approx(shares[0], abs=0.03)
    for row in rows:
        kinds = ("tensor", "expert", "context", "pipeline", "data", "bubble", "other")
        parts = [row[f"{kind}_share"] for kind in kinds]
        assert min(parts) >= 0 and sum(parts) == pytest.approx(row["exposed_share"], abs=1e-9)


#: A job that is simulated whole: 2 or 4 stages of two layers, racks of 8.
SMALL = """
kind: training
title: small
model: {layers: 8, hidden: 4096, heads: 32, vocabulary: 1000}
precision: {weight: BF16, master: FP32, gradient: FP32, optimizer: [FP32, FP32], activation: BF16,
            activation_bytes_per_element: 34}
job: {sequence_tokens: 2048, micro_batch: 1, micro_batches: 8, recompute: none}
gpu: {memory: 800 GB, compute: 312 TFLOPS, efficiency: 0.4776}
cluster: {rack_gpus: 8, racks: 8}
network: {scale_up: 2.4 Tb/s, scale_out: 200 Gb/s, wan: 20 Gb/s, wan_rtt: 60 ms}
"""
CUTS = {
    "1f1b": "{tensor: 4, layers_per_stage: 2, schedule: 1f1b}",
    "interleaved": "{tensor: 8, layers_per_stage: 2, schedule: interleaved, virtual_stages: 2}",
    "zero_bubble": "{tensor: 2, layers_per_stage: 2, schedule: zero_bubble, zero: 1}",
    "experts": "{tensor: 1, layers_per_stage: 4, schedule: 1f1b, experts: 8}",
}


@pytest.mark.parametrize("cut", CUTS)
def test_closed_form_full_step_and_fluid_agree_within_three_points(cut, tmp_path):
    text = SMALL + f"parallelism: {CUTS[cut]}\n"
    if cut == "experts":
        text = text.replace("1000}", "1000, experts: 8, active_experts: 2}")
    (tmp_path / "small.yaml").write_text(text)
    setup = preset.training(str(tmp_path / "small.yaml")).setup
    where = setup.placement
    given = scenario("fluid", stages=where.stages, peers=where.racks_per_stage,
                     members=where.rack_members, tensor=where.tensor)  # fmt: skip
    given["workload"] |= {
        "preset": str(tmp_path / "small.yaml"), "divide": 1,
        "layers": setup.layers_per_stage // setup.degrees.virtual_stages,
    }  # fmt: skip
    given["topology"]["scale_up"]["rate"], given["link"]["rate"] = "2.4 Tb/s", "200 Gb/s"
    run = pyorch.run(given, results=tmp_path)
    (row,) = training_step.measure(RunTables(run.spec, run.folder)).to_dict("records")

    model = exposed.expose_setup(setup)
    fabric = full_step.Fabric(64, 1, setup.cluster.rack_gpus)
    solved = [full_step.solve(setup, fabric, phase) for phase in full_step.phases(setup)]
    step = exposed.expose(full_step.stage_times(setup, solved))
    # Of the step in which a device computes nothing, the pipeline's bubble included: of a wait for
    # a stage that both computes and reduces, the chain behind it and what is added are two answers.
    for closed in (model, step):
        assert closed.share + closed.bubble_share == pytest.approx(row["exposed_share"], abs=0.03)
        assert closed.step_ps == pytest.approx(row["step_ps"], rel=0.03)
