# SPDX-License-Identifier: GPL-2.0-only
"""Every formula of the documents, coded a second time from the documents.

The second coding is in this file, in seconds and plain numbers, and calls nothing of the package.
It is compared at the documents' numbers and at random ones, where no constant can hide.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pyorch.theory import (
    architecture,
    exposed,
    inference,
    infrastructure,
    memory,
    parallelism,
    scaling,
    topology_cost,
    traffic,
    wan,
)

PS = 1e12


# ---- section 2 -------------------------------------------------------------------------------


@given(
    money=st.floats(1e9, 1e12), share=st.floats(0.1, 1), rack=st.floats(1e5, 1e7),
    watt=st.floats(1e4, 1e6), more=st.floats(0, 1), pue=st.floats(1, 2),
)  # fmt: skip
def test_what_a_budget_buys(money, share, rack, watt, more, pue):
    # Racks are money for compute over the price of one. Every rack draws its full load; storage
    # and network draw a share of that on top; cooling multiplies the sum by the PUE.
    racks = money * share / rack
    site_w = pue * (watt * racks + more * watt * racks)

    site = infrastructure.build_site(
        infrastructure.Budget(money, share, more, 1.0, pue),
        infrastructure.Rack(72, rack, watt, 1440e15),
    )

    assert site.n_racks == pytest.approx(racks)
    assert site.n_gpus == pytest.approx(72 * racks)
    assert site.high_w == pytest.approx(site_w)
    assert site.dense_flop_per_s == pytest.approx(racks * 1440e15 / 2)


def test_grid_authorities_are_counted_at_the_boundary():
    # An authority that can spare exactly what is needed can host it.
    grid = [infrastructure.Authority(name, "", spare) for name, spare in (("a", 10), ("b", 20))]

    assert infrastructure.count_hosts(grid, np.array([5, 10, 11, 20, 21])).tolist() == [
        2, 2, 1, 1, 0,
    ]  # fmt: skip


# ---- section 3 -------------------------------------------------------------------------------


@given(exponent=st.floats(20, 31))
def test_scaling_laws(exponent):
    work = 10**exponent
    # Kaplan: N = 1.3e9 * (C in PF-days)^0.73, one PF-day is 1e15 * 86400 FLOP.
    assert scaling.KAPLAN.parameters(work) == pytest.approx(1.3e9 * (work / 8.64e19) ** 0.73)
    # Tokens: 6 FLOP per parameter and token.
    assert scaling.optimal_tokens(work, 1e12) == pytest.approx(work / 6e12)


def test_fits_by_the_normal_equations():
    # Least squares through (x, y) = (ln C, ln N): slope = cov / var. Table of approach 2.
    params = [400e6, 1e9, 10e9, 67e9, 175e9, 280e9, 520e9, 1e12, 10e12]
    flop = [1.84e19, 1.20e20, 1.32e22, 6.88e23, 4.54e24, 1.18e25, 4.19e25, 1.59e26, 1.75e28]
    x, y = [math.log(c) for c in flop], [math.log(n) for n in params]
    mean_x, mean_y = sum(x) / 9, sum(y) / 9
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum(
        (a - mean_x) ** 2 for a in x
    )
    fit = scaling.hoffmann_fit(2)

    assert fit.exponent == pytest.approx(slope, rel=1e-9)
    assert fit.prefactor == pytest.approx(math.exp(mean_y - slope * mean_x), rel=1e-7)


@pytest.mark.parametrize("approach", [1, 2, 3])
def test_the_table_of_each_approach_is_its_own_tokens_times_six_n(approach):
    # The published table also gives tokens; C = 6 N D within the rounding of its two digits, so
    # a misprinted C (as the 175e9 row of approach 3 has) would show.
    tokens = {
        1: [8.0e9, 20.2e9, 205.1e9, 1.5e12, 3.7e12, 5.9e12, 11.0e12, 21.2e12, 216.2e12],
        2: [7.7e9, 20.0e9, 219.5e9, 1.7e12, 4.3e12, 7.1e12, 13.4e12, 26.5e12, 292.0e12],
        3: [9.2e9, 27.1e9, 410.1e9, 4.1e12, 12.0e12, 20.1e12, 43.5e12, 94.1e12, 1425.5e12],
    }[approach]
    implied = 6 * scaling.HOFFMANN_ROWS[:, 0] * np.array(tokens)

    np.testing.assert_allclose(scaling.HOFFMANN_ROWS[:, approach], implied, rtol=0.05)


@given(exponent=st.floats(20, 31))
def test_the_closed_form_is_the_minimum_of_the_loss(exponent):
    # No size a little above or below, at the same compute, has a smaller loss.
    work, loss = 10**exponent, scaling.ParametricLoss()
    best = loss.power_law().parameters(work)

    def loss_at(size):
        return 1.69 + 406.4 / size**0.34 + 410.7 / (work / (6 * size)) ** 0.28

    assert loss_at(best) <= loss_at(best * 1.01)
    assert loss_at(best) <= loss_at(best / 1.01)
    assert loss.loss(best, work / (6 * best)) == pytest.approx(loss_at(best))


@given(depth=st.floats(1, 400))
def test_levine_depth_undoes_its_width(depth):
    # 12 L w^2 = N with w = exp(5.039 + 0.0555 L): put N in, get L back.
    parameters = 12 * depth * math.exp(5.039 + 0.0555 * depth) ** 2

    assert architecture.levine_depth(parameters) == pytest.approx(depth, rel=1e-9)


@given(
    layers=st.integers(1, 200), hidden=st.integers(64, 10**5), vocabulary=st.integers(1, 10**6),
    experts=st.integers(1, 64), data=st.data(),
)  # fmt: skip
def test_parameters_by_listing_the_matrices(layers, hidden, vocabulary, experts, data):
    active = data.draw(st.integers(1, experts))
    # Q, K, V and output: h x h. Two feed-forward matrices: h x 4h. Router: h x experts, only if
    # there is a choice. Input and output embedding: V x h.
    attention, expert = 4 * hidden * hidden, 2 * hidden * 4 * hidden
    router = hidden * experts if experts > 1 else 0
    total = layers * (attention + experts * expert + router) + 2 * vocabulary * hidden

    model = architecture.Model(
        layers, hidden, 1, vocabulary, 1, 4 * hidden, experts=experts, active_experts=active
    )

    assert model.parameters == total
    assert model.active_parameters == layers * (attention + active * expert) + 2 * vocabulary * (
        hidden
    )


def test_llama_3_70b_has_its_published_size():
    # [llama3] publishes 70.6e9; grouped queries: K and V are 8/64 of h x h; three gated matrices.
    # Norms (2 h per layer) are not counted here: 1.3e6.
    model = architecture.Model(80, 8192, 64, 128256, 8, 28672, feed_forward_matrices=3)

    assert model.parameters == pytest.approx(70.6e9, rel=1e-3)


# ---- sections 4 and 5 ------------------------------------------------------------------------


class Plain:
    """The paper's model of a stage in plain numbers and seconds."""

    def __init__(self, layers, h, experts, active, s, b, gpu, t, rack, racks, per_stage, up, out):
        self.layers, self.h, self.s, self.b, self.t = layers, h, s, b, t
        matrices = 4 * h * h + active * 8 * h * h
        # Each token multiplies every matrix once (2 FLOP), and the attention product is s x s
        # per head, twice (scores, values), 2 FLOP each: 4 s^2 h; done twice with recomputation.
        flop = 2 * s * b * matrices + 2 * 4 * s * s * b * h
        self.forward = per_stage * flop / (t * gpu)
        self.backward = 2 * self.forward
        x = s * b * h * 0.5
        # A ring all-reduce sends (n-1)/n of the buffer twice; two all-reduces in a layer.
        self.tensor = per_stage * 2 * 2 * (t - 1) / t * x * 8 / up
        stages = math.ceil(layers / per_stage)
        self.pipeline = x / t * 8 / out if stages > 1 else 0  # a single stage hands nothing on
        self.g = per_stage * (4 + 8 * experts) * h * h * 0.5
        self.m = rack // t
        self.n = racks // stages // 2
        mine = self.g / t
        self.d1 = 2 * (self.m - 1) / self.m * mine * 8 / up
        self.d2 = 2 * (self.n - 1) / self.n * mine / self.m * 8 / out if self.n else None
        self.pair = mine / self.m / self.n if self.n else None


