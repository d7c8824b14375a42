# SPDX-License-Identifier: GPL-2.0-only
"""Time of an all-reduce and of an all-to-all over that of their bytes, by network and transport.

64 GPUs in eight servers, 400 Gb/s each. Left: eight ring all-reduces of 64 MiB, one for each place
in a server. Right: 1 MB from each GPU to each of another server. Both panels have one scale. Bars:
means of three draws of the paths, lines from the least to the most. Racks: a leaf has the GPUs of a
server. Rails: a leaf has one GPU of each server. Both have eight leaves and eight spines. Dashed:
the bytes at the rate of a GPU.
"""

import pandas as pd

from pyorch import figures

RATE_BPS = 400e9
#: Bytes that each GPU sends: 2 (n - 1) / n of the vector, and to the 56 GPUs of other servers.
BYTES = {"ring": 2 * 7 / 8 * 64 * 2**20, "exchange": 56e6}
TITLES = {"ring": "all-reduce among servers", "exchange": "all-to-all between servers"}


def draw(figure, runs):
    """Draw a panel for each kind of traffic, with a group of bars for each network."""
    table = pd.DataFrame(row for found in runs.items() for row in times(*found))
    panels = figures.panels(figure, [2.5, 2.5], sharey=True)
    for ax, (kind, title) in zip(panels, TITLES.items(), strict=True):
        part = table[table["traffic"] == kind]
        networks = part.drop_duplicates("network")["network"].tolist()
        for place, (variant, of) in enumerate(part.groupby("variant", sort=False)):
            by = of.groupby("network", sort=False)["over_least"]
            at = [i + 0.16 * (place - 2) for i in range(len(networks))]
            label = of["label"].iloc[0]
            ax.bar(at, by.mean(), 0.14, color=figures.style(variant).color, label=label)
            ax.vlines(at, by.min(), by.max(), color="black", linewidth=1,
                      label="least to most of three draws")  # fmt: skip
        ax.axhline(1, color="black", linestyle="--", linewidth=1, label="bytes at 400 Gb/s")
        ax.set_xticks(range(len(networks)), [name.replace(", ", ",\n") for name in networks])
        ax.tick_params(axis="x", length=0)
        ax.set_title(title, loc="left")
        if ax is panels[0] or figures.is_column(figure):
            ax.set_ylabel("completion / (bytes / rate) [1]")
        ax.set_ylim(0, None)
        ax.grid(axis="y")
    figures.legend(figure, panels, 3)
    return table


def times(variant, found):
    """Yield how long each run takes over its bytes."""
    for run in found:
        traffic = run.case.partition("_")[2]
        least_ps = BYTES[traffic] * 8e12 / RATE_BPS
        completion_ps = run.metric("completion").iloc[0]["completion_ps"]
        yield {
            "traffic": traffic, "network": run.case_label, "variant": variant, "label": run.label,
            "seed": run.spec.seed, "over_least": completion_ps / least_ps,
        }  # fmt: skip
