# SPDX-License-Identifier: GPL-2.0-only
"""What each of five messages gets when a sender of four shares one of its receivers.

Compare with NDP (SIGCOMM 2017), figure 21, with the numbers that its authors' simulator comes with:
one host sends to four, another one to the first of these. Payload over the time from the start of a
message to its end. Homa serves the shortest message first, so those of one host end one by one.
"""

import pandas as pd

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"flows": "in_and_out/flow_times.csv"}
#: Of the shared message, of the others of its sender and of the one to its receiver [Gb/s].
PUBLISHED = (2.377, 2.510, 2.514, 2.501, 7.552)
ROWS = (
    "to the shared\nreceiver", "to the second", "to the third", "to the fourth",
    "other sender, to the\nshared receiver",
)  # fmt: skip


def draw(figure, flows):
    """Draw a row for each message; return what is drawn."""
    (ax,) = figures.panels(figure, [2.2])
    table = flows.assign(
        series="ours", gbps=8e3 * flows["bytes"] / flows["fct_ps"], row=flows["flow"]
    )  # fmt: skip
    pairs = table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    for place, (variant, look) in enumerate(looks.items()):
        own = table[table["variant"] == variant]
        aside = 0.16 * (place - (len(looks) - 1) / 2)
        ax.plot(
            own["gbps"], own["row"] + aside, look.marker, color=look.color, markersize=4,
            label=look.label,
        )  # fmt: skip
    ax.plot(
        PUBLISHED, range(len(PUBLISHED)), "x", color="black", markersize=6,
        label="NDP, published", zorder=5,
    )  # fmt: skip
    ax.set(xlabel="goodput [Gb/s]", xlim=(0, 10), ylim=(len(ROWS) - 0.5, -0.5))
    ax.set_yticks(range(len(ROWS)), ROWS, fontsize=6.5)
    ax.grid(axis="x")
    figures.legend(figure, [ax], 5)
    theirs = pd.DataFrame(
        {"series": "published", "flow": range(len(PUBLISHED)), "gbps": PUBLISHED}
    )  # fmt: skip
    return pd.concat([table[["series", "variant", "flow", "gbps"]], theirs], ignore_index=True)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
