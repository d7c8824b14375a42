# SPDX-License-Identifier: GPL-2.0-only
"""How much of its path does each flow fill once it has settled, and how much is lost there?"""

import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.spec.resolved import Spec

#: What comes before this share of a flow's packets has arrived is not counted [1].
SETTLED_SHARE = 1 / 3
_LINK = ["node", "peer", "parallel"]


def refusal(spec: Spec) -> str:
    """Return why a run cannot be asked: nothing was sampled."""
    if spec.trace.sample_ps is not None:
        return ""
    return "nothing was sampled. Write trace: {sample: 100 ms} and run it again."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per flow, over the whole samples after a third of its packets has arrived.

    Returns
    -------
    DataFrame
        ``flow``; ``rtt_ps``: propagation there and back; ``throughput_bps``: of data packets that
        arrive, copies too, with headers and framing; ``link_share``: that over the rate of the
        slowest link of its path [1]; ``window_packets``: data packets that arrive in ``rtt_ps``;
        ``lost_share``: of the frames that set out on the links of its path, of any flow and in the
        whole run, those lost or corrupted on a wire [1], <NA> without a single path;
        ``retransmitted_packets``, ``timeouts``: of the whole run. Rates of a flow that ends within
        two samples are <NA>.

    Raises
    ------
    TraceError
        The run has no samples.
    """
    flows = run.flows
    idle = run.idle_ps
    samples = run.table("flow_samples").astype("int64")
    whole = samples[samples["time_ps"] % run.spec.trace.sample_ps == 0].sort_values("time_ps")
    lost_share = _lost_share(run)
    rows = []
    for place, flow in enumerate(flows.itertuples(index=False)):
        own = whole[(whole["flow"] == flow.flow) & (whole["time_ps"] <= flow.receiver_end_ps)]
        packets, per_packet_bytes, time_ps = _settled(run, own, flow.receiver_end_ps)
        rtt_ps, slowest_bps = 2 * int(idle["delay_ps"][place]), int(idle["slowest_bps"][place])
        throughput_bps = packets * per_packet_bytes * 8e12 / time_ps
        rows.append(
            {
                "flow": flow.flow,
                "rtt_ps": rtt_ps,
                "throughput_bps": throughput_bps,
                "link_share": throughput_bps / slowest_bps,
                "window_packets": packets * rtt_ps / time_ps,
                "lost_share": lost_share.get(flow.flow, pd.NA),
                "retransmitted_packets": flow.retransmitted_packets,
                "timeouts": flow.timeouts,
            }
        )
    return pd.DataFrame(rows)


def _settled(run: RunTables, own: pd.DataFrame, end_ps: int) -> tuple[float, float, float]:
    """Return the packets of a settled flow, their mean size with framing, and in which time.

    NaN of one that ends within two samples. Samples without an arrival are not recorded, and count.
    """
    counted = own["arrived_packets"].cumsum()
    later = own[counted >= SETTLED_SHARE * counted.max()] if len(own) else own
    if len(later) < 2:
        return (float("nan"),) * 3
    packets = int(later["arrived_packets"].iloc[1:].sum())
    framed_bytes = later["arrived_bytes"].iloc[1:].sum() / packets
    period_ps = run.spec.trace.sample_ps
    time_ps = end_ps // period_ps * period_ps - int(later["time_ps"].iloc[0])
    return packets, framed_bytes + run.spec.wire.framing_bytes, time_ps


def _lost_share(run: RunTables) -> dict[int, float]:
    """Return, per flow with a path, the part of the frames that its links have lost."""
    ports = run.table("ports").astype("int64")
    lost = ports["dropped_loss_frames"] + ports["dropped_corrupt_frames"]
    back = {"node": ports["peer"], "peer": ports["node"], "lost": lost}
    links = ports[[*_LINK, "sent_frames"]].merge(ports[["parallel"]].assign(**back), on=_LINK)
    hops = run.table("paths").astype("int64").merge(links, on=_LINK)
    arrives = 1 - hops["lost"] / hops["sent_frames"].clip(lower=1)
    return (1 - arrives.groupby(hops["flow"]).prod()).to_dict()
