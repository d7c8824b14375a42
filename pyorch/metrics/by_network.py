# SPDX-License-Identifier: GPL-2.0-only
"""How full are the links of each network, and how long are their queues?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.metrics.monitoring import PORT, PS_BITS
from pyorch.metrics.recovery import refusal

__all__ = ["measure", "refusal"]


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per network: rail, plane, scale-up, wide area, as its topology names them.

    A link belongs to the network of its switch, between two switches to that of the lower tier.
    Each direction of each link that is sampled counts, also one that never sends, with every whole
    sample from the start to the end of the run, also where it is idle. All these weigh the same,
    whatever the rate of the link. Queues are those at the end of a sample, where a switch sends.

    Returns
    -------
    DataFrame
        ``network``; ``links``: directions of links; ``sent_bytes``: of all samples, which is all
        that these links have sent; ``load_mean``, ``load_p99``: bytes of a sample over what the
        rate with which the run begins would send in it [1]; ``queue_{mean,p99,p100}_bytes``.
        <NA>: no sample is whole, or no switch is sampled.

    Raises
    ------
    TraceError
        The run has no samples: `trace` lacks ``sample``.
    """
    period_ps = run.spec.trace.sample_ps
    whole = int(run.table("summary")["now_ps"].iloc[0]) // period_ps
    links = _links(run)
    samples = run.table("port_samples").astype("int64").join(links.set_index(PORT), on=PORT)
    rows = []
    for network, own in links.groupby("network"):
        found = samples[samples["network"] == network]
        inside = found[found["time_ps"] <= whole * period_ps]
        load = inside["sent_bytes"] * PS_BITS / (inside["rate_bps"].astype("float64") * period_ps)
        queues = inside.loc[inside["is_switch"], "queue_bytes"]
        load_mean, load_p99, _ = _statistics(load, len(own) * whole)
        mean, p99, p100 = _statistics(queues, int(own["is_switch"].sum()) * whole)
        rows.append([network, len(own), found["sent_bytes"].sum(), load_mean, load_p99,
                     mean, p99, p100])  # fmt: skip
    return pd.DataFrame(rows, columns=[
        "network", "links", "sent_bytes", "load_mean", "load_p99",
        "queue_mean_bytes", "queue_p99_bytes", "queue_p100_bytes",
    ])  # fmt: skip


def _links(run: RunTables) -> pd.DataFrame:
    """Return the sampled directions of links: ends, rate, network, and if a switch sends."""
    nodes, its = pd.DataFrame(run.inputs["nodes"]).set_index("node"), run.network
    nodes["network"] = run.spec.topology.networks(run.spec.link)
    tier = nodes["tier"].where(nodes["is_switch"] == 1, np.inf)
    ends = tier[its.tail].to_numpy(), tier[its.head].to_numpy()
    lower = np.where(ends[0] <= ends[1], its.tail, its.head)
    links = pd.DataFrame(
        {
            "node": its.tail,
            "peer": its.head,
            "parallel": its.parallel,
            "rate_bps": its.rate_bps,
            "network": nodes["network"][lower].to_numpy(),
            "is_switch": its.is_switch[its.tail],
        }
    )
    sampled = run.spec.trace.nodes
    return links[links["node"].isin(sampled)] if sampled else links


def _statistics(values: pd.Series, count: int) -> tuple[float | None, float | None, float | None]:
    """Return mean, 99 % quantile and largest of so many numbers; those not given are 0."""
    if not count:
        return None, None, None
    rank = -(-99 * count // 100) - (count - len(values))  # of the value, from 1; below: a 0
    p99 = np.sort(values)[rank - 1] if rank > 0 else 0
    return values.sum() / count, p99, values.max() if len(values) else 0