def setup_of(layers, h, experts, active, s, b, gpu, t, rack, racks, per_stage, up, out):
    return parallelism.Setup(
        model=architecture.Model(
            layers, h, 1, 256_000, 1, 4 * h, experts=experts, active_experts=active
        ),
        precision=memory.Precision(0.5, 1, 0.5, 2, 0.5, 10),
        job=memory.Job(s, b),
        cluster=memory.Cluster(192e9, gpu, rack, racks, 2),
        network=parallelism.Network(up, out, 20e9, 60e9),
        tensor=t,
        layers_per_stage=per_stage,
    )


shapes = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 200), "h": st.integers(128, 10**5), "experts": st.integers(1, 16),
        "active": st.just(1), "s": st.integers(1, 10**5), "b": st.integers(1, 8),
        "gpu": st.floats(1e12, 1e17), "t": st.integers(1, 72), "rack": st.just(72),
        "racks": st.integers(400, 30_000), "per_stage": st.integers(1, 10),
        "up": st.floats(1e11, 1e14), "out": st.floats(1e10, 1e13),
    }
)  # fmt: skip


@settings(max_examples=200)
@given(shape=shapes)
def test_stage_times(shape):
    plain = Plain(**shape)
    assume(plain.n)
    times = parallelism.stage_times(setup_of(**shape))

    assert times.forward_ps == pytest.approx(plain.forward * PS)
    assert times.backward_ps == pytest.approx(plain.backward * PS)
    assert times.tensor_ps == pytest.approx(plain.tensor * PS)
    assert times.pipeline_ps == pytest.approx(plain.pipeline * PS)
    assert times.dp1_ps == pytest.approx(plain.d1 * PS)
    assert times.dp2_ps == pytest.approx(plain.d2 * PS)
    # An all-gather is half of an all-reduce on the same buffer.
    assert times.dp4_ps == pytest.approx(plain.d2 / 2 * PS)
    assert times.dp5_ps == pytest.approx(plain.d1 / 2 * PS)
    assert times.wan_pair_bytes == pytest.approx(plain.pair)


