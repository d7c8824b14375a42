# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [hotnets24] section 6: exposed share, its readings, and the wide-area thresholds."""

from dataclasses import replace

import numpy as np

from pyorch.theory import exposed, parallelism, wan
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import GIGA, MS
from pyorch.theory.golden.claims import printed
from pyorch.theory.parallelism import Setup, StageTimes


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _default() | _sweeps() | _inflated() | _readings() | _poolings() | _wan()


def _setups() -> dict[str, Setup]:
    return {"dense": given.dense(), "moe": given.moe()}


def _percent(setup: Setup, pooling: str = "max", **rates_gbps: float) -> float:
    """Return the exposed share [%], at other rates if given [Gb/s]."""
    rates = {f"{name}_bps": rate * GIGA for name, rate in rates_gbps.items()}
    other = exposed.with_rates(setup, **rates)
    return float(100 * exposed.expose_setup(other, pooling=pooling).share)


def _default() -> dict[str, float]:
    times = parallelism.stage_times(given.moe())
    dense, moe = _percent(given.dense()), _percent(given.moe())
    return {
        "p.exp.dense": dense,
        "p.exp.moe": moe,
        "p.exp.multi_low": dense,
        "p.exp.multi_high": moe,
        "p.exp.moe_dp": exposed.all_reduce_ps(times) / MS,
        "p.exp.moe_mask": times.backward_ps / MS,
    }


def _sweeps() -> dict[str, float]:
    dense, moe = given.dense(), given.moe()
    return {
        "p.exp.a800_dense": _percent(dense, scale_up=800),
        "p.exp.a800_moe": _percent(moe, scale_up=800),
        "p.exp.b100_dense": _percent(dense, scale_out=100),
        "p.exp.b100_moe": _percent(moe, scale_out=100),
        "p.exp.b400_dense": _percent(dense, scale_out=400) - _percent(dense, scale_out=1600),
        "p.exp.b1600_moe": _percent(moe, scale_out=1600),
        "p.exp.b_floor_moe": _percent(moe, scale_out=np.inf),
    }


def _percent_of(times: StageTimes) -> float:
    return float(100 * exposed.expose(times).share)


def _inflated() -> dict[str, float]:
    """Return the share when pipeline transfers are as slow as the text's transports."""
    slow_ps = printed("p.fct.single_path") * MS
    roce_extra_ps = (printed("p.fct.roce") - printed("p.fct.opt")) * MS
    found = {}
    for name, setup in _setups().items():
        times = parallelism.stage_times(setup)
        found[f"p.exp.fct7_{name}"] = _percent_of(replace(times, pipeline_ps=slow_ps))
        later_ps = times.pipeline_ps + roce_extra_ps
        found[f"p.exp.fct9_{name}"] = _percent_of(replace(times, pipeline_ps=later_ps))
    return found


def _readings() -> dict[str, float]:
    """Return the other readings of the same sentence: +6 ms, factor 7, RoCE's 9 ms."""
    optimal, single = printed("p.fct.opt"), printed("p.fct.single_path")
    found = {}
    for name, setup in _setups().items():
        times = parallelism.stage_times(setup)
        ideal_ps = times.pipeline_ps
        for reading, pipeline_ps in {
            "plus6": ideal_ps + (single - optimal) * MS,
            "x7": ideal_ps * (single / optimal),
            "abs9": printed("p.fct.roce") * MS,
        }.items():
            changed = replace(times, pipeline_ps=pipeline_ps)
            found[f"p.alt.fct_{reading}.{name}"] = _percent_of(changed)
        found[f"p.alt.ratio.{name}"] = 100 * exposed.expose(times).ratio_to_compute
    return found


def _poolings() -> dict[str, float]:
    found = {}
    for name, setup in _setups().items():
        found[f"p.alt.shared_default.{name}"] = _percent(setup, "shared")
        found[f"p.alt.shared_a800.{name}"] = _percent(setup, "shared", scale_up=800)
        found[f"p.alt.no_stage1_a800.{name}"] = _percent(setup, "scale_out", scale_up=800)
    return found


def _wan() -> dict[str, float]:
    thresholds = {
        f"p.wan.thr.{model.name}.{name}.{rtts}": _hiding_gbps(setup, model, rtts)
        for model in wan.WAN_MODELS.values()
        for name, setup in _setups().items()
        for rtts in (0, 1, 2)
    }
    model = wan.WAN_MODELS[wan.DEFAULT_WAN_MODEL]
    moe = given.moe()
    times, rtt_ps = parallelism.stage_times(moe), moe.network.wan_rtt_ps
    at_20 = wan.wan_ps(times.wan_pair_bytes, moe.network.wan_bps, rtt_ps, model, 1)
    return thresholds | {
        "p.wan.prop": model.propagation_rtts * rtt_ps / MS,
        "p.wan.thr": _hiding_gbps(moe, model, 0),
        "p.wan.loss20": float(at_20 - times.backward_ps) / MS,
        "p.wan.rtt_infl": rtt_ps / MS,
    }


def _hiding_gbps(setup: Setup, model: wan.WanModel, rtts: int) -> float:
    times = parallelism.stage_times(setup)
    rate_bps = wan.hiding_rate_bps(
        times.wan_pair_bytes, times.backward_ps, setup.network.wan_rtt_ps, model, rtts
    )
    return float(rate_bps) / GIGA
