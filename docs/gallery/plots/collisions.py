# SPDX-License-Identifier: GPL-2.0-only
"""Bytes that each link from a leaf to a spine carries in a random permutation of 128 messages.

One path per message: a hash leaves a third of the links without any and puts up to four messages on
one; that link decides when the slowest is done. Spraying fills all links alike.
"""

from pyorch import figures


def draw(figure, runs):
    """Draw a map of leaves and spines per variant."""
    import pandas as pd

    panels = figures.panels(figure, [2.2, 2.2], sharey=True)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    maps = {}
    for name, (run,) in runs.items():
        tier = run.nodes["tier"]
        ports = run.ports[["node", "peer", "sent_bytes"]]
        up = ports[(tier[ports["node"]].to_numpy() == 1) & (tier[ports["peer"]].to_numpy() == 2)]
        maps[name] = up.pivot(index="node", columns="peer", values="sent_bytes").astype(float) / 1e6
    most = max(table.to_numpy().max() for table in maps.values())
    for ax, (name, table) in zip(panels, maps.items(), strict=True):
        image = ax.imshow(table, cmap="cividis", vmin=0, vmax=most, aspect="auto")
        (run,) = runs[name]
        slowest_us = run.fct_ps.max() / 1e6
        ax.set_title(f"{looks[name].label}: {slowest_us:.0f} us", loc="left")
        ax.set(xlabel="spine", ylabel="leaf", xticks=range(0, 16, 5), yticks=range(0, 8, 2))
    figure.colorbar(image, ax=panels, label="sent [MB]")
    long = [table.melt(ignore_index=False, value_name="sent_mb").reset_index().assign(variant=name)
            for name, table in maps.items()]  # fmt: skip
    return pd.concat(long, ignore_index=True)
