# SPDX-License-Identifier: GPL-2.0-only
"""Measured slowdown of transports as an input of the exposed model."""

import pandas as pd
import pytest

from pyorch.errors import TheoryError
from pyorch.theory import exposed, preset, transports

MEASURED = pd.DataFrame(
    {
        "variant": ["slow", "slow", "fast"],
        "label": ["Slow", "Slow", "Fast"],
        "seed": [1, 2, 1],
        "over_optimal_p100": [6.0, 8.0, 0.999],
    }
)


def test_seeds_are_averaged_and_the_order_is_kept():
    got = transports.inflations(MEASURED)

    assert list(got) == ["slow", "fast"]
    assert got["slow"] == ("Slow", exposed.Inflation(pipeline=7.0))
    # Rounding may measure a hair less than the optimum; a transfer is never faster than ideal.
    assert got["fast"][1].pipeline == 1.0


def test_seven_times_slower_pipeline_transfers_by_hand():
    # MoE: 2 * 3.6793 + 2 * 7 * 0.97394 + 21.8685 = 42.862 ms over 135.535 + 42.862.
    _, inflation = transports.inflations(MEASURED)["slow"]
    share = exposed.expose_setup(preset.training("moe-100t").setup, inflation=inflation).share

    assert share == pytest.approx(42.862 / 178.397, rel=1e-4)


def test_a_table_without_the_columns_is_refused():
    with pytest.raises(TheoryError, match="no column label, over_optimal_p100; it has variant"):
        transports.inflations(MEASURED[["variant", "seed"]])
