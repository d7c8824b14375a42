# SPDX-License-Identifier: GPL-2.0-only
"""An all-reduce by algorithm, size and placement of its ranks, and by switches that add up.

Ours, after [hotnets24] section 4.1: 64 ranks, one per host, 800 Gb/s, the hierarchy with racks of
8. Three panels: over the time on an ideal network, the longest chain of messages, each alone on its
path, or all bytes of the busiest host. Each is over the ideal time of its own placement; the axis
has that of packed ranks. Packed: neighbours in a ring and ranks of a rack share a leaf; random:
ranks are anywhere. With one path for each message two of them may share a link, and the next step
waits for the slower; sprayed over all paths they do not. Last panel: the time itself, by a ring and
in the network, where switches add up, a vector leaves each host once, and the placement changes
nothing. Bars: mean over seeds and its 95 % confidence interval (Student's t).
"""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, ScalarFormatter

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"groups": "collectives/collective.csv"}
OVER, TIME, SIZE, PLACEMENT = "over_ideal", "completion_ps", "data_bytes", "workload.placement"
#: Whose times are beside each other in the last panel.
RING, IN_NETWORK = "ring", "in_network"
#: How lines of a placement look.
DASHES = {"packed": "-", "random": (0, (3, 1.2))}
UNITS = {2**10: "KiB", 2**20: "MiB", 2**30: "GiB"}


def draw(figure, groups):
    """Draw a panel for each algorithm, and times of a ring and in the network; return the means."""
    cases = groups.drop_duplicates("case")[["case", "case_label"]].to_numpy()
    looks = figures.styles(groups[["variant", "label"]].drop_duplicates().to_numpy().tolist())
    by = ["case", "variant", PLACEMENT, SIZE]
    over = figures.over_seeds(groups, by, OVER)
    data = over.merge(figures.over_seeds(groups, by, TIME), on=[*by, "n_seeds"])
    algorithms = [(case, label) for case, label in cases if case != IN_NETWORK]
    axes = figures.panels(figure, [2.4] * (len(algorithms) + 1), [1] * len(algorithms) + [1.15])
    most = 1.05 * over[[f"{OVER}_mean", f"{OVER}_high"]].max().max()
    for ax, (case, label) in zip(axes, algorithms, strict=False):
        ax.set_title(label, loc="left")
        draw_lines(ax, data[data["case"] == case], looks, OVER)
        ticks(ax, groups[(groups["case"] == case) & (groups[PLACEMENT] == "packed")])
        ax.axhline(1, color="black", linestyle=":", linewidth=0.8, zorder=0)
        ax.yaxis.set_major_formatter(ScalarFormatter())
        ax.set_ylim(0, most)
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("time / ideal [1]")
        else:
            ax.tick_params(axis="y", labelleft=False)
    draw_times(axes[-1], data, looks)
    figures.legend(figure, axes, 3)
    return data


def draw_times(ax, data, looks):
    """Draw how long a ring takes, and switches that add up, wherever ranks are."""
    in_network = (data["case"] == IN_NETWORK) & (data[PLACEMENT] == "packed")
    shown = data[(data["case"] == RING) | in_network]
    draw_lines(ax, shown, looks, TIME, 1e9)
    ax.set_title("Ring and in-network", loc="left")
    ax.set(yscale="log", xlabel="vector", ylabel="time [ms]")
    sizes(ax, sorted(shown[SIZE].unique()))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def draw_lines(ax, data, looks, column, unit=1):
    """Draw a column by size: a line for each transport and placement, with its interval."""
    for (variant, placement), points in data.groupby(["variant", PLACEMENT], sort=False):
        look, mean = looks[variant], points[f"{column}_mean"] / unit
        half = points[f"{column}_high"] / unit - mean
        name = look.label if variant == IN_NETWORK else f"{look.label}, {placement}"
        ax.errorbar(
            points[SIZE], mean, yerr=half.where(half > 0), color=look.color, marker=look.marker,
            markersize=5, markeredgewidth=0.8, linestyle=DASHES[placement], linewidth=1,
            capsize=1.8, markerfacecolor=look.color if placement == "packed" else "white",
            label=name,
        )  # fmt: skip
    ax.grid(axis="y")


def ticks(ax, packed):
    """Write sizes below an axis, and the ideal time of each."""
    ideal_ps = packed.groupby(SIZE)["ideal_ps"].min()
    sizes(ax, list(ideal_ps.index))
    ax.set_xticklabels([f"{size(bytes_)}\n{time(time_ps)}" for bytes_, time_ps in ideal_ps.items()])
    ax.set_xlabel("vector, ideal time")


def sizes(ax, sizes_bytes):
    """Write sizes below a logarithmic axis."""
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(sizes_bytes))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xticklabels([size(bytes_) for bytes_ in sizes_bytes])
    ax.margins(x=0.12)


def time(time_ps):
    """Return a time in the unit that fits it."""
    return f"{time_ps / 1e9:.3g} ms" if time_ps >= 1e9 else f"{time_ps / 1e6:.3g} us"


def size(size_bytes):
    """Return a size as people call it: ``64 MiB``."""
    unit = max(unit for unit in UNITS if unit <= size_bytes)
    return f"{size_bytes / unit:g} {UNITS[unit]}"


if __name__ == "__main__":
    figures.main(draw, NEEDS)
