# SPDX-License-Identifier: GPL-2.0-only
"""Slowest message of an incast by the number of senders; one point per seed."""

from pyorch import figures

#: Tables of the metrics that are drawn: argument of draw() to <scenario>/<metric>.csv.
NEEDS = {"slowdown": "incast/slowdown.csv"}


def draw(ax, slowdown):
    """Draw the completion time of the slowest message; return what is drawn."""
    table = slowdown.assign(slowest_us=slowdown["slowest_fct_ps"] / 1e6)
    ax.plot(table["workload.senders"], table["slowest_us"], "o")
    ax.set(xlabel="senders", ylabel="slowest message [us]", xlim=(0, None), ylim=(0, None))
    ax.grid()
    return table[["workload.senders", "seed", "slowest_us"]]


if __name__ == "__main__":
    figures.main(draw, NEEDS)
