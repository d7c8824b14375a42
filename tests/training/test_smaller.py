# SPDX-License-Identifier: GPL-2.0-only
"""What a smaller step keeps of a whole one, and a smaller network of the whole network."""

from dataclasses import replace
from math import prod

import pytest

from pyorch.errors import TheoryError
from pyorch.theory import exposed, preset
from pyorch.theory.design import Design
from pyorch.theory.full_step import Fabric
from pyorch.training import graph, packets, smaller, step
from pyorch.training.plan import Shape
from pyorch.workload import training

PRESETS = [name for name in preset.names("training") if name != "deepseek-v3"]


def setup_of(name):
    return preset.training(name).setup


@pytest.mark.parametrize("name", PRESETS)
def test_a_smaller_step_has_the_shares_of_the_whole(name):
    setup = setup_of(name)
    whole, one = exposed.expose_setup(setup), smaller.smaller(setup)

    assert one.share == pytest.approx(float(whole.share), abs=smaller.CLOSE)
    assert one.messages <= smaller.MOST_MESSAGES
    assert one.shape.devices <= setup.placement.gpus_used
    assert one.exposed_share(one.bare_ps / (1 - one.share)) == pytest.approx(one.share)


@pytest.mark.parametrize("name", ["llama3-8b", "llama3-405b", "mixtral-8x7b", "dense-100t"])
def test_messages_are_counted_as_the_workload_makes_them(name):
    # In closed form every stage sends to another one; the first and the last do not.
    setup = setup_of(name)
    one = smaller.smaller(setup)
    params = training.Params.model_validate(
        {key: value for key, value in smaller.workload(name, setup, one).items() if key != "type"},
        context={},
    )
    made = int((training.graph_of(params).kind == graph.MESSAGE).sum())

    assert made == pytest.approx(one.messages, rel=0.02)


@pytest.mark.parametrize(
    ("name", "degrees"),
    [
        ("mixtral-8x7b", {"experts": 2}), ("mixtral-8x7b", {"experts": 4, "shard": 8, "zero": 3}),
        ("mixtral-8x7b", {"experts": 8, "shard": 16}), ("llama3-8b", {"context": 16}),
        ("llama3-8b", {"context": 32, "zero": 1}), ("llama3-8b", {"shard": 8}),
        ("llama3-8b", {"shard": 32}), ("llama3-8b", {"shard": 16, "context": 16}),
    ],
)  # fmt: skip
def test_messages_of_groups_in_racks_and_on_rails_are_counted_as_they_are_made(name, degrees):
    # One stage, so that nobody sends to another one. Their bytes are counted too, of each network;
    # weights are taken to have as many as gradients.
    setup = setup_of(name)
    precision = replace(setup.precision, weight_bytes=setup.precision.gradient_bytes)
    cluster = replace(setup.cluster, n_racks=16)
    setup = replace(setup, cluster=cluster, precision=precision,
                    degrees=replace(setup.degrees, data=0, **degrees))  # fmt: skip
    shape = Shape(1, smaller.smaller(setup, divide=1).shape.peers, 8, 1)
    one = smaller.given(setup, shape, 1, 1, 2)
    given = smaller.amounts(setup, shape, 1, 1, smaller.CHUNKS)
    made = step.build(step.Plan(
        shape, given, 1, setup.degrees.schedule, 2, overlap="pass", chunks=smaller.CHUNKS,
        experts=setup.degrees.experts, context=setup.degrees.context, zero=setup.degrees.zero,
    ))  # fmt: skip

    rows = made.kind == graph.MESSAGE
    leaves = made.device[rows] // 8 != made.peer[rows] // 8
    sent = smaller._sent(setup, shape, 1, 2)
    assert one.messages == rows.sum()
    for far in (False, True):
        expected = sum(n * size for n, size, out in sent if out == far) * shape.devices
        assert made.size_bytes[rows][leaves == far].sum() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("shard", "peers"), [(0, 2), (8, 2), (16, 4), (32, 4), (64, 2)])
def test_racks_that_share_weights_in_groups_are_four_at_least(shard, peers):
    # 8 racks of a stage: of two groups of two or more racks there are four racks, if a job has
    # several groups of several racks.
    setup = setup_of("llama3-8b")
    setup = replace(setup, degrees=replace(setup.degrees, shard=shard))
    assert smaller.smaller(setup).shape.peers == peers


def test_a_pass_that_computes_all_again_sends_all_again():
    # By hand: a forward pass has two all-reduces of 2 (t - 1) messages in a layer; a backward pass
    # that computes the layer again has these and its own.
    setup = setup_of("llama3-70b")
    again = replace(setup, job=replace(setup.job, recompute="full"))
    shape, layers, micro_batches = smaller.smaller(setup).shape, 3, 8
    once, twice = (
        smaller.given(job, shape, 1, layers, micro_batches).messages for job in (setup, again)
    )

    more = 2 * 2 * (shape.tensor - 1) * layers * micro_batches
    assert twice - once == more * shape.devices


def test_uplinks_are_kept_for_each_message_that_leaves():
    # By hand: 128 hosts below an edge of 4 planes, eight pipelines of 16 stages; a ring of peers
    # leaves with 16 messages, for which 8:1 has 16 links. So has one pipeline below a switch.
    # Chips of 32 ports: an edge has a pipeline and 16 links; 16 x 16 / 7 lead out of 16 edges, 2
    # of each of 16 switches.
    setup = setup_of("llama3-405b")
    one = smaller.smaller(setup)
    two = smaller.topology(setup, Fabric(64, 4, 8, 8.0), 2, one)["rail"]
    three = smaller.topology(setup, Fabric(32, 1, 8, upper=(7.0,)), 3, one)["rail"]

    assert (two["children"], two["parents"], two["planes"]) == ([16, 2], [16], 4)
    assert (three["children"], three["parents"]) == ([16, 1, 2], [16, 2])
    alone = smaller.topology(setup, Fabric(2048, 1, 1), 1, one)["rail"]
    assert (alone["children"], alone["parents"]) == ([32], [])
    with pytest.raises(TheoryError, match="1 rails for racks of 8 devices.*Take --rails 8"):
        smaller.topology(setup, Fabric(64, 1, 1), 3, one)


