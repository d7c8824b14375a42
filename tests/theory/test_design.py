# SPDX-License-Identifier: GPL-2.0-only
"""What a network costs and exposes, by hand, and which of them are kept."""

import pytest
from typer.testing import CliRunner

from pyorch.cli.theory import design as commands
from pyorch.errors import TheoryError
from pyorch.theory import design, exposed, parallelism, preset
from pyorch.theory.full_step import Fabric


@pytest.fixture(scope="module")
def setup():
    return preset.training("dense-100t").setup


def test_a_network_of_full_bisection_costs_and_exposes_what_the_paper_says(setup):
    # [hotnets24] 6.1 by hand, H = 134 x 87 x 72 = 839,376 hosts: two tiers with 4 planes and a
    # rail per device, H cables, 3 H / 64 chips; four tiers without, 3 H cables, 7 H / 64 chips.
    hosts = 134 * 87 * 72
    rails, plain = design.score(setup, Fabric(64, 4, 72)), design.score(setup, Fabric(64, 1, 1))

    assert design.hosts(setup) == hosts
    assert (rails.tiers, rails.cables, rails.chips) == (2, hosts, 3 * hosts / 64)
    assert (plain.tiers, plain.cables, plain.chips) == (4, 3 * hosts, 7 * hosts / 64)
    assert rails.usd == 2000 * hosts
    ideal = exposed.expose(parallelism.stage_times(setup)).share
    assert rails.share == plain.share == pytest.approx(float(ideal))


def test_oversubscription_divides_what_lies_above_the_edge_and_slows_what_crosses(setup):
    # r = 4: edge switches stay 2 H / 64, all else is a quarter. 128 racks below one switch, peers
    # 134 racks apart: all send up over a quarter of the links, so stages 2 and 4 take 4 times as
    # long; of a pipeline only the last rack below a switch sends up, at full rate.
    hosts = 134 * 87 * 72
    found = design.score(setup, Fabric(64, 4, 72, 4.0), design.Prices(1000.0, 10_000.0))
    times = parallelism.stage_times(setup)
    data_ps = 4 * float(times.dp2_ps) - float(times.backward_ps)
    waits_ps = 2 * float(times.tensor_ps + times.pipeline_ps) + data_ps
    compute_ps = float(times.forward_ps + times.backward_ps)

    assert found.cables == hosts / 4
    assert found.chips == 2 * hosts / 64 + hosts / 64 / 4
    assert found.usd == pytest.approx(2000 * found.cables + 10_000 * found.chips)
    assert found.share == pytest.approx(waits_ps / (waits_ps + compute_ps))


def test_the_frontier_has_what_nothing_beats(setup):
    found = design.designs(setup, 64, (1, 4), (1, 72), (1.0, 2.0, 4.0, 8.0))
    best = design.frontier(found)

    assert len(found) == 16
    for one in best:
        assert not any(o.usd <= one.usd and o.share < one.share * (1 - 1e-9) for o in found)
    for one in found:
        assert one in best or any(o.usd <= one.usd and o.share <= one.share for o in best)
    assert design.cheapest(best, 0.05).fabric.oversubscription == 2.0
    assert design.cheapest(best, 0.01) is None


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), (" 12.5 %", 0.125)])
def test_a_share_is_read_in_both_spellings(text, share):
    assert commands.most_share(text.replace(" %", "%")) == share


@pytest.mark.parametrize("text", ["5", "0", "five", "5%%", "-1%", "100%", ""])
def test_what_is_no_share_is_one_sentence(text):
    with pytest.raises(TheoryError, match="write a share of a step, 5% or 0.05"):
        commands.most_share(text)


def test_the_command_marks_the_cheapest_that_is_good_enough(setup):
    import typer

    app = typer.Typer()
    app.command()(commands.choose)
    options = ["--no-fluid", "--format", "csv", "--oversubscription", "1", "--oversubscription",
               "2", "--oversubscription", "4", "--planes", "4", "--rails", "72"]  # fmt: skip
    done = CliRunner().invoke(app, ["dense-100t", "--exposed", "5%", *options])

    rows = [line.split(",") for line in done.output.splitlines()]
    assert [row[rows[0].index("chosen")] for row in rows[1:]] == ["", "yes"]
    assert [row[rows[0].index("oversubscription")] for row in rows[1:]] == ["4", "2"]
