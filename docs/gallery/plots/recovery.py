# SPDX-License-Identifier: GPL-2.0-only
"""What all receivers get before and after a link is cut for good, by transport.

Lines: mean of two draws of pairs and paths; solid with the timeout that each transport has from its
authors, dashed with 100 us for all, hidden where both are alike. Grey: from the cut until the
routes follow. Dotted: what the links that are left can carry. All data of the two leaves crosses
four spines, one of which the first leaf loses.
"""

from pyorch import figures

PS_PER_MS = 1e9
CUT_PS, ROUTES_PS, LAST_PS = 300_000_000, 1_300_000_000, 1_000_000_000
#: A rate is back when no later sample is below this share of what the last ms has.
BACK = 0.9
#: Uplinks of the first leaf that are left, both ways [Gb/s].
LEFT_GBPS = 2 * 3 * 200
TIMEOUTS = {"own": "its own timeout", "same": "100 us for all"}


def draw(figure, runs):
    """Draw a panel per transport, a line per timeout; return a row per run and sample."""
    import pandas as pd

    names = list(dict.fromkeys(variant.partition("_")[0] for variant in runs))
    shape = (3, 2) if figures.is_column(figure) else (2, 3)
    figure.set_figheight(1.45 * shape[0] + 0.4)
    axes = figure.subplots(*shape, sharex=True, sharey=True)
    tables = []
    for name, ax in zip(names, axes.flat, strict=True):
        look = figures.style(name, runs[f"{name}_own"][0].label)
        for (kind, words), line in zip(TIMEOUTS.items(), ("-", "--"), strict=True):
            found = pd.concat(sampled(run) for run in runs[f"{name}_{kind}"])
            tables.append(found.assign(variant=name, timeout=kind))
            mean = found.groupby("time_ms")["rate_gbps"].mean()
            ax.plot(
                mean.index,
                mean,
                color=look.color if line == "-" else "black",
                ls=line,
                lw=1.2 if line == "-" else 0.8,
                zorder=3 if line == "-" else 2,
            )
            ax.plot([], [], color="black", ls=line, lw=0.8, label=words)
        ax.axvspan(CUT_PS / PS_PER_MS, ROUTES_PS / PS_PER_MS, color="#eeeeee", zorder=0)
        ax.axhline(LEFT_GBPS, color="black", ls=":", lw=0.8, label="links that are left")
        ax.set_title(runs[f"{name}_own"][0].label, loc="left")
        ax.grid(True)
    for ax in axes[-1]:
        ax.set_xlabel("time [ms]")
    for ax in axes[:, 0]:
        ax.set_ylabel("all receivers [Gb/s]")
    axes.flat[0].set(xlim=(0, None), ylim=(0, None))
    figures.legend(figure, axes.flat, 3)
    return summary(pd.concat(tables, ignore_index=True))


def sampled(run):
    """Return the rate of all receivers, and the share of messages that get nothing, by time."""
    import pandas as pd

    period_ps = run.spec.trace.sample_ps
    times = range(period_ps, run.spec.stop_ps, period_ps)  # the last one is not whole
    arrived = run.flow_samples.pivot_table(index="time_ps", columns="flow", values="arrived_bytes")
    arrived = arrived.reindex(index=times, columns=run.flows["flow"]).fillna(0).astype(float)
    return pd.DataFrame(
        {
            "seed": run.spec.seed, "time_ms": [time / PS_PER_MS for time in times],
            "rate_gbps": (arrived.sum(axis=1) * 8e3 / period_ps).to_numpy(),
            "silent_share": (arrived == 0).mean(axis=1).to_numpy(),
        }
    )  # fmt: skip


def summary(samples):
    """Return a row per run: rates before, at worst and at the end, and when the last was back."""
    import pandas as pd

    rows = []
    for (name, kind, seed), own in samples.groupby(["variant", "timeout", "seed"], sort=False):
        rate = own.set_index("time_ms")["rate_gbps"]
        cut, end = CUT_PS / PS_PER_MS, rate.index.max()
        before, last = rate[rate.index <= cut].iloc[1:].mean(), rate[rate.index > end - 1].mean()
        later = rate[rate.index > cut]
        low = later[later < BACK * last]
        silent = own[own["time_ms"] > cut]["silent_share"]
        rows.append(
            {
                "variant": name, "timeout": kind, "seed": seed, "before_gbps": before,
                "least_gbps": later.min(), "last_gbps": last,
                "back_ms": low.index.max() - cut if len(low) else 0.0,
                "silent_share": silent.max(),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
