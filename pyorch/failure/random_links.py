# SPDX-License-Identifier: GPL-2.0-only
"""Links that fail and are repaired at random: exponential times between failures and to repair."""

import zlib

import numpy as np
from pydantic import Field

from pyorch.failure._outage import Outages
from pyorch.spec.fields import Closed, FieldError, RateBps, TimePs


class Params(Closed):
    """Every link works for `mtbf` and fails for `mttr` on average, by itself.

    `between_switches` spares the links of hosts. During an outage a link is cut, or has `rate`.
    """

    mtbf_ps: TimePs = Field(alias="mtbf", ge=1)
    mttr_ps: TimePs = Field(alias="mttr", ge=1)
    rate_bps: RateBps | None = Field(None, alias="rate")
    between_switches: bool = True


def check(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], stop_ps: int
) -> None:
    """Raise FieldError if no link can fail."""
    if not len(_candidates(params, nodes, links)):
        raise FieldError(
            "between_switches", "no link joins two switches here, so none can fail. Say false."
        )


def outages(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int,
    stop_ps: int,
) -> Outages:  # fmt: skip
    """Return all outages that begin before the run stops.

    Each link has a random stream of its own, named by its ends, so another link more changes
    nothing for the others.
    """
    rows = []
    for link in _candidates(params, nodes, links):
        ends = f"{links['node_a'][link]}-{links['node_b'][link]}-{_parallel(links)[link]}"
        key = [seed, zlib.crc32(b"random_links"), zlib.crc32(ends.encode())]
        stream = np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))
        time_ps = _draw(stream, params.mtbf_ps)
        while time_ps < stop_ps:
            end_ps = time_ps + _draw(stream, params.mttr_ps)
            rows.append((link, time_ps, end_ps, params.rate_bps or 0))
            time_ps = end_ps + _draw(stream, params.mtbf_ps)
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 4)
    return Outages(*table.T)


def _draw(stream: np.random.Generator, mean_ps: int) -> int:
    """Return an exponential time, at least a picosecond."""
    return max(1, int(stream.exponential(mean_ps)))


def _parallel(links: dict[str, np.ndarray]) -> np.ndarray:
    return links.get("parallel", np.zeros(len(links["node_a"]), dtype=np.int64))


def _candidates(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]
) -> np.ndarray:
    """Return the rows of the links that may fail."""
    switches = nodes["node"][nodes["is_switch"] == 1]
    inner = np.isin(links["node_a"], switches) & np.isin(links["node_b"], switches)
    return np.flatnonzero(inner | (not params.between_switches))