def test_stage_times_at_the_printed_numbers():
    # Section 4.1 prints 8.2, 2.17, 16.57, 98.27, 49.14 and 8.3 ms and 57 MB for the dense model.
    plain = Plain(134, 244224, 1, 1, 32000, 1, 20e15, 18, 72, 23333, 1, 14.4e12, 800e9)

    assert [
        round(seconds * 1e3, 2) for seconds in (plain.tensor, plain.pipeline, plain.d1, plain.d2)
    ] == [8.20, 2.17, 16.57, 98.27]
    assert round(plain.pair / 1e6) == 57
    assert (plain.m, plain.n) == (4, 87)


@settings(max_examples=200)
@given(shape=shapes)
def test_exposed_share(shape):
    # Section 6: 2 (TP + PP) + what the slower of stages 1 and 2 takes beyond the backward pass,
    # over the whole step.
    plain = Plain(**shape)
    assume(plain.n)
    waiting = 2 * (plain.tensor + plain.pipeline)
    waiting += max(0, max(plain.d1, plain.d2) - plain.backward)
    step = plain.forward + plain.backward + waiting

    got = exposed.expose_setup(setup_of(**shape))

    assert got.share == pytest.approx(waiting / step)
    assert got.exposed_ps == pytest.approx(waiting * PS)
    assert got.step_ps == pytest.approx(step * PS)


@settings(max_examples=100)
@given(shape=shapes)
def test_other_poolings(shape):
    # `shared`: stages 1 and 5 share the rack's network, 2 and 4 the NIC. `rs_ag`: as `max`,
    # because a reduce-scatter and an all-gather are together one all-reduce.
    plain = Plain(**shape)
    assume(plain.n)
    times = parallelism.stage_times(setup_of(**shape))

    assert exposed.all_reduce_ps(times, "shared") == pytest.approx(
        1.5 * max(plain.d1, plain.d2) * PS
    )
    assert exposed.all_reduce_ps(times, "rs_ag") == pytest.approx(max(plain.d1, plain.d2) * PS)
    assert exposed.all_reduce_ps(times, "scale_out") == pytest.approx(plain.d2 * PS)


#: Section 4.1 and figure 3c: how often the bytes cross, and propagation in ms at an RTT of 60 ms.
WAN = {"once-rtt": (1, 60), "twice-one-way": (2, 30), "once-one-way": (1, 30)}


@given(
    name=st.sampled_from(sorted(WAN)), pair=st.floats(1e6, 1e9), gbps=st.floats(0.1, 1e3),
    lost=st.integers(0, 3),
)  # fmt: skip
def test_wide_area_time_and_the_rate_that_hides_it(name, pair, gbps, lost):
    volume, propagation = WAN[name]
    model = wan.WAN_MODELS[name]
    milliseconds = volume * pair * 8 / (gbps * 1e9) * 1e3 + propagation + 60 * lost

    assert wan.wan_ps(pair, gbps * 1e9, 60e9, model, lost) == pytest.approx(milliseconds * 1e9)
    # The rate that hides a crossing of exactly that length is the rate it was computed with.
    hides = wan.hiding_rate_bps(pair, milliseconds * 1e9, 60e9, model, lost)
    assert hides == pytest.approx(gbps * 1e9, rel=1e-6)


def test_no_rate_hides_a_round_trip_that_is_longer_than_the_backward_pass():
    # once-rtt waits 60 ms; one lost round trip makes 120. 90 ms can hide the first and not the
    # second; exactly 60 ms leaves no time for the bytes.
    model = wan.WAN_MODELS["once-rtt"]

    assert wan.hiding_rate_bps(1e6, 90e9, 60e9, model, 0) == pytest.approx(8e6 / 0.03)
    assert wan.hiding_rate_bps(1e6, 90e9, 60e9, model, 1) == math.inf
    assert wan.hiding_rate_bps(1e6, 60e9, 60e9, model, 0) == math.inf


