# SPDX-License-Identifier: GPL-2.0-only
"""Takes measured slowdown of transports, leaves how much slower each makes the transfers of a step.

A step waits for its slowest transfer, so what counts is the slowest flow over the optimal one, as
figure 5 shows it: headers and acknowledgements are counted on both sides. What was measured is a
synchronised permutation, which is what pipeline transfers are; the ratio is taken to hold for other
rates and sizes, and collectives are left ideal unless they were measured.
"""

from typing import TYPE_CHECKING

from pyorch.errors import TheoryError
from pyorch.theory.exposed import Inflation

if TYPE_CHECKING:
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
