# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by transport, dense and MoE, beside the ideal and what the paper prints.

[hotnets24] section 6.3. Measured: how much longer than optimal the slowest flow of the simulated
permutation takes (its ratio is on the axis). Modelled: everything else, with pipeline transfers
slowed by that ratio and all collectives ideal. The paper prints about 5 and 20 % at the optimum,
8 and 25 % for single-path best effort whose slowest transfer takes 7 ms. Thin bars: the share at
the ends of the 95 % confidence interval (Student's t over seeds) of the measured ratio.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset, transports

NEEDS = {"slowdown": "figure_5/slowdown.csv"}

#: Printed below the panels.
NOTE = "measured: slowest simulated transfer, applied to the pipeline; modelled: all else"

PRESETS = {"dense-100t": "o", "moe-100t": "s"}
PARTS = {
    "tensor": ("tensor parallel", "#0072B2"),
    "pipeline": ("pipeline", "#E69F00"),
    "data": ("data parallel", "#CC79A7"),
}
#: Percent by model and transport, as printed.
PRINTED = {
    "dense-100t": {"optimal": 5, "rocev2_irn": 8},
    "moe-100t": {"optimal": 20, "rocev2_irn": 25},
}


def breakdown(slowdown):
    """Return the parts of the step that are exposed, by model and transport."""
    kinds = {"optimal": ("Optimal", exposed.Inflation()), **transports.inflations(slowdown)}
    seeds = figures.over_seeds(slowdown, ["variant"], "slowdown_p100").set_index("variant")
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
        ratio = seeds[f"slowdown_p100_{end}"]
        step = exposed.expose_setup(setup, inflation=exposed.Inflation(pipeline=max(1.0, ratio)))
        found[f"pipeline_slowdown_{end}"] = ratio
        found[f"exposed_percent_{end}"] = 100 * step.share if np.isfinite(ratio) else np.nan
    return found


def draw(figure, slowdown):
    """Draw one panel per model, one stacked bar per transport."""
    data = breakdown(slowdown)
    kinds = len(data) // len(PRESETS)
    figure.set_size_inches(figures.TWO_COLUMNS_INCHES, 1.1 + 0.24 * kinds)
    axes = figure.subplots(1, len(PRESETS), sharey=True)
    for ax, name in zip(axes, PRESETS, strict=True):
        shown = data[data["preset"] == name].reset_index(drop=True)
        start = np.zeros(kinds)
        for part, (label, color) in PARTS.items():
            width = shown[f"{part}_percent"].to_numpy()
            ax.barh(shown.index, width, left=start, height=0.6, color=color, label=label)
            start += width
        for row, line in shown.iterrows():
            printed = PRINTED[name].get(line["transport"], 0)
            low, high = line["exposed_percent_low"], line["exposed_percent_high"]
            ax.plot([low, high], [row, row], color="#333333", lw=0.8)
            ax.annotate(
                f"{line['exposed_percent']:.1f}",
                (np.nanmax([line["exposed_percent"], printed, high]), row),
                xytext=(4, 0), textcoords="offset points", va="center_baseline", fontsize=7,
            )  # fmt: skip
            if printed:
                ends = [row - 0.42, row + 0.42]
                label = "printed in the paper" if row == 0 else None
                ax.plot([printed] * 2, ends, color="black", lw=1.2, label=label)
        ax.set_title(preset.training(name).title, loc="left")
        ax.set(
            xlabel="exposed networking [% of the step]",
            xlim=(
                0,
                1.18 * np.nanmax([*start, *shown["exposed_percent_high"], *PRINTED[name].values()]),
            ),
        )
        ax.grid(True, axis="x")
        ax.tick_params(axis="y", length=0)
    first = data[data["preset"] == data["preset"].iloc[0]]
    axes[0].set_yticks(
        range(kinds),
        [
            f"{figures.style(line.transport, line.label).label} ({line.pipeline_slowdown:.3g}x)"
            for line in first.itertuples()
        ],
    )
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(handles))
    figure.text(0.002, 0.004, NOTE, va="bottom", fontsize=5, color="#777")
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))  # leaves the note its line
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
