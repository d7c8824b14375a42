# SPDX-License-Identifier: GPL-2.0-only
"""What must hold for any model on any machines, whatever the numbers."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pyorch.errors import TheoryError
from pyorch.theory import ecmp, exposed, fluid, memory, parallelism, preset
from pyorch.theory.architecture import Model
from pyorch.theory.exposed import Inflation

RATES = st.floats(1e9, 1e15)


@st.composite
def setups(draw):
    """Any model on any cluster that holds at least one copy of it in each data centre."""
    layers = draw(st.integers(1, 150))
    hidden, experts = draw(st.integers(16, 10**5)), draw(st.integers(1, 16))
    per_stage, rack = draw(st.integers(1, 8)), draw(st.integers(1, 128))
    centres = draw(st.integers(1, 2))
    model = Model(
        layers, hidden, 8, draw(st.integers(1, 10**6)), 8, draw(st.integers(1, 5)) * hidden,
        draw(st.integers(2, 3)), experts, draw(st.integers(1, experts)),
    )  # fmt: skip
    racks = draw(st.integers(centres * -(-layers // per_stage), 10**5))
    return parallelism.Setup(
        model=model,
        precision=memory.Precision(*(draw(st.sampled_from([0.5, 1, 2, 4])) for _ in range(6))),
        job=memory.Job(draw(st.integers(1, 10**6)), draw(st.integers(1, 16))),
        cluster=memory.Cluster(1e11, draw(st.floats(1e12, 1e17)), rack, racks, centres),
        network=parallelism.Network(draw(RATES), draw(RATES), draw(RATES), 60e9),
        tensor=draw(st.integers(1, rack)),
        layers_per_stage=per_stage,
    )


def crossing(setup):
    """Name of a wide-area model if there is anything to cross."""
    return "twice-one-way" if setup.cluster.datacenters == 2 else None


@settings(max_examples=200)
@given(setup=setups(), pooling=st.sampled_from(sorted(exposed.POOLINGS)))
def test_the_exposed_share_is_a_share_and_its_parts_add_up(setup, pooling):
    step = exposed.expose_setup(setup, pooling=pooling, wan_model=crossing(setup))

    assert 0 <= step.share < 1
    assert step.data_ps >= 0
    assert step.exposed_ps == step.tensor_ps + step.pipeline_ps + step.data_ps
    assert step.step_ps == step.compute_ps + step.exposed_ps


@settings(max_examples=200)
@given(
    setup=setups(), pooling=st.sampled_from(sorted(exposed.POOLINGS)),
    rate=st.sampled_from(["scale_up_bps", "scale_out_bps", "wan_bps"]), factor=st.floats(1, 100),
)  # fmt: skip
def test_no_faster_network_exposes_more(setup, pooling, rate, factor):
    faster = exposed.with_rates(setup, **{rate: getattr(setup.network, rate) * factor})

    def share(one):
        return exposed.expose_setup(one, pooling=pooling, wan_model=crossing(one)).share

    assert share(faster) <= share(setup) * (1 + 1e-12)


@settings(max_examples=200)
@given(
    setup=setups(), kind=st.sampled_from(sorted(Inflation.__dataclass_fields__)),
    ratio=st.floats(1, 100),
)  # fmt: skip
def test_no_slower_transfer_exposes_less(setup, kind, ratio):
    slow = exposed.expose_setup(
        setup, wan_model=crossing(setup), inflation=Inflation(**{kind: ratio})
    )
    ideal = exposed.expose_setup(setup, wan_model=crossing(setup))

    assert slow.share >= ideal.share * (1 - 1e-12)
    assert slow.compute_ps == ideal.compute_ps


@settings(max_examples=200)
@given(
    setup=setups(), ratio=st.floats(1, 100), pooling=st.sampled_from(sorted(exposed.POOLINGS)),
    network=st.sampled_from(["scale_up", "scale_out"]),
)  # fmt: skip
def test_a_transfer_that_is_slower_is_the_same_as_a_network_that_is(setup, ratio, pooling, network):
    # Scale-up carries tensor parallelism and stages 1 and 5, scale-out the pipeline and stages 2
    # and 4; all times are bytes over rate.
    rate, other = f"{network}_bps", {"scale_up": "tensor", "scale_out": "pipeline"}[network]
    slower_net = exposed.with_rates(setup, **{rate: getattr(setup.network, rate) / ratio})
    inflation = Inflation(**{network: ratio, other: ratio})
    slower_flows = exposed.expose_setup(setup, pooling=pooling, inflation=inflation)

    got = exposed.expose_setup(slower_net, pooling=pooling)

    assert got.share == pytest.approx(slower_flows.share)


@settings(max_examples=100)
@given(setup=setups())
def test_more_lost_round_trips_never_hide_more(setup):
    assume(setup.cluster.datacenters == 2)
    shares = exposed.expose_setup(
        setup, wan_model="once-rtt", retransmission_rtts=np.arange(5)
    ).share

    assert (np.diff(shares) >= 0).all()


@settings(max_examples=200)
@given(setup=setups())
def test_memory_adds_up(setup):
    model, precision, job = setup.model, setup.precision, setup.job
    # All devices of a stage hold the stage: layers times what one layer takes.
    held = memory.device_bytes(model, precision, job, setup.tensor, setup.layers_per_stage)
    one_layer = memory.layer_bytes(model, precision, job)
    assert held * setup.tensor == pytest.approx(setup.layers_per_stage * one_layer)
    # All layers, embeddings and routers are all parameters.
    layers = model.layers * model.layer_parameters
    assert layers + model.embedding_parameters + model.router_parameters == model.parameters
    assert model.active_parameters <= model.parameters
    # The four kinds of copies are the whole.
    assert precision.parameter_bytes == (
        precision.weight_bytes + precision.master_bytes
        + precision.gradient_bytes + precision.optimizer_bytes
    )  # fmt: skip


@settings(max_examples=200)
@given(setup=setups())
def test_the_copies_fit_the_racks(setup):
    where = setup.placement
    assert where.stages * setup.layers_per_stage >= setup.model.layers
    assert where.stages * where.racks_per_stage <= setup.cluster.n_racks
    assert where.rack_members * where.tensor <= setup.cluster.rack_gpus
    assert where.gpus_used <= setup.cluster.n_racks * setup.cluster.rack_gpus
    assert where.racks_per_stage_and_datacenter >= 1


@settings(max_examples=200)
@given(size=st.floats(1, 1e13), rack=st.integers(1, 128), divides=st.booleans())
def test_the_smallest_degree_fits_and_the_next_smaller_does_not(size, rack, divides):
    cluster = memory.Cluster(1e11, 1e15, rack, 1)
    try:
        tensor = memory.smallest_tensor(lambda t: size / t, cluster, must_divide_rack=divides)
    except TheoryError:
        assert size / rack > 1e11
        return
    allowed = [t for t in range(1, tensor) if not divides or rack % t == 0]
    assert size / tensor <= 1e11
    assert all(size / t > 1e11 for t in allowed)
    assert not divides or rack % tensor == 0


@settings(max_examples=300)
@given(
    routes=st.lists(
        st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True), min_size=1, max_size=30
    ),
    capacity=st.lists(st.floats(0.1, 100), min_size=10, max_size=10),
)
def test_max_min_is_feasible_and_every_flow_has_a_bottleneck(routes, capacity):
    padded = np.array([route + [-1] * (4 - len(route)) for route in routes])
    rates = ecmp.max_min_rates(padded, np.array(capacity))
    load, most = np.zeros(10), np.zeros(10)
    for route, rate in zip(routes, rates, strict=True):
        load[route] += rate
        most[route] = np.maximum(most[route], rate)

    assert (rates > 0).all()
    assert (load <= np.array(capacity) * (1 + 1e-6)).all()
    # A link that is full, and on which no other flow gets more.
    for route, rate in zip(routes, rates, strict=True):
        full = load[route] >= np.array(capacity)[route] * (1 - 1e-6)
        assert (full & (most[route] <= rate * (1 + 1e-6))).any()


def test_the_fluid_prediction_for_8192_hosts_is_a_likely_one():
    slowest = fluid.slowest_of_permutation(8192, 1)

    # An independent program found 6 to 8 in twenty draws; 5 and 9 are the next lattice values.
    assert 5 <= slowest <= 9


@pytest.mark.parametrize("hosts", [8, 128, 512])
def test_every_host_of_the_square_fabric_sends_one_flow(hosts):
    slowdown = fluid.slowdown_of_permutation(hosts, 1)

    assert len(slowdown) == hosts
    assert slowdown.min() >= 1 - 1e-9


def test_a_fabric_that_cannot_be_square_is_refused():
    with pytest.raises(TheoryError, match="1000 hosts make no two-tier fabric .* 968 or 1058"):
        fluid.slowest_of_permutation(1000, 1)


@pytest.mark.parametrize("experts", [1, 4, 8])
def test_each_gradient_of_a_stage_crosses_between_datacenters_once(experts):
    # Conservation: what all devices of a stage exchange is one copy of its gradients, however many
    # replicas share the routed experts.
    sets = [
        ("cluster.datacenters", 2), ("cluster.racks", 32), ("parallelism.data", 16),
        ("parallelism.experts", experts), ("gpu.memory", "8 TB"),
    ]  # fmt: skip
    setup = preset.training("qwen3-235b", sets).setup
    where, model = setup.placement, setup.model
    devices = where.tensor * where.rack_members * where.racks_per_stage_and_datacenter
    parameters = (model.common_parameters + model.routed_parameters) * setup.layers_per_stage

    exchanged = parallelism.wan_pair_bytes(setup) * devices
    assert exchanged == pytest.approx(parameters * setup.precision.gradient_bytes)
