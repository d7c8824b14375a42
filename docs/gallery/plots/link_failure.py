# SPDX-License-Identifier: GPL-2.0-only
"""What all receivers get while a link between a leaf and a spine is cut and comes back.

Grey: the link is down, 100 to 300 us. Dashed: the routes follow, 50 us after each change. With one
path per message the one that crossed the link stands still until then, and shares another link
after that. With spraying every message loses what it sends over the dead link, until the routes
leave it out.
"""

from pyorch import figures

PS_PER_US = 1e6
CUT_US, ROUTES_US = (100, 300), 50


def draw(ax, runs):
    """Draw the rate of all receivers together over time, one line per variant."""
    import pandas as pd

    ax.figure.set_figheight(2.4)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    tables = []
    for name, (run,) in runs.items():
        period_ps = run.spec.trace.sample_ps
        arrived = run.flow_samples.groupby("time_ps")["arrived_bytes"].sum()
        arrived = arrived.reindex(range(period_ps, int(arrived.index.max()) + 1, period_ps))
        rate_gbps = arrived.fillna(0) * 8e3 / period_ps
        ax.step(
            arrived.index / PS_PER_US, rate_gbps, where="pre", color=looks[name].color,
            label=looks[name].label,
        )  # fmt: skip
        tables.append(
            pd.DataFrame({"variant": name, "time_ps": arrived.index, "rate_gbps": rate_gbps})
        )
    ax.axvspan(*CUT_US, color="#eeeeee", zorder=0, label="the link is down")
    for change in CUT_US:
        ax.axvline(change + ROUTES_US, color="black", ls="--", lw=0.8, label="the routes follow")
    ax.set(xlabel="time [us]", ylabel="all receivers [Gb/s]", xlim=(0, None), ylim=(0, None))
    ax.grid(True)
    figures.legend(ax.figure, [ax], 4)
    return pd.concat(tables, ignore_index=True)
