# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by scale-up and by scale-out rate: measured, by transport.

[hotnets24] figures 3a (above) and 3b (below), a row for each rate. Upright: the model, every
communication ideal. Symbols: the same model with each communication slower by what was measured in
packets, slowest group over ideal network: an all-reduce of 18 devices in a rack (tensor parallel,
stages 1 and 5), of 32 peers on a rail (stages 2 and 4), exchanges of 32 pairs (pipeline); headers
count on both sides. Each device has 147 MB to reduce or to send (laptop scale: 37); a line leads
from there to the value with a quarter of that. Sprayed packets: both agree within 1.5 points, so
the reduction does not matter. Single paths: messages drift apart and meet, the more the longer they
are. Filled: mean of three draws of places and paths between racks, which single paths have at
800 Gb/s (all of 3a); open: one draw, as everything at laptop scale. HPCC, RCCC, EQDS, Homa and
MP-RDMA are not drawn, for more symbols in a row cannot be told apart: their shares are in the CSV
beside the figure at paper scale.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset
from pyorch.units import RATE, parse

NEEDS = {"groups": "figure_3_measured/collective.csv"}

PRESETS = ("dense-100t", "moe-100t")
#: In the table alone: more than eight symbols in a row cannot be told apart.
NOT_DRAWN = ("rocev2_hpcc", "rccc", "eqds", "homa", "mprdma")
BYTES = "data_bytes"
#: Of a panel: figure, rate that changes, label of the axis, unit [bit/s].
PANELS = {
    "3a": ("scale_up_bps", "scale-up [Tb/s per GPU]", 1e12),
    "3b": ("scale_out_bps", "scale-out [Gb/s per GPU]", 1e9),
}
#: What a case measures, by the first word of its name.
KINDS = {"tensor": "scale_up_bps", "data": "scale_out_bps", "pipeline": "scale_out_bps"}


def ratios(groups):
    """Return the slowest group over ideal, by variant, size, kind and rate [bit/s]."""
    rows = groups.assign(
        kind=groups["case"].str.partition("_")[0],
        rate_bps=[float(parse(label, RATE)) for label in groups["case_label"]],
    )
    by = ["variant", BYTES, "kind", "rate_bps"]
    slowest = rows.groupby([*by, "seed"])["over_ideal"].max()
    return slowest.groupby(by).mean().clip(lower=1)  # draws, where there are several


def measured(groups):
    """Return the exposed share by figure, preset, variant and rate, of each size."""
    over = ratios(groups)
    labels = dict(groups[["variant", "label"]].drop_duplicates().to_numpy().tolist())
    found = []
    for variant in labels:
        for index, size in enumerate(sorted(groups[BYTES].unique())):
            own = over[variant, size]
            for name in PRESETS:
                found += points(name, own, {"variant": variant, "label": labels[variant],
                                            "size": ("smaller", "larger")[index]})  # fmt: skip
    keys = ["figure", "preset", "variant", "label", "rate_bps"]
    table = pd.DataFrame(found).pivot_table(
        index=keys, columns="size", values="exposed_percent", sort=False
    )  # fmt: skip
    return table.reset_index().rename_axis(columns=None)


def points(name, over, row):
    """Return the exposed share at each rate that was measured, of one preset and variant."""
    setup, found = preset.training(name).setup, []
    for panel, (swept, *_) in PANELS.items():
        usual = {key: getattr(setup.network, key) for key in set(KINDS.values())}
        kind = next(kind for kind, key in KINDS.items() if key == swept)
        for rate in over[kind].index:
            rates = usual | {swept: rate}
            tensor, data, pipeline = (over[kind, rates[key]] for kind, key in KINDS.items())
            step = exposed.expose_setup(
                exposed.with_rates(setup, **rates),
                inflation=exposed.Inflation(tensor, pipeline, scale_up=tensor, scale_out=data),
            )
            share = 100 * float(step.share)
            found.append(
                row | {"figure": panel, "preset": name, "rate_bps": rate, "exposed_percent": share}
            )
    return found


def modelled(name, panel, rates_bps):
    """Return the exposed share of an ideal network [%]."""
    setup = exposed.with_rates(preset.training(name).setup, **{PANELS[panel][0]: rates_bps})
    return 100 * np.asarray(exposed.expose_setup(setup).share)


