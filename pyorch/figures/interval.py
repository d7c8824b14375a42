# SPDX-License-Identifier: GPL-2.0-only
"""Takes one value per seed, leaves their mean and how far it can be from that of all seeds."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
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
