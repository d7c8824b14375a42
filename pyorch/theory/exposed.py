# SPDX-License-Identifier: GPL-2.0-only
"""Takes the times of a pipeline stage, leaves the part of the step in which GPUs wait for bytes.

Source: [hotnets24] section 6. Tensor and pipeline parallelism are fully exposed in both passes;
the data-parallel all-reduce hides under the backward pass. Steady state, no pipeline bubbles.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pyorch.errors import TheoryError, did_you_mean
from pyorch.theory._quantities import Real
from pyorch.theory.parallelism import Setup, StageTimes, stage_times
from pyorch.theory.wan import DEFAULT_WAN_MODEL, WAN_MODELS, wan_ps

#: Tensor and pipeline parallelism communicate in the forward and in the backward pass.
PASSES = 2

#: How the stages of the all-reduce share time; each takes the times, leaves rack and fabric [ps].
#: `max` is the source's: every stage on a network of its own, 4 and 5 being halves of 2 and 1.
#: `shared`: what uses the same network adds up. `rs_ag`: stages 1 and 2 only scatter, so nothing
#: is sent twice; numerically the same as `max`. `scale_out` counts stage 2 alone.
POOLINGS: dict[str, Callable[[StageTimes], Real]] = {
    "max": lambda t: np.maximum(t.dp1_ps, t.dp2_ps),
    "shared": lambda t: np.maximum(t.dp1_ps + t.dp5_ps, t.dp2_ps + t.dp4_ps),
    "rs_ag": lambda t: np.maximum(t.dp1_ps / 2 + t.dp5_ps, t.dp2_ps / 2 + t.dp4_ps),
    "scale_out": lambda t: t.dp2_ps,
}


@dataclass(frozen=True)
class Inflation:
    """Measured over ideal completion time [1] for each kind of transfer; 1 is ideal.

    A step waits for its slowest transfer, so the ratio to give is that of the slowest flow.
    """

    tensor: Real = 1.0
    pipeline: Real = 1.0
    scale_up: Real = 1.0  #: data-parallel stages 1 and 5
    scale_out: Real = 1.0  #: data-parallel stages 2 and 4
    wan: Real = 1.0  #: data-parallel stage 3


@dataclass(frozen=True)
class Exposed:
    """Where the time of one step goes [ps]."""

    compute_ps: Real  #: forward and backward
    tensor_ps: Real  #: both passes, always exposed
    pipeline_ps: Real  #: both passes, always exposed
    data_ps: Real  #: what of the all-reduce is longer than the backward pass

    @property
    def exposed_ps(self) -> Real:
        """All communication that nothing hides [ps]."""
        return self.tensor_ps + self.pipeline_ps + self.data_ps

    @property
    def step_ps(self) -> Real:
        """Compute and exposed communication [ps]."""
        return self.compute_ps + self.exposed_ps

    @property
    def share(self) -> Real:
        """Exposed communication over the step [1], 0 to 1; 0 is ideal."""
        return self.exposed_ps / self.step_ps

    @property
    def ratio_to_compute(self) -> Real:
        """Exposed communication over compute [1], a reading of the source that was rejected."""
        return self.exposed_ps / self.compute_ps


def inflate(times: StageTimes, inflation: Inflation) -> StageTimes:
    """Return the times as a real network would give them."""
    return replace(
        times,
        tensor_ps=times.tensor_ps * inflation.tensor,
        pipeline_ps=times.pipeline_ps * inflation.pipeline,
        dp1_ps=times.dp1_ps * inflation.scale_up,
        dp2_ps=times.dp2_ps * inflation.scale_out,
        dp4_ps=times.dp4_ps * inflation.scale_out,
        dp5_ps=times.dp5_ps * inflation.scale_up,
    )


def all_reduce_ps(times: StageTimes, pooling: str = "max") -> Real:
    """Return the data-parallel all-reduce inside one data centre [ps].

    Raises
    ------
    TheoryError
        There is no such pooling.
    """
    if pooling not in POOLINGS:
        raise TheoryError(
            f"no pooling '{pooling}'. Known: {', '.join(POOLINGS)}."
            f"{did_you_mean(pooling, POOLINGS)}"
        )
    return POOLINGS[pooling](times)


def expose(times: StageTimes, *, pooling: str = "max", crossing_ps: Real = 0.0) -> Exposed:
    """Return what of a step is exposed.

    Parameters
    ----------
    times : StageTimes
        Ideal, or after `inflate`.
    pooling : str
        Key of `POOLINGS`.
    crossing_ps : float or array
        Stage 3 [ps]; 0 with one data centre, or where the wide-area network is not the question.
    """
    reduce_ps = np.maximum(all_reduce_ps(times, pooling), crossing_ps)
    return Exposed(
        compute_ps=times.forward_ps + times.backward_ps,
        tensor_ps=PASSES * times.tensor_ps,
        pipeline_ps=PASSES * times.pipeline_ps,
        data_ps=np.maximum(0.0, reduce_ps - times.backward_ps),
    )


def expose_setup(
    setup: Setup,
    *,
    pooling: str = "max",
    wan_model: str | None = None,
    retransmission_rtts: Real = 0,
    inflation: Inflation = Inflation(),
) -> Exposed:
    """Return what of a step of `setup` is exposed.

    Parameters
    ----------
    wan_model : str or None
        Key of `WAN_MODELS`; None leaves the wide-area network out, as figures 3a and 3b do.
    retransmission_rtts : float or array
        Round trips that the slowest wide-area flow loses [1].
    inflation : Inflation
        Measured over ideal completion time.
    """
    times = stage_times(setup)
    crossing_ps: Real = 0.0
    if wan_model is not None:
        if wan_model not in WAN_MODELS:
            raise TheoryError(f"no wide-area model '{wan_model}'. Known: {', '.join(WAN_MODELS)}.")
        if setup.cluster.datacenters < 2:
            raise TheoryError("one data centre has no wide-area stage; give it 2, or no model.")
        crossing_ps = inflation.wan * wan_ps(
            times.wan_pair_bytes, setup.network.wan_bps, setup.network.wan_rtt_ps,
            WAN_MODELS[wan_model], retransmission_rtts,
        )  # fmt: skip
    return expose(inflate(times, inflation), pooling=pooling, crossing_ps=crossing_ps)


def with_rates(
    setup: Setup,
    *,
    scale_up_bps: Real | None = None,
    scale_out_bps: Real | None = None,
    wan_bps: Real | None = None,
) -> Setup:
    """Return the same set-up on another network; what is None stays.

    Raises
    ------
    TheoryError
        A rate is not positive: nothing would ever arrive.
    """
    given = {"scale_up_bps": scale_up_bps, "scale_out_bps": scale_out_bps, "wan_bps": wan_bps}
    changed = {name: rate for name, rate in given.items() if rate is not None}
    for name, rate in changed.items():
        if not np.all(np.asarray(rate, float) > 0):
            raise TheoryError(f"{name} {rate}: a rate must be more than 0. Give, say, 800 Gb/s.")
    return replace(setup, network=replace(setup.network, **changed))


__all__ = [
    "DEFAULT_WAN_MODEL", "POOLINGS", "Exposed", "Inflation", "all_reduce_ps", "expose",
    "expose_setup", "inflate", "with_rates",
]  # fmt: skip
