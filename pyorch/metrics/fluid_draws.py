# SPDX-License-Identifier: GPL-2.0-only
"""How much of a single-path tail is the luck of the draw: max-min fluid on many random draws?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables, changes_of_links, refuse
from pyorch.metrics.fluid import fluid_fct_ps
from pyorch.render import flows_wait, input_tables
from pyorch.spec.resolved import Spec
from pyorch.theory.paths import random_choice

DRAWS = 20
_FLOWS_WAIT = (
    "flows wait for others, so when they start is not known before a run. Ask for fluid instead,"
    " which takes the starts from the run."
)
_SPRAYED = "some flows are sprayed, and a draw gives each flow one path."
COLUMNS = ("draw", "fluid_mean_ps", "fluid_p50_ps", "fluid_p99_ps", "fluid_p100_ps")


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per draw of workload and paths; none for a run that sprays.

    Draws depend on the seed of the run and on the number of the draw, not on the transport.

    Returns
    -------
    DataFrame
        ``draw`` from 1; ``fluid_{mean,p50,p99,p100}_ps``: FCT under max-min fair rates [ps].

    Raises
    ------
    TraceError
        Links change, or flows wait for others: their starts are not known before a run. Or some
        flows are sprayed, and others are not.
    """
    run.refuse_changes_of_links()
    refuse(_FLOWS_WAIT if "dependencies" in run.inputs else "")
    if run.table("paths").empty:
        return pd.DataFrame(columns=list(COLUMNS))
    flows = run.table("flows")
    ended = flows.loc[flows["receiver_end_ps"].notna(), "flow"]
    refuse("" if ended.isin(run.table("paths")["flow"]).all() else _SPRAYED)
    return pd.DataFrame(
        [_draw(run, number) for number in range(1, DRAWS + 1)], columns=list(COLUMNS)
    )


def refusal(spec: Spec) -> str:
    """Return why the flows of a run cannot be drawn anew."""
    return changes_of_links(spec) or (_FLOWS_WAIT if flows_wait(spec) else "")


def _draw(run: RunTables, number: int) -> list[float]:
    """Return the row of one draw."""
    streams = np.random.SeedSequence([run.spec.seed, number]).spawn(2)
    workload_seed = int(streams[0].generate_state(1, np.uint64)[0])
    flows = input_tables(run.spec, workload_seed)["flows"]
    choose = random_choice(np.random.Generator(np.random.Philox(streams[1])))
    routes = run.network.routes(flows["src"], flows["dst"], choose)
    idle = run.idle.of_flows(flows, routes)
    fct_ps = fluid_fct_ps(routes, flows["start_ps"], run.network.rate_bps, idle)
    quantiles = np.quantile(fct_ps, [0.5, 0.99, 1.0], method="inverted_cdf")
    return [number, fct_ps.mean(), *quantiles]
