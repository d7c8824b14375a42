# SPDX-License-Identifier: GPL-2.0-only
"""What a monitor sees that reads byte counters and queues of all ports at an interval.

64 hosts exchange 32 kB with each other, eight times with pauses between. Left: the deepest queue
that the monitor finds, of the deepest there was. Right: the busiest link in its busiest interval.
Mean over all moments at which the monitor may begin, and over two draws of paths, each a thin line.
"""

from pyorch import figures

PS_PER_US, PS_BITS = 1e6, 8e12
PORT = ["node", "peer", "parallel"]
#: Intervals of the monitor, in samples.
TIMES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
COLUMNS = {"seen_share": "deepest queue seen [1]", "peak_share": "busiest link [1]"}


def draw(figure, runs):
    """Draw what is seen by the interval of the monitor, a line per transport."""
    import pandas as pd

    rows = [
        {"variant": variant, "seed": run.spec.seed, **row}
        for variant, found in runs.items() for run in found for row in seen(run)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    axes = figures.panels(figure, [2.2, 2.2])
    for ax, (column, words) in zip(axes, COLUMNS.items(), strict=True):
        for variant, found in runs.items():
            look, own = figures.style(variant), table[table["variant"] == variant]
            for _, one in own.groupby("seed"):
                ax.plot(one["interval_us"], one[column], lw=0.5, color=look.color)
            mean = own.groupby("interval_us")[column].mean()
            ax.plot(mean.index, mean, color=look.color, marker=look.marker, ms=4,
                    label=found[0].label)  # fmt: skip
        ax.set_xscale("log")
        ax.set(xlabel="interval [us]", ylabel=words, ylim=(0, None))
        ax.grid(True)
    figures.legend(figure, axes, 3)
    return table


def seen(run):
    """Return what each interval shows of a run, the mean over all moments to begin."""
    import numpy as np

    period_ps, deepest = run.spec.trace.sample_ps, run.ports["max_queue_bytes"].max()
    samples = run.port_samples.assign(index=run.port_samples["time_ps"] // period_ps)
    whole = int(run.table("summary")["now_ps"].iloc[0]) // period_ps
    samples = samples[samples["time_ps"] <= whole * period_ps]
    queue = samples.groupby("index")["queue_bytes"].max().reindex(range(1, whole + 1)).fillna(0)
    sent = samples.pivot_table(index="index", columns=PORT, values="sent_bytes")
    sent = sent.reindex(range(1, whole + 1)).fillna(0).astype(float)
    rates = run.ports.set_index(PORT)["rate_bps"].reindex(sent.columns).to_numpy(dtype=float)
    total = np.vstack([np.zeros(len(rates)), sent.to_numpy().cumsum(axis=0)])
    for times in TIMES:
        busiest = ((total[times:] - total[:-times]) / rates).max(axis=1) * PS_BITS
        depths = [queue.to_numpy(dtype=float)[begin::times].max() for begin in range(times)]
        # The last moments to begin leave no whole interval where there is but one.
        shares = [busiest[begin::times].max() for begin in range(times) if begin < len(busiest)]
        yield {
            "interval_us": times * period_ps / PS_PER_US,
            "seen_share": np.mean(depths) / deepest,
            "peak_share": np.mean(shares) / (times * period_ps),
        }
