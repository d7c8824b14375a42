# SPDX-License-Identifier: GPL-2.0-only
"""Every data packet that arrives at host 2 while one frame in a hundred is lost.

After a hole go-back-N sends everything again, so the lines step back; selective repeat fills the
hole alone. `host_2.pcap` in the folder of the run has the same packets for Wireshark.
"""

from pyorch import figures

PS_PER_US = 1e6


def draw(figure, runs):
    """Draw the number of each packet over the time of its arrival, one panel per variant."""
    import pandas as pd

    panels = figures.panels(figure, [2.3, 2.3], sharex=True, sharey=True)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    tables = []
    for ax, (name, (run,)) in zip(panels, runs.items(), strict=True):
        packets = run.arrivals.sort_values("time_ps")
        at_us = packets["time_ps"] / PS_PER_US
        ax.plot(at_us, packets["packet"], ".", ms=2.5, color=looks[name].color)
        sent = int(run.flows["sent_data_packets"].iloc[0])
        ax.set_title(f"{looks[name].label}: {sent} packets sent", loc="left")
        ax.set(xlabel="time [us]", ylabel="number of the packet", xlim=(0, None))
        ax.grid(True)
        tables.append(
            pd.DataFrame({"variant": name, "time_us": at_us, "packet": packets["packet"]})
        )
    return pd.concat(tables, ignore_index=True)
