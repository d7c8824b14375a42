# SPDX-License-Identifier: GPL-2.0-only
"""What does the parity of block codes cost on the wire, and what is left to be retransmitted?"""

import pandas as pd

from pyorch.metrics._run import RunTables, framing_of, refuse

KIND = "ns3::WanTransport"


def refusal(spec: dict) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can."""
    if [transport["type"] for transport in spec["transport"]] == [KIND]:
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
        ``lost_frames``: on wires, ACKs among them; ``timeouts``; ``completion_ps``: first start
        to last delivery.
    """
    flows = run.flows
    refuse(refusal(run.spec))
    attributes = run.spec["transport"][0]["attributes"]
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
        "lost_frames": int(ports[["dropped_loss_frames", "dropped_corrupt_frames"]].sum().sum()),
        "timeouts": int(flows["timeouts"].sum()),
        "completion_ps": int(flows["receiver_end_ps"].max() - flows["start_ps"].min()),
    }
    return pd.DataFrame([row])