def draw(figure, groups):
    """Draw a panel for each figure and model; return measured and modelled shares."""
    from matplotlib.lines import Line2D

    data = measured(groups)
    ideal = [
        modelled(name, panel, rate)
        for panel, name, rate in data[["figure", "preset", "rate_bps"]].itertuples(index=False)
    ]
    data = data.assign(modelled=np.array(ideal, float))
    shown = data[~data["variant"].isin(NOT_DRAWN)]
    pairs = shown[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    is_column = figures.is_column(figure)
    panels = [(panel, name) for panel in PANELS for name in PRESETS]
    figure.set_figheight(len(panels) * 2.1 if is_column else len(PANELS) * 3.3)
    shape = (len(panels), 1) if is_column else (len(PANELS), len(PRESETS))
    axes = list(figure.subplots(*shape, sharex=True, sharey=False if is_column else "row").flat)
    for ax, (panel, name) in zip(axes, panels, strict=True):
        own = shown[(shown["figure"] == panel) & (shown["preset"] == name)]
        draw_panel(ax, panel, name, own, looks, draws(groups, panel))
    axes[-1].set_xlabel("exposed networking [% of the step]")
    axes[len(axes) - shape[1]].set_xlabel("exposed networking [% of the step]")
    less, more = (f"{groups[BYTES].agg(end) / 1e6:.0f}" for end in ("min", "max"))
    entries = {
        look.label: Line2D([], [], color=look.color, ls="", marker=look.marker, ms=3.5)
        for look in looks.values()
    } | {
        "model, ideal network": Line2D([], [], color="black", ls="", marker="|", ms=9, mew=1.2),
        f"{more} MB; line to {less} MB": Line2D([], [], color="#666666", marker="o", ms=3.5, lw=1),
        "open: one draw": Line2D([], [], color="#666666", ls="", marker="o", ms=3.5, mfc="white"),
        "filled: three draws": Line2D([], [], color="#666666", ls="", marker="o", ms=3.5),
    }
    figures.legend(figure, [], 4, entries)
    return data


def draws(groups, panel):
    """Return a function that gives the draws between racks of a variant at a rate [bit/s]."""
    usual = float(preset.training(PRESETS[0]).setup.network.scale_out_bps)
    between = groups[groups["case"].str.startswith("data")]
    rates = between["case_label"].map(lambda label: float(parse(label, RATE)))
    found = between["seed"].groupby([between["variant"], rates]).nunique()
    is_swept = PANELS[panel][0] == KINDS["data"]
    return lambda variant, rate: found.get((variant, rate if is_swept else usual), 1)


def draw_panel(ax, panel, name, own, looks, n_draws):
    """Draw a row for each rate: the model, and below each other the transports."""
    _, label, unit = PANELS[panel]
    size = 3.2 if figures.is_column(ax.figure) else 4.2
    rates = np.sort(own["rate_bps"].unique())
    places = (np.arange(len(looks)) - (len(looks) - 1) / 2) * 0.8 / len(looks)
    for place, (variant, look) in zip(places, looks.items(), strict=True):
        rows = own[own["variant"] == variant]
        at = np.searchsorted(rates, rows["rate_bps"]) + place
        low, high = rows[["smaller", "larger"]].min(axis=1), rows[["smaller", "larger"]].max(axis=1)
        ax.hlines(at, low, high, color=look.color, lw=1, zorder=2)
        for share, place, rate in zip(rows["larger"], at, rows["rate_bps"], strict=True):
            ax.plot(share, place, ls="", marker=look.marker, color=look.color, ms=size, mew=0.6,
                    mfc=look.color if n_draws(variant, rate) > 1 else "white",
                    zorder=3)  # fmt: skip
    ideal = own.drop_duplicates("rate_bps")
    row = np.searchsorted(rates, ideal["rate_bps"])
    ax.vlines(ideal["modelled"], row - 0.45, row + 0.45, color="black", lw=1.2, zorder=1)
    for border in range(1, len(rates)):
        ax.axhline(border - 0.5, color="#bbbbbb", lw=0.6, zorder=0)
    ax.set(xlim=(0, 100), ylim=(len(rates) - 0.5, -0.5))
    ax.set_yticks(range(len(rates)), [f"{rate / unit:g}" for rate in rates])
    ax.tick_params(axis="y", length=0)
    if ax.get_subplotspec().is_first_col():
        ax.set_ylabel(label)
    ax.set_title(f"{panel}: {preset.training(name).title}", loc="left", fontsize=7)
    ax.grid(axis="x")


if __name__ == "__main__":
    figures.main(draw, NEEDS)
