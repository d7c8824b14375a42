# SPDX-License-Identifier: GPL-2.0-only
"""The curves of figures 1 and 3, against those of another program, to the digits that it stores."""

import csv
from pathlib import Path

import numpy as np
import pytest

from pyorch.theory import exposed, preset, scaling

FOLDER = Path(__file__).parent
MODELS = {"dense": "dense-100t", "moe": "moe-100t"}
SITE_FLOP_PER_S = 16.8e21  # as the paper prints it


def read(name):
    with (FOLDER / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def half_digit(text):
    """Half a unit of the last digit that `text` shows."""
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


def close(value, text):
    return value == pytest.approx(float(text), rel=1e-6, abs=half_digit(text) * (1 + 1e-6))


@pytest.mark.parametrize("law", scaling.LAWS)
def test_loss_optimal_sizes(law):
    for row in read("figure_1_curves.csv"):
        days = 30 * float(row["months_of_30_days"])
        work_flop = scaling.training_flop(SITE_FLOP_PER_S, days)

        assert close(work_flop, row["C_flop"])
        assert close(scaling.LAWS[law]().parameters(work_flop), row[law]), row


def share_of(row):
    """Exposed time of one row of figure 3."""
    setup = preset.training(MODELS[row["model"]]).setup
    rate_bps = float(row["x"]) * 1e9
    if row["x_name"] == "scaleup_gbps":
        return exposed.expose_setup(exposed.with_rates(setup, scale_up_bps=rate_bps))
    if row["x_name"] == "scaleout_gbps":
        return exposed.expose_setup(exposed.with_rates(setup, scale_out_bps=rate_bps))
    model, rtts = row["variant"].removesuffix("RTT").split("+")
    return exposed.expose_setup(
        exposed.with_rates(setup, wan_bps=rate_bps), wan_model=model,
        retransmission_rtts=int(rtts),
    )  # fmt: skip


@pytest.mark.parametrize("figure", ["3a", "3b", "3c"])
def test_exposed_networking(figure):
    rows = [row for row in read("figure_3_curves.csv") if row["figure"] == figure]

    assert len(rows) == {"3a": 22, "3b": 16, "3c": 162}[figure]
    for row in rows:
        step = share_of(row)
        assert close(float(step.exposed_ps) / 1e9, row["exposed_ms"]), row
        assert close(100 * float(step.share), row["exposed_percent"]), row


def test_an_array_of_rates_gives_the_same_as_one_rate_at_a_time():
    # Symmetry: broadcasting is a loop. Two models of the network, three rates, two retransmissions.
    setup = preset.training("moe-100t").setup
    rates, rtts = np.array([5e9, 20e9, 100e9]), np.array([[0], [2]])

    together = exposed.expose_setup(
        exposed.with_rates(setup, wan_bps=rates), wan_model="once-one-way", retransmission_rtts=rtts
    ).share

    assert together.shape == (2, 3)
    for i, lost in enumerate((0, 2)):
        for j, rate in enumerate(rates):
            alone = exposed.expose_setup(
                exposed.with_rates(setup, wan_bps=rate),
                wan_model="once-one-way",
                retransmission_rtts=lost,
            )
            assert together[i, j] == alone.share
