# SPDX-License-Identifier: GPL-2.0-only
"""Closed form, fluid rates and packets say the same of one job on a network that is no bottleneck.

Llama 3 405B as its authors trained it: TP 8, PP 16, DP 128. One switch for each rail.
"""

from dataclasses import replace

import pytest

import pyorch
from pyorch.theory import design, preset
from pyorch.theory.full_step import Fabric
from pyorch.training import packets, smaller
from pyorch.training.plan import Shape

pytestmark = pytest.mark.ns3

JOB = "llama3-405b"
#: A rail has 2048 hosts.
ONE_SWITCH = Fabric(2048, 1, 8)
#: Written down before the first run; nothing is fitted.
TOLERANCE = 0.03


@pytest.fixture(scope="module")
def setup():
    return preset.training(JOB).setup


@pytest.fixture(scope="module")
def whole(setup):
    """Return the network with what `theory exposed` and `theory step` say of it."""
    (found,) = design.solved(setup, [design.score(setup, ONE_SWITCH)])
    return found


def shares(setup, whole, one, transports, folder, job=JOB):
    """Return what is exposed of a smaller step with each transport."""
    scenario = packets.scenario(job, setup, [whole], transports, one)
    runs = [pyorch.run(scenario, variant=name, results=folder) for name in transports]
    return [one.exposed_share(run.table("tasks")["end_ps"].max()) for run in runs]


@pytest.mark.slow
def test_a_step_on_64_devices_is_exposed_as_on_all(setup, whole, tmp_path):
    # 2 of 8 devices of a tensor group: the same bytes through each port. Its shares in closed form
    # are those of the whole step, exactly.
    one = smaller.smaller(setup, divide=800)

    assert one.shape == Shape(16, 2, 1, 2)
    assert one.share == whole.share == pytest.approx(0.1274, abs=1e-4)
    assert not whole.is_bound
    for share in shares(setup, whole, one, ["fluid", "sprayed"], tmp_path):
        assert share == pytest.approx(whole.share, abs=TOLERANCE)
        assert share == pytest.approx(whole.fluid_share, abs=TOLERANCE)


def test_what_is_computed_again_is_sent_again(tmp_path):
    # GPT-3 recomputes each layer: three passes' messages in two. Closed form of the same step; one
    # with two passes' messages would expose a third less.
    job = "gpt3-175b"
    setup = preset.training(job).setup
    one = smaller.given(setup, Shape(12, 2, 1, 2), 300, 1, 24)
    rail = design.score(setup, Fabric(2048, 1, 8))

    (share,) = shares(setup, rail, one, ["fluid"], tmp_path, job)

    assert share == pytest.approx(one.share, abs=0.015)
    assert one.share > 0.06


def test_tokens_that_cross_once_to_each_rack_are_exposed_as_the_closed_form_says(tmp_path):
    # DeepSeek-V3: experts in 8 racks, of which a token visits 4. A copy for each expert would be
    # twice as much on the rails.
    setup = preset.training("deepseek-v3").setup
    one = smaller.given(setup, Shape(2, 8, 8, 1), 100, 1, 4)
    rail = design.score(setup, Fabric(2048, 1, 8))
    every = replace(setup, degrees=replace(setup.degrees, expert_racks=0))
    whole = smaller.given(every, Shape(2, 8, 8, 1), 100, 1, 4)

    (share,) = shares(setup, rail, one, ["fluid"], tmp_path, "deepseek-v3")

    assert share == pytest.approx(one.share, abs=TOLERANCE)
    assert whole.share > one.share + 2 * TOLERANCE


@pytest.mark.long
def test_four_ways_to_say_what_is_exposed_agree_on_256_devices(setup, whole, tmp_path):
    one = smaller.smaller(setup, divide=400, tensor=8)
    assert one.shape == Shape(16, 2, 1, 8)
    found = [whole.share, whole.fluid_share]

    found += shares(setup, whole, one, ["fluid", "sprayed"], tmp_path)

    assert max(found) - min(found) < TOLERANCE, found
