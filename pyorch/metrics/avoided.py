# SPDX-License-Identifier: GPL-2.0-only
"""When do senders leave a direction of a link that gets slower or loses more frames?"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from pyorch.metrics import recovery
from pyorch.metrics._run import RunTables
from pyorch.spec.resolved import Spec

#: A direction is avoided when it has less than this part of the share that it had before [1].
AVOIDED_PART = 0.5
NEVER_PS = 2**62
DIRECTION = ["node", "peer", "parallel"]
COLUMNS = ("failed_ps", *DIRECTION, "before_share", "after_share", "avoided_ps")


def refusal(spec: Spec) -> str:
    """Return why a run cannot be asked: nothing fails, or nothing was sampled."""
    return recovery.refusal(spec) if spec.failures else "nothing fails. Write failures: [...]."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per moment and direction of a link that slows down or loses more.

    The share of a direction is that of its bytes among those that come to the links of its sender
    to the tier of its receiver: sent, and more that waits. Only whole samples count, until the load
    ends: when the first flow is complete.

    Returns
    -------
    DataFrame
        ``failed_ps``: when; ``node``, ``peer``, ``parallel``: which direction; ``before_share``: of
        the last samples before, at most `recovery.BEFORE_SAMPLES`, 1 over the number of links if
        there is none [1]; ``after_share``: from the failure to the end of the load, or until the
        direction changes again [1]; ``avoided_ps``: from the failure to the end of the first sample
        with less than `AVOIDED_PART` of ``before_share``, if there is less in all that follow
        together too; <NA>: there is no such sample.

    Raises
    ------
    TraceError
        Nothing fails, or the run has no samples: `trace` lacks ``sample``.
    """
    samples = run.table("port_samples").astype("int64")
    period_ps = run.spec.trace.sample_ps
    samples = samples[samples["time_ps"] % period_ps == 0]
    ends = run.table("flows")["receiver_end_ps"].min()
    end_ps = samples["time_ps"].max() if pd.isna(ends) else int(ends)
    samples = samples[samples["time_ps"] <= end_ps]
    nodes = run.inputs["nodes"]
    tier = pd.Series(nodes["tier"], index=nodes["node"])
    rows = []
    for failed in _failures(run).itertuples(index=False):
        failed_ps, until_ps = int(failed.time_ps), int(failed.until_ps)
        direction = (int(failed.node), int(failed.peer), int(failed.parallel))
        node, peer, _ = direction
        here = samples[(samples["node"] == node) & (samples["peer"].map(tier) == tier[peer])]
        sent, queued = (
            here.pivot_table(index="time_ps", columns=DIRECTION, values=name, fill_value=0)
            for name in ("sent_bytes", "queue_bytes")
        )
        came = sent + queued.diff().fillna(queued)
        own, total = came.get(direction, 0 * came.sum(axis=1)), came.sum(axis=1)
        n_links = _links_to_tier(run.inputs["links"], tier, node, tier[peer])
        before = came.index <= failed_ps
        last = np.flatnonzero(before)[-recovery.BEFORE_SAMPLES :]
        before_share = _share(own.iloc[last], total.iloc[last]) if len(last) else 1 / n_links
        after = (came.index - period_ps >= failed_ps) & (came.index <= until_ps)
        left_ps = _left_ps(own[after], total[after], AVOIDED_PART * before_share)
        avoided_ps = None if left_ps is None else left_ps - failed_ps
        after_share = _share(own[after], total[after])
        rows.append([failed_ps, *direction, before_share, after_share, avoided_ps])
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"avoided_ps": "Int64"})


def _links_to_tier(
    links: Mapping[str, np.ndarray], tier: pd.Series, node: int, to_tier: int
) -> int:
    """Return how many links a node has to nodes of a tier."""
    ends = ((links["node_a"], links["node_b"]), (links["node_b"], links["node_a"]))
    return sum(
        int(((one == node) & (tier[other].to_numpy() == to_tier)).sum()) for one, other in ends
    )


def _share(own: pd.Series, total: pd.Series) -> float:
    return own.sum() / total.sum() if total.sum() else np.nan


def _left_ps(own: pd.Series, total: pd.Series, most: float) -> int | None:
    """Return the end of the first sample with less than a share, as in all that follow together."""
    following = own[::-1].cumsum()[::-1] / total[::-1].cumsum()[::-1].clip(lower=1)
    less = (own < most * total) & (following < most)
    return int(less.index[less.to_numpy().argmax()]) if less.any() else None


def _failures(run: RunTables) -> pd.DataFrame:
    """Return when directions get worse (``time_ps``) and when they change next (``until_ps``).

    A direction that is cut carries nothing, whoever notices, so cuts have no rows.
    """
    found = [_worse(changes) for changes in _changes(run)]
    if not found:
        return pd.DataFrame(columns=["time_ps", *DIRECTION, "until_ps"])
    changes = pd.concat(found).query("worse != 0").sort_values(["time_ps", *DIRECTION])
    following = changes.groupby(DIRECTION)["time_ps"].shift(-1).fillna(NEVER_PS)
    changes["until_ps"] = following.astype("int64")
    return changes[(changes["worse"] > 0) & (changes["bad"] != 0)]


def _changes(run: RunTables) -> Iterator[pd.DataFrame]:
    """Yield changes of directions: how bad each is from then on, and how bad it was at first."""
    names = ("links", "link_events", "loss_changes")
    links, events, losses = (pd.DataFrame(run.inputs.get(name, {})) for name in names)
    if len(events):
        first = links[[*recovery.LINK, "rate_bps"]]
        events = events.merge(first, on=recovery.LINK, suffixes=("", "_first"))
        back = "rate_back_bps" if "rate_back_bps" in events else "rate_bps"
        for sender, receiver, rate in (
            ("node_a", "node_b", "rate_bps"),
            ("node_b", "node_a", back),
        ):
            its = events.rename(columns={sender: "node", receiver: "peer"})
            yield its.assign(bad=-its[rate], first=-its["rate_bps_first"])
    if len(losses):
        yield losses.assign(bad=losses["loss_ratio"] + losses["bit_error_ratio"], first=0.0)


def _worse(changes: pd.DataFrame) -> pd.DataFrame:
    """Return by how much each change makes its direction worse."""
    ordered = changes.sort_values("time_ps")
    before = ordered.groupby(DIRECTION)["bad"].shift().fillna(ordered["first"])
    return ordered.assign(worse=ordered["bad"] - before)[["time_ps", *DIRECTION, "worse", "bad"]]
