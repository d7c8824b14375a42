# SPDX-License-Identifier: GPL-2.0-only
"""Jobs of a user's own: sites that racks do not fill, sharded weights, groups within a rack."""

from dataclasses import replace

import pytest

from pyorch.errors import TheoryError
from pyorch.theory import exposed, parallelism, preset
from pyorch.theory.design import _slowed as slowed
from pyorch.theory.exposed import Inflation

# 32 layers of 4096, eight GPUs in a rack.
ROOMY = [("gpu.memory", "8 TB"), ("parallelism.data", 0), ("parallelism.tensor", 1)]


def setup_of(*sets, name="llama3-8b"):
    return preset.training(name, [*ROOMY, *sets]).setup


def one_stage(racks, *sets):
    return setup_of(
        ("cluster.racks", racks), ("parallelism.layers_per_stage", 32), *sets
    )  # fmt: skip


@pytest.mark.parametrize(("racks", "working"), [(5, 32), (7, 48), (8, 64)])
def test_racks_that_two_sites_do_not_divide_have_no_work(racks, working):
    # By hand: two sites of two or three racks of eight replicas; one rack is left over.
    setup = one_stage(racks, ("cluster.datacenters", 2))

    assert setup.placement.gpus_working == setup.sequences == working
    assert ("8 of" in setup.idle()) == (racks % 2 == 1)
    assert parallelism.step_tokens(setup) == (
        working * setup.job.micro_batches * setup.job.sequence_tokens * setup.job.micro_batch
    )


def test_zero_divides_a_whole_over_the_devices_of_one_site():
    # Weights are gathered within a site, so two sites of 8 racks hold as much as one of 8.
    sharded = ("parallelism.zero", 3)
    two = one_stage(16, sharded, ("cluster.datacenters", 2))

    assert two.held_bytes == one_stage(8, sharded).held_bytes
    assert two.held_bytes > one_stage(16, sharded).held_bytes


def test_a_shard_of_less_than_a_rack_is_refused():
    with pytest.raises(TheoryError, match="shard 4: fewer than the 8 replicas of a rack"):
        one_stage(4, ("parallelism.zero", 3), ("parallelism.shard", 4))


@pytest.mark.parametrize("schedule", ["steady", "1f1b"])
def test_a_single_stage_hands_nothing_on(schedule):
    sets = [("parallelism.schedule", schedule), ("parallelism.virtual_stages", 1)]
    sets += [("job.micro_batches", 1)] if schedule == "steady" else []
    setup = one_stage(4, *sets)

    assert parallelism.stage_times(setup).pipeline_ps == 0
    assert exposed.expose_setup(setup).pipeline_ps == 0


def test_what_stays_in_a_rack_is_inflated_with_the_scale_up_network_alone():
    # Experts and a context of eight replicas, which are one rack: nothing leaves it.
    setup = preset.training(
        "mixtral-8x7b",
        [*ROOMY, ("parallelism.experts", 8), ("parallelism.context", 8), ("cluster.racks", 4),
         ("parallelism.layers_per_stage", 32)],
    ).setup  # fmt: skip
    times = parallelism.stage_times(setup)
    out = exposed.inflate(times, Inflation(scale_out=7))
    up = exposed.inflate(times, Inflation(scale_up=7))

    assert times.expert_ps > 0 and times.context_ps > 0
    assert (out.expert_ps, out.context_ps) == (times.expert_ps, times.context_ps)
    assert up.expert_ps == pytest.approx(7 * times.expert_ps)
    assert up.context_ps == pytest.approx(7 * times.context_ps)


def test_oversubscription_slows_what_leaves_a_rack_alone():
    # Scale-up so slow that gathering in the rack is longer than four times that out of it.
    setup = one_stage(4, ("parallelism.zero", 3), ("network.scale_up", "20 Gb/s"))
    times = parallelism.stage_times(setup)
    assert times.gather_up_ps > 4 * times.gather_out_ps > 0

    slower = replace(
        times, dp2_ps=4 * times.dp2_ps, dp4_ps=4 * times.dp4_ps,
        gather_out_ps=4 * times.gather_out_ps,
    )  # fmt: skip
    assert slower.gather_ps == times.gather_ps
    assert slowed(setup, 1.0, 0.25, 1.0) == pytest.approx(float(exposed.expose(slower).share))


@pytest.mark.parametrize(("tensor", "shards"), [(1, 1), (4, 4), (8, 8), (16, 8)])
def test_a_device_holds_one_head_of_keys_at_least(tensor, shards):
    # llama3-8b has 8 heads of keys and values of 128 numbers each.
    setup = setup_of(("parallelism.tensor", 1), ("cluster.rack_gpus", 16))
    setup = replace(setup, tensor=tensor)
    tokens = setup.job.sequence_tokens * setup.job.micro_batch
    whole = tokens * 2 * 8 * 128 * setup.precision.activation_bytes

    assert parallelism.context_bytes(setup) == pytest.approx(whole / shards)


def test_the_smallest_degree_counts_what_zero_shards():
    sets = [("parallelism.zero", 3), ("parallelism.data", 0), ("parallelism.tensor", "smallest")]
    setup = preset.training("llama3-8b", [("gpu.memory", "40 GB"), *sets]).setup
    smaller = [replace(setup, tensor=tensor) for tensor in range(1, setup.tensor)]

    assert setup.held_bytes <= 40e9
    assert all(one.held_bytes > 40e9 for one in smaller)


@pytest.mark.parametrize("name", ["llama3-8b", "llama3-70b", "mixtral-8x7b"])
def test_a_steady_step_uses_no_more_than_its_gpus_can_do(name):
    # Oracle: layers at the peak without a message: the share that is not computed twice, at most 1.
    setup = preset.training(name, [("parallelism.schedule", "steady"), ("gpu.efficiency", 1)]).setup
    step = exposed.expose_setup(setup)
    assert 0.7 < float(parallelism.mfu(setup, step.compute_ps)) <= 1
