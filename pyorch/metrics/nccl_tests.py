# SPDX-License-Identifier: GPL-2.0-only
"""How long does a collective of NCCL take, and at which bandwidths, as nccl-tests prints them?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.render import workload_of_flows
from pyorch.spec.resolved import Spec
from pyorch.workload import nccl

#: Bytes of a float, in which nccl-tests counts.
_FLOAT_BYTES = 4


def refusal(spec: Spec) -> str:
    """Return why a run cannot be asked; nothing if it can."""
    if any(load.type == "nccl" for load in spec.workload):
        return ""
    return "no workload of this run is nccl. Ask for collective instead."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per workload of NCCL.

    Returns
    -------
    DataFrame
        ``workload``: index, from 0; ``size_bytes`` and ``count``, of floats of a GPU, as nccl-tests
        has them; ``operation``; ``algorithm``, ``protocol``, ``channels`` and ``chunks`` of a
        channel: what NCCL has chosen; ``expected_ps``: what it expects; ``time_ps``: from the start
        to the end of the last message; ``algbw_bps``: size over time; ``busbw_bps``: that times
        `bus_factor`.
    """
    ends_ps = run.flows.set_index("flow")["receiver_end_ps"]
    owner = workload_of_flows(run.spec)
    ids = run.inputs["flows"]["flow"]
    rows = []
    for index, load in enumerate(run.spec.workload):
        if load.type != "nccl":
            continue
        params, choice = load.params, load.params.choice
        own = ids[np.flatnonzero(owner == index)]
        time_ps = int(ends_ps.loc[own].max()) - params.start_ps
        algbw_bps = params.data_bytes * 8e12 / time_ps
        rows.append({
            "workload": index, "size_bytes": params.data_bytes, "count": _count(params),
            "operation": params.operation, "algorithm": choice.algorithm,
            "protocol": choice.protocol, "channels": choice.channels, "chunks": choice.chunks,
            "expected_ps": choice.expected_ps, "time_ps": time_ps, "algbw_bps": algbw_bps,
            "busbw_bps": algbw_bps * bus_factor(params.operation, params.ranks),
        })  # fmt: skip
    return pd.DataFrame(rows)


def bus_factor(operation: str, ranks: int) -> float:
    """Return what nccl-tests multiplies size over time with, for the rate of the busiest link [1].

    Source: nccl-tests, doc/PERFORMANCE.md.

    Examples
    --------
    >>> bus_factor("all_reduce", 8)
    1.75
    """
    part = (ranks - 1) / ranks
    factors = {"all_reduce": 2 * part, "broadcast": 1.0, "send_recv": 1.0}
    return factors.get(operation, part)


def _count(params: nccl.Params) -> int:
    """Return how many floats a GPU gives, in nccl-tests' count."""
    shared = params.operation in ("all_gather", "reduce_scatter", "all_to_all")
    return params.data_bytes // _FLOAT_BYTES // (params.ranks if shared else 1)
