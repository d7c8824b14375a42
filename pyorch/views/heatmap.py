# SPDX-License-Identifier: GPL-2.0-only
"""Load of every link of a run as colour: share of its rate that it has carried, with framing.

Over time if the run was sampled: one row per link, ordered by the node that sends. Else over the
whole run: one row per node, its ports side by side.
"""

import numpy as np

from pyorch.errors import FigureError
from pyorch.views._axes import LINK, moments, time_unit
from pyorch.views.links import loads


def draw(figure, runs):
    """Draw the links of one run; return their loads."""
    if len(runs) != 1:
        raise FigureError("a heat map shows one run. Name one.")
    (run,) = runs
    ax = figure.subplots()
    return _over_time(ax, run) if "port_samples" in run.tables else _whole_run(ax, run)


def _over_time(ax, run):
    samples = loads(run)
    table = samples.pivot(index=LINK, columns="time_ps", values="load_share").sort_index()
    table = table.reindex(columns=moments(run, samples)).fillna(0)
    unit, ps = time_unit(table.columns[-1])
    _image(ax, table.to_numpy(), (0, table.columns[-1] / ps, len(table), 0))
    nodes = table.index.get_level_values("node").to_numpy()
    first = np.flatnonzero(np.diff(nodes, prepend=-1))
    every = max(1, len(first) // 8)
    ax.set_yticks(first[::every], nodes[first[::every]])
    ax.set(xlabel=f"time [{unit}]", ylabel="links by sending node")
    return samples[["time_ps", *LINK, "load_share"]].reset_index(drop=True)


def _whole_run(ax, run):
    ports = run.ports[[*LINK, "rate_bps", "sent_bytes"]].astype("int64")
    ports = ports.sort_values(LINK, ignore_index=True)
    whole_ps = max(1, int(run.outcome["now_ps"]))
    share = ports["sent_bytes"] * 8e12 / (ports["rate_bps"] * whole_ps)
    ports = ports.assign(load_share=share, port=ports.groupby("node").cumcount())
    table = ports.pivot(index="node", columns="port", values="load_share")
    _image(ax, table.to_numpy(), (-0.5, table.shape[1] - 0.5, len(table), 0))
    every = max(1, len(table) // 8)
    ax.set_yticks(np.arange(0, len(table), every) + 0.5, table.index[::every])
    ax.set(xlabel="port, by the node at its other end", ylabel="node")
    return ports[[*LINK, "load_share"]]


def _image(ax, values, extent):
    image = ax.imshow(
        100 * values, aspect="auto", interpolation="nearest", extent=extent, cmap="viridis", vmin=0
    )
    ax.figure.colorbar(image, ax=ax, label="load [%]")
