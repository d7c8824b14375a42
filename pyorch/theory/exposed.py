# SPDX-License-Identifier: GPL-2.0-only
"""Takes the times of a pipeline stage, returns the part of the step in which GPUs wait for bytes.

Source: [hotnets24] section 6. In a steady step tensor and pipeline parallelism are fully exposed in
both passes, and the data-parallel all-reduce hides under the last backward pass. With a schedule a
step is its longest chain of passes and messages (`schedules`), and what each kind of message adds
to it is exposed: a step without any is arithmetic and the bubble of the pipeline.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pyorch.errors import TheoryError, did_you_mean
from pyorch.theory._quantities import Real
from pyorch.theory.parallelism import PIECES, TENSOR_ALL_REDUCES, Setup, StageTimes, stage_times
from pyorch.theory.schedules import STEADY, Costs, schedule, step_ps
from pyorch.theory.wan import DEFAULT_WAN_MODEL, WAN_MODELS, wan_ps

#: Pipeline parallelism communicates in the forward and in the backward pass.
PASSES = 2
#: Of a backward pass, what is for gradients of weights where they are split off.
WEIGHT_SHARE = 0.5

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

    compute_ps: Real  #: all forward and backward passes
    tensor_ps: Real  #: what each of these adds to the step
    pipeline_ps: Real
    data_ps: Real  #: the all-reduce, and sharded weights
    expert_ps: Real = 0.0
    context_ps: Real = 0.0
    bubble_ps: Real = 0.0  #: waits for other stages that no message causes

    @property
    def exposed_ps(self) -> Real:
        """All communication that nothing hides [ps]."""
        return self.tensor_ps + self.pipeline_ps + self.data_ps + self.expert_ps + self.context_ps

    @property
    def step_ps(self) -> Real:
        """Compute, bubble and exposed communication [ps]."""
        return self.compute_ps + self.exposed_ps + self.bubble_ps

    @property
    def share(self) -> Real:
        """Exposed communication over the step [1], 0 to 1; 0 is ideal."""
        return self.exposed_ps / self.step_ps

    @property
    def bubble_share(self) -> Real:
        """The pipeline's bubble over the step [1]."""
        return self.bubble_ps / self.step_ps

    @property
    def ratio_to_compute(self) -> Real:
        """Exposed communication over compute [1], a reading of the source that was rejected."""
        return self.exposed_ps / self.compute_ps


def inflate(times: StageTimes, inflation: Inflation) -> StageTimes:
    """Return the times as a real network would give them."""
    return replace(
        times,
        tensor_ps=times.tensor_ps * inflation.tensor,
        expert_up_ps=times.expert_up_ps * inflation.scale_up,
        expert_out_ps=times.expert_out_ps * inflation.scale_out,
        context_up_ps=times.context_up_ps * inflation.scale_up,
        context_out_ps=times.context_out_ps * inflation.scale_out,
        gather_up_ps=times.gather_up_ps * inflation.scale_up,
        gather_out_ps=times.gather_out_ps * inflation.scale_out,
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
    if times.course.schedule != STEADY:
        return _scheduled(times, reduce_ps)
    n = times.course.micro_batches
    waits = _waits(times)
    late_ps = sum(
        np.maximum(0.0, times.gather_ps - pass_ps)
        for pass_ps in (times.forward_ps, times.backward_ps)
    )
    return Exposed(
        compute_ps=n * (times.forward_ps + times.backward_ps),
        tensor_ps=n * sum(waits["tensor"]),
        pipeline_ps=n * PASSES * times.pipeline_ps,
        data_ps=n * late_ps + np.maximum(0.0, reduce_ps - times.backward_ps),
        expert_ps=n * sum(waits["expert"]),
        context_ps=n * sum(waits["context"]),
    )


def _waits(times: StageTimes) -> dict[str, tuple[Real, Real]]:
    """Return the messages that a forward and a backward pass wait for, by kind [ps].

    Keys and values that were gathered have gradients, which are scattered.
    """
    again = times.course.backward_waits
    return {
        "tensor": (times.tensor_ps, again * times.tensor_ps),
        "expert": (times.expert_ps, again * times.expert_ps),
        "context": (times.context_ps, (again + 1) * times.context_ps),
    }


def _scheduled(times: StageTimes, reduce_ps: Real) -> Exposed:
    """Return what is exposed with a schedule: what each kind of message adds to the longest chain.

    Kinds are added in the order of `Exposed`; those that a pass itself waits for share what they
    add by their times.
    """
    course = times.course
    chunks = course.virtual_stages
    found = schedule(course.schedule, course.stages, course.micro_batches, chunks)
    waits = _waits(times)
    alone = Costs(
        times.forward_ps / chunks, times.backward_ps / chunks,
        WEIGHT_SHARE * times.backward_ps / chunks,
        slots=TENSOR_ALL_REDUCES * course.layers // chunks,
    )  # fmt: skip
    waiting = replace(
        alone,
        forward_wait_ps=sum(ahead for ahead, _ in waits.values()) / chunks,
        backward_wait_ps=sum(back for _, back in waits.values()) / chunks,
    )
    sending = replace(waiting, send_ps=times.pipeline_ps)
    whole = replace(
        sending, reduce_ps=reduce_ps / chunks, pieces=PIECES, gather_ps=times.gather_ps / chunks
    )
    ends = [step_ps(found, costs) for costs in (alone, waiting, sending, whole)]
    compute_ps = course.micro_batches * (times.forward_ps + times.backward_ps)
    total_ps = sum(sum(parts) for parts in waits.values())
    per_wait = (ends[1] - ends[0]) / np.where(total_ps > 0, total_ps, 1.0)
    return Exposed(
        compute_ps=compute_ps,
        bubble_ps=np.maximum(0.0, ends[0] - compute_ps),  # a single stage has none, but rounds
        pipeline_ps=ends[2] - ends[1],
        data_ps=ends[3] - ends[2],
        **{f"{kind}_ps": sum(parts) * per_wait for kind, parts in waits.items()},
    )


def by_wan_model(setup: Setup, wan_bps: np.ndarray) -> dict[str, np.ndarray]:
    """Return the exposed share of a step by reading of the wide area, without loss [1].

    Parameters
    ----------
    wan_bps : ndarray
        Rates per device between data centres [bit/s].
    """
    at_rates = with_rates(setup, wan_bps=wan_bps)
    return {name: np.asarray(expose_setup(at_rates, wan_model=name).share) for name in WAN_MODELS}


def local_steps(local: Exposed, exchanging: Exposed, every: int) -> Exposed:
    """Return the mean step of which one in `every` exchanges with other data centres.

    What the others have to wait for is in `exchanging`; each of the steps in between is `local`, so
    the data centres train by themselves, as in DiLoCo [douillard23]. What that does to the model
    that is trained is not looked at.

    Parameters
    ----------
    every : int
        Steps from one exchange to the next, 1 or more.
    """
    names = Exposed.__dataclass_fields__
    return Exposed(**{
        name: getattr(local, name) + (getattr(exchanging, name) - getattr(local, name)) / every
        for name in names
    })  # fmt: skip


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
