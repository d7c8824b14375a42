# SPDX-License-Identifier: GPL-2.0-only
"""RoCEv2 with DCQCN and NDP on one network: each alone, and both, in priorities of their own.

Two permutations of messages of one size among the same hosts; every port serves the two priorities
half and half. Nothing of this is published. Full lines: both; dashed: alone.
"""

import pandas as pd

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"flows": "two_transports/flow_times.csv"}
PS_PER_US = 1e6
TRANSPORTS = {"rocev2_dcqcn": "rocev2_alone", "ndp": "ndp_alone"}


def draw(figure, flows):
    """Draw the share of messages that are done, by transport; return it."""
    (ax,) = figures.panels(figure, [2.3])
    both = flows[flows["variant"] == "together"].sort_values("flow")
    share = len(both) // len(TRANSPORTS)
    parts = []
    for index, (name, variant) in enumerate(TRANSPORTS.items()):
        look = figures.style(name)
        alone = flows[flows["variant"] == variant]
        together = both.iloc[index * share : (index + 1) * share]
        for table, dashes, words in ((together, "-", "beside the other"), (alone, "--", "alone")):
            done = table["fct_ps"].sort_values().to_numpy() / PS_PER_US
            shares = [(rank + 1) / len(done) for rank in range(len(done))]
            label = f"{look.label}, {words}"
            ax.step(
                [0, *done], [0, *shares], where="post", color=look.color, linestyle=dashes,
                linewidth=1.2, label=label,
            )  # fmt: skip
            parts.append(pd.DataFrame({"series": label, "fct_us": done, "share": shares}))
    ax.set(xlabel="message completion time [us]", ylabel="share completed")
    ax.set(xlim=(0, None), ylim=(0, 1.01))
    ax.grid(axis="x")
    figures.legend(figure, [ax], 2)
    return pd.concat(parts, ignore_index=True)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
