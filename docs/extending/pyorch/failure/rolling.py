# SPDX-License-Identifier: GPL-2.0-only
"""Links between switches that are taken out one after another, as for maintenance."""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.failure._outage import Outages
from pyorch.spec.fields import Closed, FieldError, TimePs

Period = Annotated[TimePs, Field(ge=1)]


class Params(Closed):
    """From `start` on, every link between two switches is cut for `each`, then `pause`."""

    start_ps: TimePs = Field(alias="start")
    each_ps: Period = Field(alias="each")
    pause_ps: TimePs = Field(0, alias="pause")


def check(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], stop_ps: int
) -> None:
    """Raise FieldError if nothing would be cut."""
    if params.start_ps >= stop_ps:
        raise FieldError("start", f"{params.start_ps} ps is not before stop, {stop_ps} ps.")
    if not len(_candidates(nodes, links)):
        raise FieldError("start", "no link joins two switches here, so none can be taken out.")


def outages(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int,
    stop_ps: int,
) -> Outages:  # fmt: skip
    """Return one outage for each link, in the order of the link table."""
    link = _candidates(nodes, links)
    start_ps = params.start_ps + np.arange(len(link)) * (params.each_ps + params.pause_ps)
    return Outages(
        link=link,
        start_ps=start_ps,
        end_ps=start_ps + params.each_ps,
        rate_bps=np.zeros(len(link), dtype=np.int64),
    )


def _candidates(nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]) -> np.ndarray:
    """Return the rows of links between switches."""
    switches = nodes["node"][nodes["is_switch"] == 1]
    ends = np.stack([links["node_a"], links["node_b"]])
    return np.flatnonzero(np.isin(ends, switches).all(axis=0))
