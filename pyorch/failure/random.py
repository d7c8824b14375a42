# SPDX-License-Identifier: GPL-2.0-only
"""Links, switches or planes that fail and are repaired at random, each by itself."""

import hashlib
from typing import Literal

import numpy as np
from pydantic import Field

from pyorch.failure._outage import Outages, check_slower, elements_of
from pyorch.spec.fields import Closed, FieldError, RateBps, TimePs
from pyorch.spec.limits import MOST_OUTAGES
from pyorch.units import TIME, format_exact


class Params(Closed):
    """Each of `what` works for `mtbf` and fails for `mttr` on average, exponentially distributed.

    ``fabric_links`` spares the links of hosts. A switch or a plane takes all its links with it.
    During an outage a link is cut, or has `rate`.
    """

    what: Literal["links", "fabric_links", "switches", "planes"]
    mtbf_ps: TimePs = Field(alias="mtbf", ge=1)
    mttr_ps: TimePs = Field(alias="mttr", ge=1)
    rate_bps: RateBps | None = Field(None, alias="rate")


def check(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], stop_ps: int
) -> None:
    """Raise FieldError if nothing can fail, or failing would change nothing."""
    elements = elements_of(params.what, nodes, links)
    if not elements:
        raise FieldError("what", "no link joins two switches here, so none can fail. Say links.")
    rows = np.concatenate(list(elements.values()))
    expected = len(rows) * stop_ps / (params.mtbf_ps + params.mttr_ps)
    if expected > MOST_OUTAGES:
        raise FieldError(
            "mtbf", f"{format_exact(params.mtbf_ps, TIME)}, and mttr, make {expected:.3g} outages"
            f" of {len(rows)} links until the stop; at most {MOST_OUTAGES:,}. Write longer ones.",
        )  # fmt: skip
    check_slower(params.rate_bps, links, rows)


def outages(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int,
    stop_ps: int,
) -> Outages:  # fmt: skip
    """Return all outages that begin before the run stops.

    Each element has a random stream of its own, named by its ids, so one element more changes
    nothing for the others.
    """
    rows = []
    for name, hit in elements_of(params.what, nodes, links).items():
        numbers = _stream(seed, name)
        time_ps = _draw(numbers, params.mtbf_ps)
        while time_ps < stop_ps:
            end_ps = time_ps + _draw(numbers, params.mttr_ps)
            rows += [(link, time_ps, end_ps, params.rate_bps or 0) for link in hit]
            time_ps = end_ps + _draw(numbers, params.mtbf_ps)
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 4)
    return Outages(*table.T)


def _stream(seed: int, name: str) -> np.random.Generator:
    """Return the random numbers of an element; two of many thousand never share them."""
    digest = hashlib.sha256(f"random failures of {name}".encode()).digest()
    key = [seed, int.from_bytes(digest[:16])]
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))


def _draw(numbers: np.random.Generator, mean_ps: int) -> int:
    """Return an exponential time, at least a picosecond."""
    return max(1, int(numbers.exponential(mean_ps)))
