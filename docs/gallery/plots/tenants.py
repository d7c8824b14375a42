# SPDX-License-Identifier: GPL-2.0-only
"""What a training step and a service lose beside each other, by the priority of each.

Left: the step beside the service over the step alone. Right: the transfer of keys and values that
99 % do not exceed, over that alone. Bars: mean of five draws of hosts, each a point. In turn: one
packet of each priority after the other. Transfers have other draws of their paths beside the
step than alone, so less than 1 is possible.
"""

from pyorch import figures

KINDS = {
    "path": ("rocev2", "RoCEv2, one path, PFC"),
    "sprayed": ("nscc", "UEC NSCC, packets on all paths"),
}
SIDES = {"step": "step beside the service / alone [1]", "kv": "99 % of transfers / alone [1]"}


def draw(figure, runs):
    """Draw a panel for the step and one for the service, a bar per transport and priorities."""
    import pandas as pd

    table = pd.DataFrame(row for kind in KINDS for row in beside(kind, runs))
    labels = table.drop_duplicates("priorities").set_index("priorities")["label"]
    axes = figures.panels(figure, [2.2, 2.2])
    rows = {name: row for row, name in enumerate(labels.index)}
    for ax, (column, words) in zip(axes, SIDES.items(), strict=True):
        for place, (kind, (style, name)) in enumerate(KINDS.items()):
            own = table[table["kind"] == kind]
            at = own["priorities"].map(rows) + 0.38 * (place - 0.5)
            mean = own.assign(at=at).groupby("at")[f"{column}_over_alone"].mean()
            ax.barh(mean.index, mean, height=0.36, color=figures.style(style).color, label=name)
            for row, value in mean.items():
                ax.text(0.04, row, f"{value:.2f}", va="center_baseline", fontsize=6.5,
                        color="white")  # fmt: skip
            ax.plot(own[f"{column}_over_alone"], at, "o", ms=2, color="black")
        ax.axvline(1, color="black", ls=":", lw=0.8)
        first = ax is axes[0] or figures.is_column(figure)
        ax.set_yticks(range(len(labels)), labels if first else [""] * len(labels))
        ax.invert_yaxis()
        ax.set(xlabel=words, xlim=(0, None))
        ax.tick_params(axis="y", length=0)
    figures.legend(figure, axes, 2)
    return table


def beside(kind, runs):
    """Return a row per priorities and seed of a transport: both jobs, and each over alone."""
    step_us = [jobs(run)[0] for run in runs[f"{kind}_only_training"]]
    kv_us = [jobs(run)[1] for run in runs[f"{kind}_only_service"]]
    for variant, found in runs.items():
        if variant.startswith(f"{kind}_") and "_only_" not in variant:
            for run, step_alone, kv_alone in zip(found, step_us, kv_us, strict=True):
                step, kv = jobs(run)
                yield {
                    "kind": kind, "priorities": variant.partition("_")[2], "label": run.label,
                    "seed": run.spec.seed, "step_us": step, "kv_p99_us": kv,
                    "step_over_alone": step / step_alone, "kv_over_alone": kv / kv_alone,
                }  # fmt: skip


def jobs(run):
    """Return the time of the step and the 99 % quantile of transfers, where they are [us]."""
    times = run.metric("jobs").set_index("job")["completion_ps"] / 1e6
    service = [index for index, load in enumerate(run.spec.workload) if load.type == "companion"]
    if not service:
        return times[0], None
    flows = run.flows[run.flows["bytes"] == run.spec.workload[service[0]].params.message_bytes]
    took_us = (flows["receiver_end_ps"] - flows["start_ps"]).astype(float) / 1e6
    return times.get(0), took_us.quantile(0.99, interpolation="higher")