# ---- section 6.1 -----------------------------------------------------------------------------


@given(hosts=st.integers(100, 10**6), half=st.integers(2, 128), planes=st.sampled_from([1, 2, 4]))
def test_clos_counts(hosts, half, planes):
    # Fewest tiers n with 2 (k/2)^n >= H. Every host has one port into each tier from below and
    # one out of each tier but the last: H (2n-1) ports in a plane, k on a chip.
    k, n = 2 * half * planes, 1
    while 2 * (half * planes) ** n < hosts:
        n += 1

    clos = topology_cost.Clos(hosts, 2 * half, planes)

    assert clos.tiers == n
    assert clos.chips == pytest.approx(planes * hosts * (2 * n - 1) / k)
    assert clos.cables == hosts * (n - 1)
    assert topology_cost.optics_usd(clos, 1000) == 2000 * hosts * (n - 1)


# ---- blog ------------------------------------------------------------------------------------

jobs = st.builds(
    traffic.TrainingJob,
    parameters=st.floats(1e6, 1e13), layers=st.integers(1, 200), hidden=st.integers(1, 10**5),
    tokens=st.floats(1e6, 1e13), mini_batches=st.floats(1, 1e6), group=st.integers(1, 64),
    tensor=st.integers(1, 64), pipeline=st.integers(1, 64), data=st.integers(1, 64),
    dataset_bytes=st.floats(1e9, 1e15),
)  # fmt: skip


@given(job=jobs)
def test_training_volumes(job):
    p, layers, h, t, n, g = (
        job.parameters, job.layers, job.hidden, job.tokens, job.mini_batches, job.group,
    )  # fmt: skip
    tp, pp, dp = job.tensor, job.pipeline, job.data
    got = traffic.volumes(job)

    assert got["DP"].total_bytes == pytest.approx(2 * n * p * g * (g - 1))
    assert got["FSDP"].total_bytes == pytest.approx(4 * n * p * (g - 1))
    assert got["TP"].total_bytes == pytest.approx(
        4 * t * layers * h * g * (g - 1) + 4 * n * layers * p * (g - 1)
    )
    assert got["PP"].total_bytes == pytest.approx(4 * t * h * (g - 1))
    assert got["3D"].backward_bytes == pytest.approx(
        2 * n * p * dp * (2 * layers * (tp - 1) / pp + (dp - 1)) + 2 * t * h * (pp - 1)
    )
    assert got["3D"].forward_bytes == pytest.approx(
        4 * t * h * layers * tp * (tp - 1) + 2 * t * h * (pp - 1)
    )
    assert traffic.checkpoint_bytes(p) == pytest.approx(2 * p + 3 * 2 * p)
    loaded = traffic.dataset_loading_bytes(job)
    d = job.dataset_bytes
    assert loaded == {"DP": d, "TP": d * g, "PP": d, "3D": d * tp}


@given(
    users=st.integers(1, 10**4), sin=st.integers(1, 10**5), sout=st.integers(1, 10**5),
    layers=st.integers(1, 200), h=st.integers(1, 10**5), g=st.integers(1, 16),
    tps=st.floats(1, 1e3), share=st.floats(0, 0.99), deadline=st.floats(1e-4, 1),
)  # fmt: skip
def test_inference_traffic(users, sin, sout, layers, h, g, tps, share, deadline):
    service = inference.Service(users, sin, sout, layers, h, g, tps, share, deadline * PS)
    reduce_bytes = 4 * users * (sin + sout) * layers * h * g * (g - 1)

    assert inference.total_bytes(service) == pytest.approx(
        reduce_bytes + 4 * users * sin * layers * h
    )
    assert inference.kv_transfer_ps(service, 8e11) == pytest.approx(
        4 * sin * layers * h / 1e11 * PS
    )
    # Per token: 4 L H G (G-1) bytes in the share of 1/tps that is not computing; and the keys
    # and values of a whole prompt by the deadline.
    rate = 4 * users * layers * h * g * (g - 1) / ((1 - share) / tps)
    rate += 4 * users * sin * layers * h / deadline
    assert inference.throughput_bps(service) == pytest.approx(8 * rate)
    # A hair off whole numbers the floor may fall either way.
    exact = 51.2e12 / (8 * rate / users)
    assume(abs(exact - round(exact)) > 1e-6 * exact)
    assert inference.users_per_switch(service, 51.2e12, 8 * rate) == math.floor(exact)


def test_doubling_time():
    # A quantity that grows 8-fold in 12 months doubles three times: every 4 months.
    assert traffic.doubling_months(1, 8, 12) == pytest.approx(4)
