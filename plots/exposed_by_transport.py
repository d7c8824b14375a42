# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by transport, dense and MoE, beside the ideal and what the paper prints.

[hotnets24] section 6.3. Measured: how many times longer than optimal the slowest transfer of the
simulated permutation takes; this ratio is on the axis and is that of figure 5. Modelled: everything
else, with pipeline transfers slowed by that ratio and all collectives ideal. Numbers: ours. Upright
lines, and numbers in brackets: the paper's, which prints about 5 and 20 % at the optimum, 8 and
25 % for single-path best effort whose slowest transfer takes 7 ms. Thin lines: the share at the
ends of the 95 % confidence interval of the ratio (Student's t). The axes of the models differ.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset, transports

NEEDS = {"slowdown": "figure_5/slowdown.csv"}

PRESETS = {"dense-100t": "o", "moe-100t": "s"}
PARTS = {
    "tensor": ("tensor parallel", "#0072B2"),
    "pipeline": ("pipeline", "#E69F00"),
    "data": ("data parallel", "#CC79A7"),
}
#: Percent by model and transport, as printed.
PRINTED = {
    "dense-100t": {"optimal": 5, "smartt_single": 8},
    "moe-100t": {"optimal": 20, "smartt_single": 25},
}


def breakdown(slowdown):
    """Return the parts of the step that are exposed, by model and transport."""
    kinds = {"optimal": ("Optimal", exposed.Inflation()), **transports.inflations(slowdown)}
    seeds = figures.over_seeds(slowdown, ["variant"], transports.SLOWEST).set_index("variant")
    rows = []
    for name in PRESETS:
        setup = preset.training(name).setup
        for kind, (label, inflation) in kinds.items():
            step = exposed.expose_setup(setup, inflation=inflation)
            rows.append(
                {
                    "preset": name, "transport": kind, "label": label,
                    "pipeline_slowdown": inflation.pipeline,
                    "tensor_percent": 100 * step.tensor_ps / step.step_ps,
                    "pipeline_percent": 100 * step.pipeline_ps / step.step_ps,
                    "data_percent": 100 * step.data_ps / step.step_ps,
                    "exposed_percent": 100 * step.share,
                    **ends(setup, seeds.loc[kind] if kind in seeds.index else None),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def ends(setup, seeds):
    """Return the number of seeds and the shares at the ends of the interval of the slowdown."""
    if seeds is None:
        return {}
    found = {"n_seeds": seeds["n_seeds"]}
    for end in ("low", "high"):
        ratio = seeds[f"{transports.SLOWEST}_{end}"]
        step = exposed.expose_setup(setup, inflation=exposed.Inflation(pipeline=max(1.0, ratio)))
        found[f"pipeline_slowdown_{end}"] = ratio
        found[f"exposed_percent_{end}"] = 100 * step.share if np.isfinite(ratio) else np.nan
    return found


def draw(figure, slowdown):
    """Draw one panel per model, one stacked bar per transport."""
    from matplotlib.lines import Line2D

    data = breakdown(slowdown)
    kinds = len(data) // len(PRESETS)
    axes = figures.panels(figure, [1.1 + 0.26 * kinds] * len(PRESETS), sharey=True)
    for ax, name in zip(axes, PRESETS, strict=True):
        shown = data[data["preset"] == name].reset_index(drop=True)
        draw_bars(ax, shown, PRINTED[name])
        ax.set_title(preset.training(name).title, loc="left")
        ax.set(xlabel="exposed networking [% of the step]")
    first = data[data["preset"] == data["preset"].iloc[0]]
    looks = figures.styles(first[["transport", "label"]].itertuples(index=False, name=None))
    names = [
        looks[line.transport].label
        + f"\n{line.pipeline_slowdown:.2f} x optimal" * (line.transport != "optimal")
        for line in first.itertuples()
    ]
    axes[0].set_yticks(range(kinds), names)
    axes[0].invert_yaxis()
    for ax in axes:
        ax.tick_params(axis="y", labelsize=6)
    keys = {
        "printed in the paper": Line2D([], [], color="black", ls="", marker="|", ms=9, mew=1.2),
        "95 % CI of the ratio": Line2D([], [], color="#333333", lw=0.8),
    }
    figures.legend(figure, axes[:1], 5, keys)
    return data


def draw_bars(ax, shown, printed_percent):
    """Draw the rows of one model: parts, interval, and what the paper prints."""
    start = np.zeros(len(shown))
    for part, (label, color) in PARTS.items():
        width = shown[f"{part}_percent"].to_numpy()
        ax.barh(shown.index, width, left=start, height=0.55, color=color, label=label)
        start += width
    for row, line in shown.iterrows():
        printed = printed_percent.get(line["transport"], 0)
        low, high = line["exposed_percent_low"], line["exposed_percent_high"]
        ax.plot([low, high], [row, row], color="#333333", lw=0.8)
        theirs = f" (paper: {printed:g})" if printed else ""
        ax.annotate(
            f"{line['exposed_percent']:.1f}{theirs}",
            (np.nanmax([line["exposed_percent"], printed, high]), row),
            xytext=(4, 0), textcoords="offset points", va="center_baseline", fontsize=7,
        )  # fmt: skip
        if printed:
            ax.plot([printed] * 2, [row - 0.4, row + 0.4], color="black", lw=1.2)
    most = np.nanmax([*start, *shown["exposed_percent_high"], *printed_percent.values()])
    ax.set_xlim(0, 1.35 * most)
    ax.grid(True, axis="x")
    ax.tick_params(axis="y", length=0)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
