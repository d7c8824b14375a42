# SPDX-License-Identifier: GPL-2.0-only
"""The timeline of a step: no overlap in a lane, and as long as the exposed model says."""

import pytest

from pyorch.errors import TheoryError
from pyorch.theory import exposed, parallelism, preset
from pyorch.theory.timeline import LANES, timeline

CASES = [(name, crossing_ps) for name in ("dense-100t", "moe-100t") for crossing_ps in (0.0, 500e9)]


@pytest.mark.parametrize(("name", "crossing_ps"), CASES)
def test_the_timeline_adds_up_to_the_exposed_model(name, crossing_ps):
    times = parallelism.stage_times(preset.training(name).setup)
    step = exposed.expose(times, crossing_ps=crossing_ps)

    got = timeline(times, crossing_ps)

    assert got.end_ps == pytest.approx(float(step.step_ps))
    assert sum(end - start for start, end in got.exposed) == pytest.approx(float(step.exposed_ps))
    assert max(span.end_ps for span in got.spans) == pytest.approx(got.end_ps)


@pytest.mark.parametrize(("name", "crossing_ps"), CASES)
def test_no_two_activities_share_a_lane_and_nothing_is_computed_while_exposed(name, crossing_ps):
    got = timeline(parallelism.stage_times(preset.training(name).setup), crossing_ps)

    for lane in LANES:
        spans = sorted((s.start_ps, s.end_ps) for s in got.spans if s.lane == lane)
        for (_, end), (start, _) in zip(spans, spans[1:], strict=False):
            assert end <= start
    for start, end in got.exposed:
        for span in got.spans:
            if span.lane == "compute":
                assert span.end_ps <= start or span.start_ps >= end


def test_without_a_crossing_its_lane_is_empty():
    got = timeline(parallelism.stage_times(preset.training("dense-100t").setup))

    assert "DP 3 exchange" not in {span.lane for span in got.spans}


def test_a_step_of_many_micro_batches_has_no_such_timeline():
    times = parallelism.stage_times(preset.training("llama3-70b").setup)
    with pytest.raises(TheoryError, match="steady step of one micro-batch; this one is 1f1b"):
        timeline(times)