def test_an_edge_smaller_than_a_pipeline_keeps_its_hosts():
    # Chips of 16 ports: 8 hosts below an edge, two edges for a pipeline of 16, all messages leave.
    setup = setup_of("llama3-405b")
    one = smaller.smaller(setup)
    rail = smaller.topology(setup, Fabric(16, 1, 8, 2.0), 4, one)["rail"]
    assert (rail["children"], rail["parents"]) == ([8, 2, 1, 2], [4, 8, 8])


def test_stages_of_a_steady_step_are_those_that_need_whole_links():
    # 134 stages send 134 messages up 64 links of an edge; 19 send over 9.07.
    setup = setup_of("dense-100t")
    network = (Fabric(64, 8, 72, 4.0), 2)
    stages = smaller.stages_for(setup, [network])
    one = smaller.smaller(setup, stages=stages)

    assert stages == 19 and one.shape == Shape(19, 2, 4, 2)
    rail = smaller.topology(setup, *network, one)["rail"]
    assert (rail["children"], rail["parents"]) == ([19, 2], [9])
    assert abs(9 / (19 * 64 / 134) - 1) < smaller.ROUNDED


def test_more_messages_than_are_simulated_are_refused():
    with pytest.raises(TheoryError, match="the smallest step has .* at most 2,000,000 are"):
        smaller.smaller(setup_of("deepseek-v3"))


def test_a_scenario_has_a_case_for_each_network_and_a_variant_for_each_transport():
    setup = setup_of("llama3-8b")
    chosen = [Design(Fabric(64, planes, 8), 1, 1.0, 0.0, 0.0, 0.0, 0.0) for planes in (1, 2)]
    one = packets.step(setup, chosen)
    found = packets.scenario("llama3-8b", setup, chosen, ["sprayed", "ns3::RoceTransport"], one)

    assert list(found["cases"]) == ["p1_r8_o1", "p2_r8_o1"]
    assert list(found["variants"]) == ["sprayed", "RoceTransport"]
    assert found["cases"]["p2_r8_o1"]["link.rate"] == "200000000000 bit/s"
    assert found["name"] == "design_llama3_8b"
    assert found["workload"]["divide"] == one.divide
    with pytest.raises(TheoryError, match="--transport spraid: write sprayed.*Did you mean"):
        packets.variant("spraid")


def test_racks_that_share_experts_lie_below_one_switch_as_in_the_whole_network():
    # By hand: stages of 4 racks' distance, experts in 8 racks, two groups of which are simulated. 8
    # hosts below an edge have two of these, 32 have all.
    job = setup_of("mixtral-8x7b")
    cluster = replace(job.cluster, n_racks=128)
    job = replace(job, tensor=8, cluster=cluster, degrees=replace(job.degrees, data=0))
    rails = {}
    for chip in (16, 64):
        network = (Fabric(chip, 1, 8, 2.0), 2)
        peers = smaller.peers_for(job, [network])
        one = smaller.smaller(job, peers)
        rails[chip] = smaller.topology(job, *network, one)["rail"]

    assert (rails[16]["children"], rails[16]["parents"]) == ([8, 8], [4])
    assert (rails[64]["children"], rails[64]["parents"]) == ([32, 2], [16])


@pytest.mark.parametrize(("racks", "peers"), [(128, 16), (32, 8)])
def test_two_groups_that_share_experts_exchange_their_gradients_if_the_job_has_two(racks, peers):
    # 32 racks are four stages of one group of 8 racks, 128 of four.
    job = setup_of("mixtral-8x7b")
    cluster = replace(job.cluster, n_racks=racks)
    job = replace(job, tensor=8, cluster=cluster, degrees=replace(job.degrees, data=0))
    one = smaller.smaller(job)
    sent = smaller.amounts(job, one.shape, 1, one.layers)

    assert one.shape.peers == peers
    replicas = one.shape.members * peers // job.degrees.experts
    assert (sent.routed_bytes > replicas) == (racks == 128)


@pytest.mark.parametrize("chip", [8, 16, 24, 48, 64])
@pytest.mark.parametrize("racks", [32, 128])
def test_a_network_of_a_smaller_step_has_a_host_for_each_of_its_devices(chip, racks):
    # Groups of 8 racks below switches of 4 to 32 ports down, nested in two and three tiers.
    job = setup_of("mixtral-8x7b")
    cluster = replace(job.cluster, n_racks=racks)
    job = replace(job, tensor=8, cluster=cluster, degrees=replace(job.degrees, data=0))
    for tiers in (1, 2, 3):
        network = (Fabric(chip, 1, 8), tiers)
        one = smaller.smaller(job, smaller.peers_for(job, [network]))
        children = smaller.topology(job, *network, one)["rail"]["children"]
        assert prod(children) == one.shape.stages * one.shape.peers


def test_racks_below_a_switch_are_whole_parts_of_those_below_the_next():
    # Of 12 racks 5 lie below an edge, so 4; of 8 below the next tier then 4, for 6 are not whole
    # fours. With 7 of 8 that is 4 as well.
    assert smaller._peers_below(12, 5, 1) == 4
    assert smaller._peers_below(12, 8, 4) == 4
    assert smaller._peers_below(8, 7, 1) == 4
    assert smaller._peers_below(1, 100, 1) == 1
