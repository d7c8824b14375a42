# SPDX-License-Identifier: GPL-2.0-only
"""Completion of 128 messages of 8 MB between hosts of 800 Gb/s, by the planes of their network.

Symbols: the slowest message of each of three permutations of 128 hosts; lines: their mean. Dotted:
all bytes over all ports of a host. A message with one path leaves by one port, a quarter of the
rate on four planes, and meets others there. A sprayed one uses all ports.
"""

from pyorch import figures

PS_PER_US = 1e6
KINDS = {"path": ("rocev2", "one path, RoCEv2"), "sprayed": ("sprayed", "sprayed")}


def draw(ax, runs):
    """Draw the slowest message over the number of planes, a line per transport."""
    import pandas as pd

    ax.figure.set_figheight(2.3)
    rows = []
    for variant, found in runs.items():
        kind, planes = variant.split("_")
        rows += [
            {"kind": kind, "planes": int(planes), "seed": run.spec.seed,
             "slowest_us": run.fct_ps.max() / PS_PER_US}
            for run in found
        ]  # fmt: skip
    table = pd.DataFrame(rows)
    for kind, (name, label) in KINDS.items():
        look, own = figures.style(name, label), table[table["kind"] == kind]
        mean = own.groupby("planes")["slowest_us"].mean()
        ax.plot(own["planes"], own["slowest_us"], look.marker, color=look.color, ms=4)
        ax.plot(mean.index, mean, color=look.color)
        ax.plot([], [], marker=look.marker, color=look.color, label=label)
    flow = next(iter(runs.values()))[0].flows
    least_us = flow["bytes"].max() * 8 / 800e9 * 1e6
    ax.axhline(least_us, color="black", ls=":", lw=1, label=f"bytes over rate: {least_us:.0f} us")
    seeds = table["seed"].nunique()
    ax.set_title(f"{len(flow)} hosts; {seeds} permutations, line: their mean", loc="left")
    ax.set(xlabel="planes", ylabel="slowest message [us]", ylim=(0, None), xticks=[1, 2, 4])
    ax.grid(True)
    figures.legend(ax.figure, [ax], 3)
    return table
