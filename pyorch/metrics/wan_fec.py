# SPDX-License-Identifier: GPL-2.0-only
"""What does the parity of block codes cost on the wire, and what is left to be retransmitted?"""

import numpy as np
import pandas as pd

from pyorch.metrics._idle import framing_of
from pyorch.metrics._run import RunTables
from pyorch.spec.resolved import Spec
from pyorch.units import TIME, parse

KIND = "ns3::WanTransport"


def refusal(spec: Spec) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can."""
    if [transport.type for transport in spec.transport] == [KIND]:
        return ""
    return f"its transport is not {KIND} alone. Ask for slowdown instead."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row.

    Returns
    -------
    DataFrame
        ``block_packets``, ``parity_packets``: k and m of the code; ``data_packets``: those of the
        messages; ``parity_share``: packets of parity that were sent, over them [1];
        ``resent_packets``: packets retransmitted, ``resent_share``: over data packets [1];
        ``blocks``, and ``failed_blocks``: those of which more than m of the packets that were sent
        first did not come, so that something is sent again; <NA> without a table of arrivals
        (`trace: {arrivals: true}`) or without parity; ``lost_frames``: on wires, ACKs among them;
        ``timeouts``; ``completion_ps``: first start to last delivery.
    """
    flows = run.flows
    attributes = run.spec.transport[0].attributes
    framing = framing_of(run.spec, run.table("transports").to_dict("records")[0])
    ports = run.table("ports")
    data = sum(framing.n_packets(size) for size in flows["bytes"].tolist())
    again = int(flows["retransmitted_packets"].sum())
    row = {
        "block_packets": int(attributes["BlockPackets"]),
        "parity_packets": int(attributes["ParityPackets"]),
        "data_packets": data,
        "parity_share": (int(flows["sent_data_packets"].sum()) - again) / data - 1,
        "resent_packets": again,
        "resent_share": again / data,
        "blocks": pd.NA,
        "failed_blocks": pd.NA,
        "lost_frames": int(ports[["dropped_loss_frames", "dropped_corrupt_frames"]].sum().sum()),
        "timeouts": int(flows["timeouts"].sum()),
        "completion_ps": int(flows["receiver_end_ps"].max() - flows["start_ps"].min()),
    }
    if run.spec.trace.arrivals and row["parity_packets"]:
        code = (row["block_packets"], row["parity_packets"], int(attributes["Interleave"]))
        columns = [flows[name].tolist() for name in ("flow", "bytes", "retransmitted_packets")]
        arrivals = run.table("arrivals").astype("int64").sort_values("time_ps")
        rto_ps = parse(str(attributes["Rto"]), TIME)
        blocks = [
            _blocks(
                _first(arrivals[arrivals["flow"] == flow], again, rto_ps),
                framing.n_packets(size), *code,
            )
            for flow, size, again in zip(*columns, strict=True)
        ]  # fmt: skip
        row["blocks"], row["failed_blocks"] = np.sum(blocks, axis=0).tolist()
    return pd.DataFrame([row])


def _first(own: pd.DataFrame, again: int, rto_ps: int) -> np.ndarray:
    """Return the packets of a message that arrived when they were sent first, in their order.

    The wire keeps the order, so a packet that comes behind one of a higher number was sent again.
    So were the last ones behind a gap of a timeout, as far as more packets were sent again.
    """
    number, time_ps = own["packet"].to_numpy(), own["time_ps"].to_numpy()
    ahead = number > np.maximum.accumulate(np.r_[-1, number[:-1]])
    more = again - int((~ahead).sum())
    gaps = np.diff(time_ps, prepend=time_ps[:1]) >= rto_ps
    late = np.flatnonzero(ahead & gaps)
    for place in late:
        if ahead[place:].sum() <= more:
            ahead[place:] = False
            break
    return number[ahead]


def _blocks(first: np.ndarray, n_data: int, block: int, parity: int, depth: int) -> tuple[int, int]:
    """Return the blocks of a message, and those that failed."""
    blocks = failed = begin = 0
    n_groups, rest = divmod(n_data, block * depth)
    for n_own in [block * depth] * n_groups + [rest] * (rest > 0):
        n_blocks = min(depth, n_own)
        end = begin + n_own + n_blocks * parity
        came = first[(first >= begin) & (first < end)] - begin
        turn = np.arange(n_blocks)
        needed = (n_own - turn + n_blocks - 1) // n_blocks
        failed += int((np.bincount(came % n_blocks, minlength=n_blocks) < needed).sum())
        blocks, begin = blocks + n_blocks, end
    return blocks, failed
