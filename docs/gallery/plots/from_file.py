# SPDX-License-Identifier: GPL-2.0-only
"""Seven flows that a file of the HPCC simulator lists, on the network of its other file.

One bar per flow, from its start to its last byte; the mark is where it would end alone. The three
flows to host 3 share its link; of those to other hosts one of four is disturbed.
"""

PS_PER_US = 1e6


def draw(ax, runs):
    """Draw one bar per flow."""
    import pandas as pd

    ax.figure.set_figheight(2.3)
    (run,) = runs["from_file"]
    flows = run.flows.sort_values(["start_ps", "flow"]).reset_index(drop=True)
    start_us = flows["start_ps"] / PS_PER_US
    length_us = (flows["receiver_end_ps"] - flows["start_ps"]) / PS_PER_US
    rate_bytes_per_us = run.spec.link.rate_bps / 8e6
    alone_us = flows["bytes"] / rate_bytes_per_us
    colors = ["#E69F00" if host == 3 else "#56B4E9" for host in flows["dst"]]
    ax.barh(flows.index, length_us, left=start_us, height=0.6, color=colors)
    ax.plot(start_us + alone_us, flows.index, "|", color="black", ms=9)
    names = [f"{row.src} to {row.dst}, {row.bytes / 1e6:.3g} MB" for row in flows.itertuples()]
    ax.set_yticks(flows.index, names)
    ax.invert_yaxis()
    ax.set(xlabel="time [us]", xlim=(0, None))
    ax.grid(True, axis="x")
    return pd.DataFrame({"flow": names, "start_us": start_us, "fct_us": length_us})
