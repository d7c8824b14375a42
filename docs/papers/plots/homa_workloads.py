# SPDX-License-Identifier: GPL-2.0-only
"""What messages pay for sharing the network at 80 % load, by size and workload, with Homa.

Compare with Homa (SIGCOMM 2018), figures 12 and 13. Lines: published, each range of sizes that its
authors evaluated; points: ours, each tenth of the messages, and their longest hundredth and
thousandth, at their median size, with the 95 % interval of the 99th percentile. Messages that begin
in the second or third quarter of the arrivals; completion time over that of the message alone.
Logarithmic axes.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from pyorch.theory import tails

PUBLISHED = Path(__file__).parents[1] / "published" / "homa.csv"
#: Percent of the messages at which a group of sizes ends.
ENDS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 99, 99.9, 100)
LOOKS = {"p99": ("C0", "o", "99th percentile"), "p50": ("C1", "s", "median")}


def draw(figure, runs):
    """Draw a panel for each workload; return groups of sizes, ours beside what is published."""
    figure.set_figheight(4.2)
    axes = figure.subplots(2, 3, sharey=True).ravel()
    published, parts = pd.read_csv(PUBLISHED, comment="#"), []
    for ax, (name, (run,)) in zip(axes, runs.items(), strict=False):
        table = published[published["workload"] == name]
        groups = compare(run, table)
        for column, (color, marker, text) in LOOKS.items():
            ax.plot(
                table["bytes"], table[f"slowdown_{column}"], color=color, lw=1,
                label=f"{text}, published",
            )  # fmt: skip
            ax.plot(
                groups["median_bytes"], groups[f"ours_{column}"], color=color, ls="",
                marker=marker, ms=3.5, label=f"{text}, ours",
            )  # fmt: skip
        limits = groups.dropna()
        ax.vlines(limits["median_bytes"], limits["ours_p99_low"], limits["ours_p99_high"],
                  color="C0", lw=1)  # fmt: skip
        ax.set(xscale="log", yscale="log", ylim=(1, 40), xlabel="message size [byte]")
        ax.set_title(run.label, loc="left", fontsize="medium")
        ax.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        ax.xaxis.set(major_locator=LogLocator(100), minor_locator=NullLocator())
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.grid(axis="y")
        parts.append(groups.assign(workload=name))
    for ax in axes[::3]:
        ax.set_ylabel("slowdown [1]")
    axes[0].plot([], [], "|", color="C0", ms=8, label="95 % interval of the 99th, ours")
    axes[-1].axis("off")
    axes[-1].legend(*axes[0].get_legend_handles_labels(), loc="center", frameon=False)
    return pd.concat(parts, ignore_index=True)


def compare(run, table):
    """Return a row per group of sizes: its longest ``bytes``, published values, and ours."""
    percent = table["messages_percent"].cumsum().to_numpy()
    last = np.unique(np.minimum(np.searchsorted(percent, ENDS), len(table) - 1))
    starts = run.flows["start_ps"] / run.parameters["workload.0.duration_ps"]
    steady = starts.between(0.25, 0.75).to_numpy()
    sizes, slowdown = run.flows["bytes"].to_numpy()[steady], run._run.slowdown[steady]
    rows, begin, longest = [], 0, 0
    for end in last:
        part = table.iloc[begin : end + 1]
        above, longest = longest, int(part["bytes"].iloc[-1])
        inside = (sizes > above) & (sizes <= longest)
        own, median = slowdown[inside], int(np.median(sizes[inside]))
        theirs = [
            np.average(part[f"slowdown_{column}"], weights=part["messages_percent"])
            for column in ("p50", "p99")
        ]
        p50, p99 = tails.quantile(own, 0.5).value, tails.quantile(own, 0.99)
        rows.append((longest, median, percent[end], len(own), *theirs, p50, *p99))
        begin = end + 1
    columns = ["bytes", "median_bytes", "messages_percent", "n_flows"]
    for name in ("published_p50 published_p99", "ours_p50 ours_p99 ours_p99_low ours_p99_high"):
        columns += name.split()
    return pd.DataFrame(rows, columns=columns)
