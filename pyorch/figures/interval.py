# SPDX-License-Identifier: GPL-2.0-only
"""Takes one value per seed, returns their mean and how far it can be from that of all seeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pyorch.calls import checked
from pyorch.errors import FigureError, quoted

if TYPE_CHECKING:
    import pandas as pd


@checked
def mean_interval(
    values: "Sequence[float] | np.ndarray | pd.Series", level: float = 0.95
) -> tuple[float, float]:
    """Return the mean and the half width of its confidence interval.

    Student's t: the values are taken to be independent draws of one normal distribution. A slowest
    flow is not quite that, so for three seeds read it as an order of magnitude.

    Parameters
    ----------
    values : array, shape (n_seeds,)
        One value per seed.
    level : float
        Share of intervals made like this that contain the true mean [1].

    Returns
    -------
    (float, float)
        Mean and half width in the unit of the values. The half width of a single value is NaN: one
        seed says nothing about the others.

    Raises
    ------
    FigureError
        These are no numbers, or none, or the level is not between 0 and 1.

    Examples
    --------
    >>> mean, half = mean_interval([1.0, 2.0, 3.0])
    >>> mean, round(half, 3)  # 4.303 of Student's t times 1 over the root of 3
    (2.0, 2.484)
    """
    from scipy.stats import t

    try:
        drawn = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise FigureError(f"mean_interval: {quoted(values)} are no numbers.") from None
    if drawn.ndim != 1 or not len(drawn) or not 0 < level < 1:
        raise FigureError(
            f"mean_interval: {quoted(drawn.tolist())} at level {level}: give a list of numbers,"
            " and a level between 0 and 1."
        )
    n = len(drawn)
    if n < 2:
        return float(drawn.mean()), float("nan")
    half = t.ppf((1 + level) / 2, n - 1) * drawn.std(ddof=1) / np.sqrt(n)
    return float(drawn.mean()), float(half)


@checked
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
        A column is missing, or a point has one seed twice: these would be counted as independent.

    Examples
    --------
    >>> import pandas as pd
    >>> fct = pd.DataFrame({"variant": ["a"] * 3, "seed": [1, 2, 3], "fct_us": [1.0, 2.0, 3.0]})
    >>> over_seeds(fct, ["variant"], "fct_us").round(3).to_dict("records")
    [{'variant': 'a', 'n_seeds': 3, 'fct_us_mean': 2.0, 'fct_us_low': -0.484, 'fct_us_high': 4.484}]
    """
    import pandas as pd

    missing = [name for name in (*by, "seed", column) if name not in table]
    if missing or not by:
        raise FigureError(
            f"over_seeds: {f'no column {quoted(missing[0])}' if missing else 'by names no column'}."
            f" There are {', '.join(map(str, table.columns))}."
        )
    rows = []
    for point, runs in table.groupby(list(by), sort=False, dropna=False):
        if runs["seed"].duplicated().any():
            where = ", ".join(f"{key} {value}" for key, value in zip(by, point, strict=True))
            raise FigureError(f"{column}: more than one row for a seed at {where}.")
        mean, half = mean_interval(runs[column])
        rows.append([*point, len(runs), mean, mean - half, mean + half])
    names = [f"{column}_{end}" for end in ("mean", "low", "high")]
    return pd.DataFrame(rows, columns=[*by, "n_seeds", *names])
