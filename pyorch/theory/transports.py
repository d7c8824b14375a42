# SPDX-License-Identifier: GPL-2.0-only
"""How much slower each transport makes the transfers of a step, by its measured slowdown.

A step waits for its slowest transfer, so what counts is the slowest flow over the optimal one, as
figure 5 shows it: headers and acknowledgements are counted on both sides. What was measured is a
synchronised permutation, which is what pipeline transfers are; the ratio is taken to hold for other
rates and sizes, and collectives are left ideal unless they were measured.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyorch.errors import TheoryError
from pyorch.theory import preset
from pyorch.theory.exposed import Inflation, expose_setup, with_rates

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

VARIANT, LABEL, SLOWEST = "variant", "label", "over_optimal_p100"


def inflations(slowdown: "pd.DataFrame") -> "dict[str, tuple[str, Inflation]]":
    """Return label and inflation of each transport, in the order of the table.

    Parameters
    ----------
    slowdown : DataFrame, one row per run
        Columns `VARIANT`, `LABEL` and `SLOWEST` [1]; seeds are averaged.

    Raises
    ------
    TheoryError
        A column is missing.
    """
    if missing := {VARIANT, LABEL, SLOWEST} - set(slowdown.columns):
        raise TheoryError(
            f"the slowdown table has no column {', '.join(sorted(missing))}; it has"
            f" {', '.join(slowdown.columns)}."
        )
    found = {}
    for (variant, label), runs in slowdown.groupby([VARIANT, LABEL], sort=False):
        ratio = float(runs[SLOWEST].mean())
        # A hair below 1 is possible: the optimum of the measurement counts headers.
        found[variant] = (label, Inflation(pipeline=max(1.0, ratio)))
    return found


def exposed_by_rate(
    slowdown: "pd.DataFrame", models: Sequence[str], network: str, rates_bps: "np.ndarray"
) -> "pd.DataFrame":
    """Return how much of a step is exposed at each rate with each transport and with none slower.

    Parameters
    ----------
    slowdown : DataFrame, one row per run
        As in `inflations`.
    models : sequence of str
        Presets of training.
    network : str
        ``"scale_up"`` or ``"scale_out"``: whose rate changes.
    rates_bps : array, n_rates
        Rates of a device [bit/s].

    Returns
    -------
    DataFrame, models x (1 + transports) x n_rates rows
        Columns ``preset``, ``transport``, ``label``, ``pipeline_slowdown`` [1],
        ``<network>_gbps``, ``exposed_percent``.

    Raises
    ------
    TheoryError
        A column is missing, or there is no such preset.
    """
    import pandas as pd

    kinds = {"optimal": ("Optimal", Inflation()), **inflations(slowdown)}
    tables = []
    for name in models:
        setup = with_rates(preset.training(name).setup, **{f"{network}_bps": rates_bps})
        for kind, (label, inflation) in kinds.items():
            share = expose_setup(setup, inflation=inflation).share
            tables.append(
                pd.DataFrame(
                    {
                        "preset": name, "transport": kind, "label": label,
                        "pipeline_slowdown": inflation.pipeline,
                        f"{network}_gbps": rates_bps / 1e9, "exposed_percent": 100 * share,
                    }
                )
            )  # fmt: skip
    return pd.concat(tables, ignore_index=True)
