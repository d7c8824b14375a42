# SPDX-License-Identifier: GPL-2.0-only
"""Part of the mixture-of-experts step in which a GPU computes nothing, by transport and GPU.

64 devices, all times and bytes divided by 100. Bars: means of three draws of the paths, lines from
the least to the most. Dashed: an ideal network, in closed form.
"""

from pathlib import Path

import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset

FILES = Path(__file__).parents[1] / "files"
#: Presets by the end of their names, in words and with the colour of a transport.
GPUS = {"moe-100t": ("20 PFLOPS, sparse FP4", "sprayed"),
        "moe_dense_fp4": ("10 PFLOPS, dense FP4", "rocev2")}  # fmt: skip


def draw(figure, runs):
    """Draw a pair of bars for each transport."""
    table = pd.DataFrame(row for found in runs.items() for row in steps(*found))
    (ax,) = figures.panels(figure, [2.2])
    labels = table.drop_duplicates("variant")["label"].tolist()
    shares = table.groupby(["gpu", "variant"], sort=False)["exposed_percent"]
    for place, (gpu, (words, look)) in enumerate(GPUS.items()):
        mean, least, most = (getattr(shares, name)()[gpu] for name in ("mean", "min", "max"))
        color = figures.style(look).color
        at = [i + 0.4 * place - 0.2 for i in range(len(mean))]
        ax.bar(at, mean, 0.36, color=color, label=words)
        ax.vlines(at, least, most, color="black", linewidth=1)
        ideal = table.loc[table["gpu"] == gpu, "ideal_percent"].iloc[0]
        ax.axhline(ideal, color=color, linestyle="--", linewidth=1)
    ax.set_xticks(range(len(labels)), labels)
    ax.set(ylabel="exposed [%]", ylim=(0, None))
    ax.grid(axis="y")
    figures.legend(figure, [ax], 2)
    return table


def steps(variant, found):
    """Yield the step of each run."""
    for run in found:
        file = run.spec.workload[0].params.preset
        gpu = next(name for name in GPUS if name in file)
        job = preset.training(file if gpu == file else str(FILES / f"{gpu}.yaml"))
        yield {
            "gpu": gpu, "variant": variant, "label": run.label, "seed": run.spec.seed,
            "exposed_percent": 100 * run.metric("training_step").iloc[0]["exposed_share"],
            "ideal_percent": 100 * float(exposed.expose_setup(job.setup).share),
        }  # fmt: skip
