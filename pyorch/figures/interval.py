# SPDX-License-Identifier: GPL-2.0-only
"""Takes one value per seed, returns their mean and how far it can be from that of all seeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pyorch.errors import FigureError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike


def mean_interval(values: "ArrayLike", level: float = 0.95) -> tuple[float, float]:
    """Return the mean and the half width of its confidence interval.

    Student's t: the values are taken to be independent draws of one normal distribution. A slowest
    flow is not quite that, so for three seeds read it as an order of magnitude.

    Parameters
    ----------
    values : array, n_seeds
        One value per seed.
    level : float
        Share of intervals made like this that contain the true mean [1].

    Returns
    -------
    (float, float)
        The half width of a single value is NaN: one seed says nothing about the others.
    """
    from scipy.stats import t

    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    if n < 2:
        return float(values.mean()), float("nan")
    half = t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return float(values.mean()), float(half)


def over_seeds(table: "pd.DataFrame", by: Sequence[str], column: str) -> "pd.DataFrame":
    """Return the mean of a column over the seeds of each point, with its 95 % interval.

    Parameters
    ----------
    table : DataFrame, one row per run
        Has `column`, ``seed`` and the columns `by`.
    by : sequence of str
        What makes a point; the order of the table is kept.
    column : str
        What is averaged.

    Returns
    -------
    DataFrame, one row per point
        Columns `by`, ``n_seeds``, and `column` with ``_mean``, ``_low`` and ``_high``; without an
        interval (NaN) where there is one seed.

    Raises
    ------
    FigureError
        A point has one seed twice: these would be counted as independent.
    """
    import pandas as pd

    rows = []
    for point, runs in table.groupby(list(by), sort=False, dropna=False):
        if runs["seed"].duplicated().any():
            where = ", ".join(f"{key} {value}" for key, value in zip(by, point, strict=True))
            raise FigureError(f"{column}: more than one row for a seed at {where}.")
        mean, half = mean_interval(runs[column])
        rows.append([*point, len(runs), mean, mean - half, mean + half])
    names = [f"{column}_{end}" for end in ("mean", "low", "high")]
    return pd.DataFrame(rows, columns=[*by, "n_seeds", *names])
