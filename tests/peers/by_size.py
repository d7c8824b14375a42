# SPDX-License-Identifier: GPL-2.0-only
"""Messages of 0.1 to 10 bandwidth-delay products on htsim and on our engine, size by size.

``python tests/peers/by_size.py --peer /there/htsim_uec /there/htsim_eqds /there/htsim_ndp
/there/htsim_roce`` runs htsim's programs and writes tests/data/htsim/by_size.csv. Without
``--peer`` it runs ours and prints the table of docs/validation.md.

64 hosts in two tiers at 400 Gb/s, links of 1 us: permutations, and incasts of 16. Constants are
those of random_networks.py. Both programs run five seeds, whose means are compared. Aims, written
before the first run: the median of the messages within 2 % of htsim's, the slowest within 5 %.
RoCEv2 has incasts alone: in a permutation its slowest message is the draw of the paths.
"""

import argparse
import random
import re
from functools import cache
from pathlib import Path

import pandas as pd
import random_networks
from random_networks import AIMS, MTU_BYTES, SEEDS, Case, run_ours, run_peer

TABLE = random_networks.TABLE.with_name("by_size.csv")
PRODUCTS = (0.1, 0.3, 1, 3, 10)
SHAPE, GBPS, DELAY_PS, SENDERS = (8, 8), 400, 1_000_000, 16
KEY = ["transport", "workload", "products"]
WORKLOADS = {
    "roce": ("incast",),
    **dict.fromkeys(random_networks.TRANSPORTS, ("permutation", "incast")),
}
LABELS = {"roce": "RoCEv2, PFC", "rccc": "RCCC", "nscc": "NSCC", "eqds": "EQDS", "ndp": "NDP"}
PROGRAMS = random_networks.PROGRAMS


def case(transport: str, workload: str, products: float) -> Case:
    """Return the network with messages of one size; who sends to whom is drawn from the key."""
    bare = Case(transport, 0, SHAPE, GBPS, DELAY_PS, workload, ())
    n_bytes = max(1, round(products * bare.product_bytes / MTU_BYTES)) * MTU_BYTES
    order = random.Random(f"{transport} {workload} {products}").sample(range(64), 64)
    if workload == "permutation":
        rows = [(src, order[i - 1], n_bytes, 0) for i, src in enumerate(order)]
    else:
        rows = [(src, order[0], n_bytes, 0) for src in order[1 : 1 + SENDERS]]
    return Case(transport, 0, SHAPE, GBPS, DELAY_PS, workload, tuple(rows))


def cases() -> list[tuple[str, str, float]]:
    """Return the key of each case."""
    return [(t, w, p) for t, workloads in WORKLOADS.items() for w in workloads for p in PRODUCTS]


def mean(runs: list[dict]) -> dict:
    """Return the means of the times [us], and of the messages that ended, over seeds."""
    return pd.DataFrame(runs)[[*AIMS, "ended"]].mean().round(4).to_dict()


@cache
def ours(key: tuple[str, str, float]) -> dict:
    """Return the means of five seeds of our engine."""
    return mean([run_ours(case(*key), seed) for seed in SEEDS])


def peers() -> pd.DataFrame:
    """Return htsim's means, by transport, workload and size."""
    return pd.read_csv(TABLE).set_index(KEY)


def write(binaries: list[Path]) -> None:
    """Run htsim's programs on all cases and write the table."""
    by_name = {path.name: path for path in binaries}
    rows = []
    for key in cases():
        found = case(*key)
        runs = [run_peer(found, by_name[PROGRAMS[key[0]]], seed) for seed in SEEDS]
        rows.append(dict(zip(KEY, key, strict=True)) | {"bytes": found.rows[0][2]} | mean(runs))
        print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(TABLE, index=False)


def differences(key: tuple[str, str, float]) -> dict[str, float]:
    """Return ours over htsim's, less 1, of the median and of the slowest message [1]."""
    own, theirs = ours(key), peers().loc[key]
    return {name: own[name] / theirs[name] - 1 for name in AIMS}


def row(transport: str, workload: str) -> str:
    """Return a line of the table: median and slowest of each size, in percent."""
    each = [differences((transport, workload, products)).values() for products in PRODUCTS]
    cells = ["; ".join(f"{100 * one:+.1f}" for one in found) for found in each]
    cells = [re.sub(r"[+-]0\.0", "0.0", cell) for cell in cells]
    return f"| {LABELS[transport]} | {workload} | {' | '.join(cells)} |"


def report() -> None:
    """Print the table: a row for each transport and workload, a column for each size."""
    for transport, workloads in WORKLOADS.items():
        for workload in workloads:
            print(row(transport, workload), flush=True)


def main() -> None:
    """Write htsim's table, or print ours beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path, nargs="+", help="programs of htsim")
    options = parser.parse_args()
    if options.peer:
        write(options.peer)
    else:
        report()


if __name__ == "__main__":
    main()
