# SPDX-License-Identifier: GPL-2.0-only
"""Traffic of one training epoch by kind of parallelism, and of an inference service by phase.

[asterfusion24]: 70e9 parameters on 8 devices (3D: 1024), 156e9 tokens; 120e9 parameters and 100
users. The volumes are the blog's formulas, which charge all parameters to each layer of TP.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import inference, preset, traffic

NEEDS = {}

#: Colour, marker, its size, its filling; equal volumes show as one inside the other.
LOOKS = {"backward": ("#0072B2", "o", 4, "#0072B2"), "forward": ("#D55E00", "o", 8, "none")}


def epoch():
    """Return bytes by kind and pass."""
    volumes = traffic.volumes(preset.training("llama3-70b").traffic)
    return [
        {"panel": "training epoch", "kind": kind, "part": part, "bytes": float(size)}
        for kind, volume in volumes.items()
        for part, size in (
            ("backward", volume.backward_bytes), ("forward", volume.forward_bytes),
        )
        if size
    ]  # fmt: skip


def service():
    """Return bytes of 100 requests by phase."""
    given = preset.inference("inference-120b")
    phases = {
        "prefill": inference.prefill_bytes(given),
        "decode": inference.decode_bytes(given),
        "KV cache": given.users * inference.kv_cache_bytes(given),
    }
    return [
        {"panel": "inference", "kind": kind, "part": "", "bytes": float(size)}
        for kind, size in phases.items()
    ]


def draw(figure):
    """Draw two panels of dots: a bar has no length on a logarithmic axis."""
    data = pd.DataFrame(epoch() + service())
    left, right = figures.panels(figure, [2.0] * 2, ratios=[1.5, 1])
    training = data[data["panel"] == "training epoch"]
    kinds = list(dict.fromkeys(training["kind"]))
    for row, kind in enumerate(kinds):
        sizes = training.loc[training["kind"] == kind, "bytes"] / 1e15
        left.plot([sizes.min(), sizes.max()], [row, row], color="#bbbbbb", lw=1, zorder=1)
    for part, (color, marker, size, filling) in LOOKS.items():
        shown = training[training["part"] == part]
        left.plot(
            shown["bytes"] / 1e15, [kinds.index(kind) for kind in shown["kind"]], marker, ms=size,
            color=color, mfc=filling, label=part, zorder=2,
        )  # fmt: skip
    left.set_yticks(range(len(kinds)), kinds)
    left.set(xscale="log", xlim=(5, 2e5), xlabel="sent in one epoch [PB]", ylim=(4.6, -0.6))
    left.legend(loc="upper right")
    serving = data[data["panel"] == "inference"]
    right.plot(serving["bytes"] / 1e12, serving["kind"], "o", color=LOOKS["backward"][0])
    for line in serving.itertuples():
        right.annotate(
            f"{line.bytes / 1e12:.3g}", (line.bytes / 1e12, line.kind), xytext=(6, 0),
            textcoords="offset points", va="center_baseline", fontsize=7,
        )  # fmt: skip
    right.set(xscale="log", xlim=(0.05, 100), xlabel="sent for 100 requests [TB]")
    right.set_ylim(-0.5, len(serving) - 0.5)
    right.invert_yaxis()
    for ax in (left, right):
        ax.grid(True, axis="x")
        ax.tick_params(axis="y", length=0)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
