# SPDX-License-Identifier: GPL-2.0-only
"""The description of a job: models of others, what a device holds and sends, what is refused."""

import re
from dataclasses import replace

import pytest

from pyorch.errors import PyorchError
from pyorch.theory import exposed, full_step, parallelism, preset, schedules

#: Published parameters, all and those that a token meets, and how exactly they are printed [1e9].
PUBLISHED = {
    "llama3-8b": (8.03, 8.03, 0.01),  # model card of Llama 3
    "llama3-70b": (70.6, 70.6, 0.1),
    "llama3-405b": (405.8, 405.8, 0.2),
    "gpt3-175b": (174.6, 174.6, 0.1),  # [narayanan21] table 2
    "deepseek-v3": (671, 37, 0.5),  # [deepseek24]
    "mixtral-8x7b": (46.7, 12.9, 0.1),  # model card: 47B and 13B
    "qwen3-235b": (235, 22, 0.5),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_those_that_are_published(name):
    total, active, digits = PUBLISHED[name]
    model = preset.training(name).setup.model
    assert model.parameters / 1e9 == pytest.approx(total, abs=digits)
    assert model.active_parameters / 1e9 == pytest.approx(active, abs=digits)


@pytest.mark.parametrize("name", preset.names("training"))
def test_closed_form_and_the_step_at_full_size_agree_within_three_points(name):
    # On one switch for each rail: one tier of chips.
    setup = preset.training(name).setup
    if name in ("dense-100t", "moe-100t"):
        setup = preset.training(name, [("cluster.racks", 540), ("cluster.datacenters", 1)]).setup
    fabric = full_step.Fabric(2 * setup.cluster.n_racks, 1, setup.cluster.rack_gpus)
    solved = [full_step.solve(setup, fabric, phase) for phase in full_step.phases(setup)
              if phase.network != "wan"]  # fmt: skip
    ideal = exposed.expose_setup(setup)
    step = exposed.expose(full_step.stage_times(setup, solved))
    assert ideal.share <= step.share <= ideal.share + 0.03
    parts = ("tensor", "expert", "context", "pipeline", "data", "bubble", "compute")
    total = sum(getattr(step, f"{part}_ps") for part in parts)
    assert (
        total == pytest.approx(step.step_ps)
        and min(getattr(step, f"{part}_ps") for part in parts) >= -1e-3
    )  # ps


def test_what_is_sharded_is_held_by_one_of_so_many():
    # By hand for DeepSeek-V3: 4 experts of 256 over 64; of its 128 replicas 2 have the same. Two
    # model chunks of 4 layers; of a parameter FP8 weights, FP32 gradients, FP32 master and two BF16
    # moments, of which ZeRO divides the last two kinds.
    setup = preset.training("deepseek-v3").setup
    expert, attention = 3 * 7168 * 2048, setup.model.attention_parameters
    assert attention == pytest.approx(187.1e6, rel=1e-3)
    common = (attention + expert) * (1 + 4 + 8 / 128)
    routed = 4 * expert * (1 + 4 + 8 / 2)
    activations = 17 * 20 * 4096 * 7168
    assert setup.held_bytes == pytest.approx(4 * (2 * (common + routed) + activations))


@pytest.mark.parametrize(
    "zero, bytes_", [(0, 18), (1, 6 + 12 / 64), (2, 2 + 16 / 64), (3, 18 / 64)]
)
def test_zero_divides_one_kind_after_the_other(zero, bytes_):
    # Rajbhandari et al., SC 2020, figure 1: optimiser, gradients, weights; here 12, 4 and 2 bytes.
    setup = preset.training("llama3-8b", [("parallelism.zero", zero), ("gpu.memory", "1 TB")]).setup
    kept = 34 * 8192 * 4096 * 32
    assert setup.held_bytes == pytest.approx(32 * setup.model.layer_parameters * bytes_ + kept)


@pytest.mark.parametrize("experts", [1, 8, 64])
def test_experts_reduce_their_gradients_among_their_own_replicas(experts):
    # Closed form: 128 replicas, 8 of a rack; routed experts of e-th of a layer among 128 / e. In a
    # rack what lies there 8 / min(8, e) times, among racks the rest, e / 8 racks apart.
    setup = preset.training(
        "deepseek-v3",
        [("parallelism.experts", experts), ("gpu.memory", "10 TB"), ("parallelism.zero", 0)],
    ).setup
    model, total = setup.model, 0.0
    for parameters, members, racks in (
        (model.common_parameters, 8, 16),
        (model.routed_parameters / experts, 8 // min(8, experts), 16 // max(1, experts // 8)),
    ):
        size = 4 * 4 * parameters / members
        total += 2 * (racks - 1) / racks * size * 8e12 / 400e9
    assert parallelism.stage_times(setup).dp2_ps == pytest.approx(total)


def test_a_token_goes_to_its_racks_once_and_from_there_to_each_expert():
    # 4096 tokens x 7168 x (1 + 2) bytes there and back, to 4 of 8 racks: 7/8 leave; 8 copies in a
    # rack of 8.
    setup = preset.training("deepseek-v3").setup
    near, far = parallelism.expert_bytes(setup)
    assert (near, far) == (7 / 8 * 8 * 4096 * 7168 * 3, 7 / 8 * 4 * 4096 * 7168 * 3)


def test_hsdp_scatters_in_its_shard_and_reduces_among_shards():
    # 64 replicas, 8 of a rack; shards of 2 racks: (n-1)/n within, an all-reduce of a half among 4.
    setup = preset.training("llama3-8b", [("parallelism.shard", 16)]).setup
    (one,) = parallelism.reductions(setup)
    assert (one.members, one.racks, one.shard_racks) == (8, 8, 2)
    size = setup.model.layer_parameters * 32 * 4 / 8
    expected = (1 / 2 * size + 2 * 3 / 4 * size / 2) * 8e12 / 400e9
    assert parallelism.stage_times(setup).dp2_ps == pytest.approx(expected)


def test_shared_sequences_divide_work_and_gather_keys_and_values():
    sets = [("parallelism.context", 16), ("parallelism.data", 8)]
    one, many = (preset.training("llama3-405b", s).setup for s in ([], sets))
    alone, shared = (parallelism.stage_times(setup) for setup in (one, many))
    assert shared.pipeline_ps * 16 == pytest.approx(alone.pipeline_ps)
    assert shared.forward_ps * 16 == pytest.approx(alone.forward_ps)
    # Keys and values of 8 heads of 128, 8192 tokens, over 8 GPUs and 16 racks, in 8 layers.
    size = 2 * 8 * 128 * 8192 * 2 / 8
    assert shared.context_ps == pytest.approx(8 * 15 / 16 * size * 8e12 / 400e9)


def test_times_of_a_profile_take_the_place_of_arithmetic():
    layer = {"forward": "20 ms", "backward": "50 ms"}
    times = parallelism.stage_times(preset.training("llama3-405b", [("gpu.layer", layer)]).setup)
    assert (times.forward_ps, times.backward_ps) == (8 * 20e9, 8 * 50e9)


def test_more_micro_batches_never_expose_a_larger_share_of_data_parallelism():
    shares = [
        exposed.expose_setup(preset.training("llama3-405b", [("job.micro_batches", n)]).setup)
        for n in (16, 32, 64)
    ]
    by_step = [one.data_ps / one.step_ps for one in shares]
    assert by_step == sorted(by_step, reverse=True)
    bubbles = [one.bubble_share for one in shares]
    assert bubbles == sorted(bubbles, reverse=True)


@pytest.mark.parametrize("name", [*schedules.SCHEDULES, schedules.STEADY])
def test_a_faster_network_never_makes_a_step_longer(name):
    setup = preset.training(
        "llama3-405b", [("gpu.memory", "1 TB"), ("job.micro_batches", 32)]
    ).setup
    degrees = replace(
        setup.degrees, schedule=name, virtual_stages=8 if name == "interleaved" else 1
    )
    setup = replace(setup, degrees=degrees)
    steps = [
        float(exposed.expose_setup(exposed.with_rates(setup, scale_out_bps=rate)).step_ps)
        for rate in (100e9, 400e9, 1.6e12)
    ]
    assert steps == sorted(steps, reverse=True)


REFUSED = [
    ([("parallelism.data", 100)],
     "tensor 8 x 16 stages x context 1 x data 100 are 12,800 GPUs; the 2048 racks hold 16,384 in"
     " whole replicas. Take data 128, or other racks."),
    ([("job.micro_batches", 10)],
     "10 micro-batches are no multiple of 16 stages, as interleaving wants. Take 16."),
    ([("parallelism.schedule", "dualpipe"), ("parallelism.virtual_stages", 1)],
     "DualPipe of 16 stages and 16 micro-batches: it takes an even number of stages, and an even"
     " number of micro-batches, at least twice as many. Take 32 micro-batches."),
    ([("parallelism.schedule", "1f1b")],
     "schedule 1f1b has one model chunk per stage and not 8. Take interleaved."),
    ([("parallelism.virtual_stages", 3)],
     "8 layers of a stage are not 3 equal model chunks. Take a divisor: 1, 2, 4, 8."),
    ([("parallelism.layers_per_stage", 200)],
     "200 layers of a stage are more than the 126 of the model. Take 1 to 126."),
    ([("parallelism.context", 3)],
     "context 3: a stage has 128 racks (all racks over 16 stages, rounded down) with 1 replicas"),
    ([("parallelism.experts", 8)], "experts 8: the model has no experts. Take 1."),
    ([("parallelism.tensor", 4), ("parallelism.data", 0)],
     "over 4 devices take 104.4 GB per device, of which 80.0 GB are usable. Raise the tensor"
     " degree, take fewer layers per stage, recompute, or shard. Would fit: tensor: 8 (52.4 GB)."),
    ([("parallelism.context", 3), ("parallelism.data", 0)],
     "context 3: a stage has 128 racks (all racks over 16 stages, rounded down) with 1 replicas"),
    ([("precision.activation_bytes_per_element", 60)],
     "the model does not fit: 8 layer(s) over 8 devices take 135.6 GB per device, of which 80.0 GB"
     " are usable."),
    ([("job.micro_batches", 2**20)],
     "16 stages, 1048576 micro-batches and 8 model chunks are 268,435,456 passes in all; at most"
     " 1,048,576. Take fewer micro-batches."),
    ([("parallelism.schedule", "1f2b")], "'1f2b' is none of steady, gpipe, 1f1b, interleaved,"),
    ([("job.recompute", "yes")], "'yes' is none of none, selective, full."),
    ([("model.dense_layers", 126)], "dense_layers 126 leave none of 126 layers with experts"),
    ([("model.latent", {"query": 1, "key_value": 1, "rope": 1, "value": 1})], "Add head."),
]  # fmt: skip


@pytest.mark.parametrize(("sets", "message"), REFUSED)
def test_a_job_that_cannot_be_is_refused_in_one_line(sets, message):
    with pytest.raises(PyorchError, match=re.escape(message)) as error:
        preset.training("llama3-405b", sets)
    assert "\n" not in str(error.value)


def test_experts_that_are_not_whole_are_refused():
    sets = [("model.experts", 100), ("parallelism.experts", 8)]
    with pytest.raises(PyorchError, match="100 experts over 8 replicas: not whole experts"):
        preset.training("mixtral-8x7b", sets)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ""),
        ({"tensor": 3}, "1,024 of 4,096 GPUs have no work: tensor 3 leaves 2 of the 8 of a rack."),
        ({"racks": 515}, "24 of 4,120 GPUs have no work: 16 stages leave 3 racks over."),
    ],
)
def test_gpus_without_work_are_said(changed, words):
    job = preset.training("llama3-405b").setup
    racks = changed.get("racks", 512)
    tensor = changed.get("tensor", job.tensor)
    job = replace(job, tensor=tensor, cluster=replace(job.cluster, n_racks=racks))

    assert job.idle() == words
