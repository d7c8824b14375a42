# SPDX-License-Identifier: GPL-2.0-only
"""Takes the times of a pipeline stage, returns who is busy when in one step, lane by lane.

Source: [hotnets24] figure 2 and section 6. Activities stand in the order in which the exposed
model adds them: compute, what of the all-reduce outlasts it, tensor, pipeline. The stages of the
all-reduce run side by side from the start of the backward pass, as `max` pooling assumes.
"""

from dataclasses import dataclass

from pyorch.errors import TheoryError
from pyorch.theory.exposed import expose
from pyorch.theory.parallelism import StageTimes
from pyorch.theory.schedules import STEADY

#: Lane by what it uses; the order is that of the figure, from top to bottom.
LANES = {
    "compute": "GPU",
    "TP": "scale-up",
    "PP": "scale-out",
    "DP 1 all-reduce": "scale-up",
    "DP 2 all-reduce": "scale-out",
    "DP 3 exchange": "WAN",
    "DP 4 all-gather": "scale-out",
    "DP 5 all-gather": "scale-up",
}


@dataclass(frozen=True)
class Span:
    """One activity of one device."""

    lane: str
    phase: str  #: forward or backward
    start_ps: float
    end_ps: float


@dataclass(frozen=True)
class Timeline:
    """One step of one device.

    Identity: the exposed intervals last as long as `Exposed.exposed_ps`, and the step ends with
    the last of them.
    """

    spans: tuple[Span, ...]
    exposed: tuple[tuple[float, float], ...]  #: intervals in which nothing is computed [ps]
    end_ps: float


def timeline(times: StageTimes, crossing_ps: float = 0.0) -> Timeline:
    """Return the timeline of one step.

    Parameters
    ----------
    times : StageTimes
        Single numbers, not arrays.
    crossing_ps : float
        Stage 3 [ps]; 0 leaves its lane empty.

    Raises
    ------
    TheoryError
        It is no steady step of one micro-batch.
    """
    if (times.course.schedule, times.course.micro_batches) != (STEADY, 1):
        raise TheoryError(
            "a timeline shows a steady step of one micro-batch; this one is"
            f" {times.course.schedule} with {times.course.micro_batches}. Simulate it and ask for"
            " its timeline."
        )
    step = expose(times, crossing_ps=crossing_ps)
    forward_end = times.forward_ps
    tensor_end = forward_end + times.tensor_ps
    turn = tensor_end + times.pipeline_ps
    backward_end = turn + times.backward_ps
    reduced = backward_end + float(step.data_ps)
    stages = {
        "DP 1 all-reduce": times.dp1_ps,
        "DP 2 all-reduce": times.dp2_ps,
        "DP 3 exchange": crossing_ps,
        "DP 4 all-gather": times.dp4_ps,
        "DP 5 all-gather": times.dp5_ps,
    }
    end = reduced + times.tensor_ps + times.pipeline_ps
    spans = [
        Span("compute", "forward", 0.0, forward_end),
        Span("TP", "forward", forward_end, tensor_end),
        Span("PP", "forward", tensor_end, turn),
        Span("compute", "backward", turn, backward_end),
        *(Span(lane, "backward", turn, turn + length) for lane, length in stages.items() if length),
        Span("TP", "backward", reduced, reduced + times.tensor_ps),
        Span("PP", "backward", reduced + times.tensor_ps, end),
    ]
    return Timeline(tuple(spans), ((forward_end, turn), (backward_end, end)), end)
