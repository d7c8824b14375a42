# SPDX-License-Identifier: GPL-2.0-only
"""What did each failure cost: how far did the arriving rate fall, and when was it back?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.spec.resolved import Spec

#: The rate is back at this share of what it was; less is a dip [1].
BACK_SHARE = 0.9
#: What it was is the mean of the last samples before the failure, at most this many.
BEFORE_SAMPLES = 10

LINK = ["node_a", "node_b", "parallel"]
COLUMNS = ("failed_ps", "failed_links", "lost_frames", "before_bps", "dip_share", "recovery_ps")


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per moment at which links were cut or got slower, none for a run without.

    The rate is that of the data packets, copies too, that come to all hosts in one sample, with
    headers. Only whole samples count, from the first start of a flow until the load ends: when the
    last flow has started and the first one is complete.

    Returns
    -------
    DataFrame
        ``failed_ps``: when; ``failed_links``: how many; ``lost_frames``: on these links, both ways
        and during the whole run (so they do not add up where one fails twice), lost on the wire or
        dropped in front of it; ``before_bps``: mean
        rate of the last samples, at most `BEFORE_SAMPLES`, between the change of links before and
        this failure; ``dip_share``: how much of that was missing in the worst sample up to the next
        failure [1]; ``recovery_ps``: from the failure to the end of the first sample with at least
        `BACK_SHARE` of it after one with less, 0 if none has less. <NA>: there is no such sample.

    Raises
    ------
    TraceError
        The run has no samples: `trace` lacks ``sample``.
    """
    period_ps = run.spec.trace.sample_ps
    events = _events(run)
    failures = events[events["falls"]]
    rate_bps = _arriving_bps(run, period_ps)
    first_start_ps = int(run.table("flows")["start_ps"].min())
    rows = []
    for failed_ps, links in failures.groupby("time_ps"):
        earlier_ps = events["time_ps"][events["time_ps"] < failed_ps].max()
        later_ps = failures["time_ps"][failures["time_ps"] > failed_ps].min()
        since_ps = max(first_start_ps, 0 if pd.isna(earlier_ps) else int(earlier_ps))
        failed = failed_ps // period_ps  # whole samples up to the failure
        first = max(-(-since_ps // period_ps), failed - BEFORE_SAMPLES)
        end = None if pd.isna(later_ps) else int(later_ps) // period_ps
        before_bps, dip_share, samples = dip(rate_bps[first:failed], rate_bps[failed:end])
        back_ps = None if samples is None else (failed + samples) * period_ps
        recovery_ps = None if back_ps is None else max(0, back_ps - failed_ps)
        lost = _lost_frames(run, links)
        rows.append([failed_ps, len(links), lost, before_bps, dip_share, recovery_ps])
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"recovery_ps": "Int64"})


def refusal(spec: Spec) -> str:
    """Return why a run cannot be asked: nothing was sampled."""
    if spec.trace.sample_ps is not None:
        return ""
    return "nothing was sampled. Write trace: {sample: 10 us} and run it again."


def dip(before_bps: np.ndarray, after_bps: np.ndarray) -> tuple[float, float, int | None]:
    """Return the mean before, the share missing at worst, and the samples until it is back."""
    if not (len(before_bps) and len(after_bps)) or before_bps.mean() == 0:
        return np.nan, np.nan, None
    share = after_bps / before_bps.mean()
    low = np.flatnonzero(share < BACK_SHARE)
    back = np.flatnonzero(share >= BACK_SHARE)
    if len(low):
        back = back[back > low[0]]
        samples = int(back[0]) + 1 if len(back) else None
    else:
        samples = 0
    return float(before_bps.mean()), max(0.0, 1.0 - float(share.min())), samples


def _events(run: RunTables) -> pd.DataFrame:
    """Return all changes of links, and of each whether a direction gets slower by it."""
    if "link_events" not in run.inputs:
        return pd.DataFrame(columns=["time_ps", *LINK, "falls"], dtype="int64").astype(
            {"falls": bool}
        )
    events = pd.DataFrame(run.inputs["link_events"]).sort_values([*LINK, "time_ps"])
    links = pd.DataFrame({name: run.inputs["links"][name] for name in [*LINK, "rate_bps"]})
    nominal_bps = events.merge(links, on=LINK, suffixes=("", "_nominal"))["rate_bps_nominal"]
    nominal_bps = pd.Series(nominal_bps.to_numpy(), events.index)
    events["falls"] = False
    for way in {"rate_bps", "rate_back_bps"} & {*events.columns}:
        before_bps = events.groupby(LINK)[way].shift().fillna(nominal_bps)
        events["falls"] |= events[way] < before_bps
    return events


def _arriving_bps(run: RunTables, period_ps: int) -> np.ndarray:
    """Return the rate in each whole sample until the load ends; the first is at index 0."""
    flows, samples = run.table("flows"), run.table("flow_samples").astype("int64")
    end_ps = int(run.table("summary")["now_ps"].iloc[0])
    if flows["receiver_end_ps"].notna().any():
        end_ps = int(max(flows["start_ps"].max(), flows["receiver_end_ps"].min()))
    whole = samples[samples["time_ps"] % period_ps == 0]
    arrived_bytes = np.bincount(
        whole["time_ps"] // period_ps - 1,
        weights=whole["arrived_bytes"],
        minlength=end_ps // period_ps,
    )
    return arrived_bytes[: end_ps // period_ps] * 8e12 / period_ps


def _lost_frames(run: RunTables, links: pd.DataFrame) -> int:
    """Return the frames that some links lost or refused during the whole run, both ways."""
    ports = run.table("ports").astype("int64")
    ends = ports[["node", "peer"]].to_numpy()
    cables = pd.MultiIndex.from_arrays([ends.min(axis=1), ends.max(axis=1), ports["parallel"]])
    failed = links[["node_a", "node_b"]].to_numpy()
    hit = cables.isin(
        pd.MultiIndex.from_arrays([failed.min(axis=1), failed.max(axis=1), links["parallel"]])
    )
    lost = ports["dropped_loss_frames"] + ports["dropped_link_down_frames"]
    return int(lost[hit].sum())
