# SPDX-License-Identifier: GPL-2.0-only
"""What would ideal congestion control have given on the very paths that a run has drawn?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables, changes_of_links
from pyorch.spec.resolved import Spec
from pyorch.theory import ecmp

COLUMNS = (
    "fluid_p50_ps", "fluid_p99_ps", "fluid_p100_ps", "most_loaded_link_ps", "most_flows_on_link",
    "slowest_fct_ps", "over_fluid_p100", "over_fluid_mean",
)  # fmt: skip


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row for a run whose flows keep to one path, none for a run that sprays.

    Returns
    -------
    DataFrame
        ``fluid_{p50,p99,p100}_ps``: FCT under max-min fair rates of the data on the run's own
        paths; ``most_loaded_link_ps``: bytes on that link over its rate, a strict bound of the
        slowest flow when all start together; ``most_flows_on_link`` [1]; ``slowest_fct_ps``:
        measured; ``over_fluid_p100``, ``over_fluid_mean``: measured over fluid, slowest flow and
        mean of all flows [1].
    """
    if run.table("paths").empty:
        return pd.DataFrame(columns=list(COLUMNS))
    network, routes = run.network, run.routes
    fct_ps = own_fluid_fct_ps(run)
    load = ecmp.link_load_ps(routes, run.idle_ps["wire_bytes"].to_numpy(), network.rate_bps)
    slowest = int(run.fct_ps.max())
    row = [
        *np.quantile(fct_ps, [0.5, 0.99, 1.0], method="inverted_cdf"),
        load.max(),
        int(ecmp.flows_per_link(routes, len(network.rate_bps)).max()),
        slowest,
        slowest / fct_ps.max(),
        run.fct_ps.mean() / fct_ps.mean(),
    ]
    return pd.DataFrame([row], columns=list(COLUMNS))


def refusal(spec: Spec) -> str:
    """Return why a run has no fluid value."""
    return changes_of_links(spec)


def own_fluid_fct_ps(run: RunTables) -> np.ndarray:
    """Return the fluid FCT of each flow of a run on the path that it took [ps].

    A flow starts when it did in the run.

    Raises
    ------
    TraceError
        Links change during the run.
    """
    run.refuse_changes_of_links()
    start_ps = run.flows["start_ps"].to_numpy()
    return fluid_fct_ps(run.routes, start_ps, run.network.rate_bps, run.idle_ps)


def fluid_fct_ps(
    routes: np.ndarray, start_ps: np.ndarray, rate_bps: np.ndarray, idle: pd.DataFrame
) -> np.ndarray:
    """Return the fluid FCT of each flow: equal to the exact unloaded FCT for a flow alone [ps].

    Fluid knows no packets, so what the unloaded FCT has beyond bytes over rate (propagation and
    store-and-forward) is added.

    Parameters
    ----------
    routes : ndarray, n_flows x n_hops
        Directed links, padded with -1.
    start_ps : ndarray, n_flows
        Start of each flow [ps].
    rate_bps : ndarray, n_links
        Rate of each directed link [bit/s].
    idle : DataFrame, n_flows rows
        Columns unloaded_fct_ps, wire_bytes and slowest_bps.
    """
    wire_bytes = idle["wire_bytes"].to_numpy()
    transfer_ps = ecmp.fluid_fct_ps(routes, wire_bytes, start_ps, rate_bps)
    alone_ps = wire_bytes * 8e12 / idle["slowest_bps"].to_numpy()
    return transfer_ps - alone_ps + idle["unloaded_fct_ps"].to_numpy()
