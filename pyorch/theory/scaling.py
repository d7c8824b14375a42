# SPDX-License-Identifier: GPL-2.0-only
"""Takes a compute budget, returns the model size and the tokens that make its loss smallest.

Source: [hotnets24] section 3.1 and figure 1, which quote [kaplan20] and [hoffmann22].
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from pyorch.theory._quantities import SECONDS_PER_DAY, Real

#: Work per parameter and token [FLOP]: two forward, four backward.
FLOP_PER_PARAMETER_TOKEN = 6
#: One PF-day [FLOP], the unit of compute in [kaplan20].
PF_DAY_FLOP = 1e15 * SECONDS_PER_DAY

#: Training time of the 103.8T model [day]: 48 months of 30 days. Inferred, not stated: with
#: approach 2 at the dense rate it gives 103.78T (docs/theory.md).
INFERRED_TRAINING_DAYS = 1440

#: [hoffmann22] tables 3 and A3: parameters, then compute [FLOP] by approaches 1, 2 and 3.
#: The 175e9 row of approach 3 is misprinted there as 1.26e24; tokens times 6 N give 1.26e25.
HOFFMANN_ROWS = np.array([
    [400e6, 1.92e19, 1.84e19, 2.21e19],
    [1e9, 1.21e20, 1.20e20, 1.62e20],
    [10e9, 1.23e22, 1.32e22, 2.46e22],
    [67e9, 5.76e23, 6.88e23, 1.71e24],
    [175e9, 3.85e24, 4.54e24, 1.26e25],
    [280e9, 9.90e24, 1.18e25, 3.52e25],
    [520e9, 3.43e25, 4.19e25, 1.36e26],
    [1e12, 1.27e26, 1.59e26, 5.65e26],
    [10e12, 1.30e28, 1.75e28, 8.55e28],
])  # fmt: skip


@dataclass(frozen=True)
class PowerLaw:
    """N = prefactor * C^exponent, with N in parameters and C in FLOP."""

    prefactor: float
    exponent: float

    def parameters(self, compute_flop: Real) -> Real:
        """Return the loss-optimal size [parameters]."""
        return self.prefactor * np.power(compute_flop, self.exponent)

    def compute_flop(self, parameters: Real) -> Real:
        """Return the compute for which `parameters` is optimal [FLOP]."""
        return np.power(np.divide(parameters, self.prefactor), 1 / self.exponent)


@dataclass(frozen=True)
class ParametricLoss:
    """L(N, D) = E + A / N^alpha + B / D^beta, approach 3 of [hoffmann22] section 3.3."""

    irreducible: float = 1.69  #: E
    size_factor: float = 406.4  #: A
    token_factor: float = 410.7  #: B
    size_exponent: float = 0.34  #: alpha
    token_exponent: float = 0.28  #: beta

    def loss(self, parameters: Real, tokens: Real) -> Real:
        """Return the loss per token [nat]."""
        of_size = self.size_factor / np.power(parameters, self.size_exponent)
        return (
            self.irreducible + of_size + self.token_factor / np.power(tokens, self.token_exponent)
        )

    def power_law(self) -> PowerLaw:
        """Return the size that makes the loss smallest under C = 6 N D, in closed form."""
        both = self.size_exponent + self.token_exponent
        ratio = self.size_exponent * self.size_factor / (self.token_exponent * self.token_factor)
        exponent = self.token_exponent / both
        prefactor = ratio ** (1 / both) / FLOP_PER_PARAMETER_TOKEN**exponent
        return PowerLaw(prefactor, exponent)


@cache
def hoffmann_fit(approach: int) -> PowerLaw:
    """Return the log-log least-squares line through the published table of approach 1, 2 or 3."""
    exponent, log_prefactor = np.polyfit(
        np.log(HOFFMANN_ROWS[:, approach]), np.log(HOFFMANN_ROWS[:, 0]), 1
    )
    return PowerLaw(float(np.exp(log_prefactor)), float(exponent))


#: [kaplan20] table 6: N = 1.3e9 * C^0.73, C in PF-days.
KAPLAN = PowerLaw(1.3e9 / PF_DAY_FLOP**0.73, 0.73)

#: Every law of figure 1, in the order of its legend; called, so that the fits are made on demand.
LAWS: dict[str, Callable[[], PowerLaw]] = {
    "kaplan": lambda: KAPLAN,
    "hoffmann1": lambda: hoffmann_fit(1),
    "hoffmann2": lambda: hoffmann_fit(2),
    "hoffmann3_table": lambda: hoffmann_fit(3),
    "hoffmann3_closed": lambda: ParametricLoss().power_law(),
}


def training_flop(rate_flop_per_s: Real, days: Real) -> Real:
    """Return the work that a site does in `days` at full utilisation [FLOP]."""
    return np.multiply(rate_flop_per_s, days) * SECONDS_PER_DAY


def training_days(work_flop: Real, rate_flop_per_s: Real) -> Real:
    """Return the days that a site needs for `work_flop` at full utilisation."""
    return work_flop / np.multiply(rate_flop_per_s, SECONDS_PER_DAY)


def optimal_tokens(compute_flop: Real, parameters: Real) -> Real:
    """Return the tokens that use up `compute_flop` on a model of `parameters`: C / (6 N)."""
    return compute_flop / np.multiply(FLOP_PER_PARAMETER_TOKEN, parameters)
