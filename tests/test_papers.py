# SPDX-License-Identifier: GPL-2.0-only
"""Tables of docs/validation.md on published curves follow from the figures of docs/papers."""

import math
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import yaml

PAPERS = Path(__file__).parents[1] / "docs" / "papers"
PAGE = (PAPERS.parent / "validation.md").read_text().partition("## Papers")[2]


def figure(name):
    return pd.read_csv(PAPERS / "figures" / f"{name}.csv")


def row(*cells):
    return f"| {' | '.join(map(str, cells))} |\n".replace("|  |", "| |").replace("|  |", "| |")


def mptcp_rows():
    data = figure("mptcp_subflows")
    for label, series in (("paths that differ", "distinct"), ("paths of a hash", "hashed")):
        own = data[data["series"] == series]
        yield row(f"ours, {label}: mean", *(f"{value:.2f}" for value in own["mean"]))
        yield row(f"ours, {label}: least", *(f"{value:.2f}" for value in own["least"]))


#: Percent of the messages at which a column of the table ends.
HOMA_ENDS = (10, 50, 90, 99, 99.9, 100)


def homa_rows():
    data = figure("homa_workloads")
    for workload, groups in data.groupby("workload"):
        groups = groups.reset_index(drop=True)
        ends = [(groups["messages_percent"] >= end - 0.01).idxmax() for end in HOMA_ENDS]
        shown = [place if place not in ends[:n] else None for n, place in enumerate(ends)]
        if None in shown:  # the group that is the last one stands in the last column
            shown[-1], shown[shown.index(ends[-1])] = ends[-1], None
        for name in ("p50", "p99"):
            pairs = groups[[f"published_{name}", f"ours_{name}"]].map("{:.2f}".format).agg(
                "; ".join, axis="columns"
            )  # fmt: skip
            cells = ["" if place is None else pairs[place] for place in shown]
            yield row(f"{workload.upper()}, {'median' if name == 'p50' else name}", *cells)


RATES = {"ndp": "NDP", "ndp_scores": "NDP, paths scored", "mptcp": "MPTCP", "dctcp": "DCTCP"}


def rate_rows(scenario):
    data = figure(scenario)
    for name, label in RATES.items():
        if f"{name}_gbps" not in data:
            continue
        for series, column in (("published", f"{name}_gbps"), ("ours", f"{name}_ours_gbps")):
            rates = data[column]
            values = (rates.mean(), rates.min(), rates.median(), rates.max())
            yield row(f"{label}, {series}", *(f"{value:.2f}" for value in values))


INCASTS = (1, 11, 31, 101, 201, 301, 431)


def incast_rows():
    data = figure("ndp_incast").set_index(["series", "senders"])
    for name in ("first", "last"):
        for series in ("published", "ours"):
            values = data.loc[series].loc[list(INCASTS), f"{name}_ms"]
            yield row(f"{name}, {series}", *(f"{value:.2f}" for value in values))


SCALES = (1, 4, 8, 20, 60, 200, 600, 2000, 8000)


def scaling_rows():
    data = figure("ndp_incast_scaling").set_index(["window_packets", "series", "senders"])
    for window in (23, 10, 1):
        for series in ("published", "ours"):
            values = data.loc[window].loc[series].loc[list(SCALES), "over_percent"]
            yield row(f"{window}, {series}", *(f"{round(value, 2) + 0:.2f}" for value in values))


def conweave_rows():
    data = figure("conweave").pivot(index="variant", columns="series", values=["mean", "p99"])
    names = {"ecmp": "ECMP", "letflow": "LetFlow", "conga": "CONGA", "conweave": "ConWeave"}
    for variant, label in names.items():
        cells = [
            f"{data.loc[variant, (name, series)]:.2f}"
            for name in ("mean", "p99")
            for series in ("published", "ours")
        ]
        yield row(label, *cells)


def conga_rows():
    data = figure("conga").pivot(index="arrivals_ms", columns="variant", values="mean_ms")
    for variant, label in (("ecmp", "ECMP"), ("conga", "CONGA")):
        yield row(f"{label}, mean [ms]", *(f"{value:.2f}" for value in data[variant]))
    yield row("ECMP over CONGA", *(f"{value:.2f}" for value in data["ecmp"] / data["conga"]))


TABLES = {
    "mptcp_subflows": mptcp_rows, "homa_workloads": homa_rows,
    "ndp_permutation": partial(rate_rows, "ndp_permutation"),
    "ndp_slow_link": partial(rate_rows, "ndp_slow_link"),
    "ndp_incast": incast_rows, "ndp_incast_scaling": scaling_rows, "conweave": conweave_rows,
    "conga": conga_rows,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.stem for path in PAPERS.glob("scenarios/*.yaml")))
def test_the_table_shows_what_was_drawn(name):
    assert [line for line in TABLES[name]() if line not in PAGE] == []


SIZES = pd.read_csv(PAPERS / "published" / "homa.csv", comment="#").groupby("workload")


@pytest.mark.parametrize("workload", ["w1", "w2", "w3", "w4", "w5"])
def test_sizes_of_homa_are_those_that_were_published_with_its_slowdowns(workload):
    published = SIZES.get_group(workload).set_index("bytes")["messages_percent"]
    lines = (PAPERS / "sizes" / f"{workload}.txt").read_text().split("\n")[:-1]
    sizes = {int(size): float(percent) for size, percent in map(str.split, lines)}
    steps = set(sizes) - {0, *published.index}

    assert sizes[0] == 0
    assert [sizes[size] for size in published.index] == pytest.approx(
        (100 * published.cumsum() / published.sum()).tolist(), abs=1e-5
    )
    # W5 is of whole packets of 1442 B. Up to 65 of them each number has its share of its range: a
    # step at each, from a point a byte before it. Longer ones, and other workloads, are uniform.
    assert steps == {
        size - before
        for size in range(1442, 66 * 1442, 1442) for before in (0, 1)
        if workload == "w5"
    } - set(published.index)  # fmt: skip
    assert all(sizes[size + 1] > sizes[size] for size in steps if size + 1 in sizes)
    assert all(sizes[size] == sizes[size - 1441] for size in steps if size % 1442 == 1441)


@pytest.mark.parametrize("workload", ["w1", "w2", "w3", "w4", "w5"])
def test_cutoffs_of_homa_part_what_is_sent_blind_into_equal_bytes(workload):
    # A packet has 1442 B of payload and 96 B of headers and framing. Of 8 priorities those that
    # are not for granted packets are for blind ones; a range of sizes cannot be parted, so each
    # cutoff is the first at which messages up to it have sent their part.
    scenario = yaml.safe_load((PAPERS / "scenarios" / "homa_workloads.yaml").read_text())
    chosen = scenario["variants"][workload]
    levels = 8 - chosen["transport.attributes.ScheduledLevels"]
    cutoffs = chosen.get("transport.attributes.Cutoffs", "")
    rows, below, sent = SIZES.get_group(workload), 0, []
    for size, percent in zip(rows["bytes"], rows["messages_percent"], strict=True):
        blind = min((below + size) / 2, 7 * 1442)
        sent.append(percent * (blind + 96 * max(1, math.ceil(blind / 1442))))
        below = size
    shares = pd.Series(sent, index=rows["bytes"]).cumsum() / sum(sent)

    assert [int(cutoff) for cutoff in cutoffs.split(",") if cutoff] == [
        shares.index[(shares >= part / levels - 1e-9)][0] for part in range(1, levels)
    ]
