# SPDX-License-Identifier: GPL-2.0-only
"""Slowdown of sprayed traffic beside wide-area traffic that goes first, by its share of a link.

Two datacenters of two leaves and four spines; wide-area traffic takes a share of one of the four
links from a leaf up (east) or down to one (west). Over the completion with a share of 1 %. Line:
what is left if just the capacity that is gone is lost. Bars: least and most of the seeds.
"""

from pyorch import figures

NEEDS = {"sprayed": "wan_priority/wan_priority.csv"}

SITES = {1: "east: up from the leaf", 2: "west: down to the leaf"}
KEYS = ["variant", "label", "workload"]


def relative(sprayed):
    """Return slowdown, and what it would be at best, over those with the least share."""
    data = sprayed.copy()
    least = data[data["wan_share"] == data["wan_share"].min()]
    base = least.groupby(["variant", "workload"])[["slowdown", "free_slowdown"]].mean()
    for name in ("slowdown", "free_slowdown"):
        of = base[name].loc[list(zip(data["variant"], data["workload"], strict=True))].to_numpy()
        data[f"relative_{name}"] = data[name] / of
    named = [*KEYS, "wan_share"]
    return data.groupby(named, sort=False, as_index=False).agg(
        n_seeds=("seed", "nunique"),
        slowdown_mean=("relative_slowdown", "mean"),
        slowdown_least=("relative_slowdown", "min"),
        slowdown_most=("relative_slowdown", "max"),
        free_slowdown=("relative_free_slowdown", "mean"),
        achieved_share=("achieved_share", "min"),
    )


def draw(figure, sprayed):
    """Draw a panel for each site; return what is drawn."""
    data = relative(sprayed)
    axes = figures.panels(figure, [2.3] * len(SITES), sharey=True)
    pairs = data[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    for ax, (workload, title) in zip(axes, SITES.items(), strict=True):
        here = data[data["workload"] == workload].sort_values("wan_share")
        for variant, look in looks.items():
            own = here[here["variant"] == variant]
            mean = own["slowdown_mean"]
            ax.errorbar(
                100 * own["wan_share"], mean,
                yerr=(mean - own["slowdown_least"], own["slowdown_most"] - mean),
                linestyle=look.dashes, marker=look.marker, color=look.color, linewidth=1,
                markersize=4, capsize=2, label=look.label,
            )  # fmt: skip
        best = here.drop_duplicates("wan_share")
        ax.plot(
            100 * best["wan_share"], best["free_slowdown"], color="black", linewidth=0.8,
            linestyle=":", label="Capacity that is gone", zorder=3,
        )  # fmt: skip
        ax.set_title(title, loc="left")
        ax.set(xlabel="share of one of four links [%]", ylim=(0.8, None))
        ax.grid(axis="y")
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("slowdown of\nsprayed traffic [1]")
    figures.legend(figure, [axes[0]], 2)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
