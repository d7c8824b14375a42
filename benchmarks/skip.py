# SPDX-License-Identifier: GPL-2.0-only
"""What skipping steady states saves and costs: CPU and completion times beside those of full runs.

``python benchmarks/skip.py [--tolerance 1%] [--only NAME ...]``. Every case is run twice, each run
in a process of its own; user CPU of the run phase counts. The error is that of the completion
time of each message; `slowest` compares the slowest of both runs.

``python benchmarks/skip.py --model`` has the gradients and a step of a 13B model on 128 devices in
place of these cases, with and without congestion control.

``python benchmarks/skip.py --stock`` runs large cases with skips, some with memory, and what stock
ns-3 takes per packet and hop on 128 hosts, measured in the same run. What it would take for these
cases is an extrapolation: that, times the hops of their data packets.
"""

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import engine
import numpy as np
import pandas as pd
import permutation

from pyorch.errors import PyorchError
from pyorch.runs.choose import choose
from pyorch.runs.make import make
from pyorch.simulate import build
from pyorch.spec.overrides import parse_assignment

SCENARIO = Path(__file__).parents[1] / "scenarios" / "figure_5.yaml"
STEP = Path(__file__).with_name("gpt_13b.yaml")
SIZE = "workload.message=50 MB"
INCAST = "workload={type: incast, senders: 16, message: 20 MB}"
ALL_TO_ALL = "workload={type: all_to_all, hosts: 16, spacing: 8, message: 10 MB}"
POISSON = "workload={type: poisson, load: 0.5, duration: 2 ms, sizes: websearch}"
RING = (
    "workload={type: collective, algorithm: ring, operation: all_reduce, bytes: 400 MB, ranks: 16,"
    " groups: 8, placement: strided, stride: 8}"
)
CUT = "failures=[{type: scheduled, links: [[128, 144]], at: 200 us, duration: 100 us}]"
#: Name, variant of Figure 5, and what is changed.
CASES = [
    *(
        (f"permutation, {variant}", variant, [SIZE])
        for variant in (
            "sprayed", "rocev2_irn", "rocev2", "rccc", "ndp", "eqds",
        )
    ),
    ("incast 16 to 1, sprayed", "sprayed", [INCAST]),
    ("incast 16 to 1, rocev2", "rocev2", [INCAST]),
    ("all to all of 16, sprayed", "sprayed", [ALL_TO_ALL]),
    ("Poisson 50 %, sprayed", "sprayed", [POISSON]),
    ("ring all-reduce, sprayed", "sprayed", [RING]),
    ("permutation with a link cut, sprayed", "sprayed", [SIZE, CUT]),
]  # fmt: skip
GRADIENTS = (
    "workload={type: collective, algorithm: ring, operation: all_reduce, bytes: 812 MB, ranks: 4,"
    " groups: 32, placement: strided, stride: 32}"
)
ONE_SWITCH = "topology.rail={type: leaf_spine, leaves: 1, hosts_per_leaf: 16, spines: 1}"
PIPELINED = ["workload.schedule=1f1b", "workload.micro_batches=8"]
#: Name, variant of the 13B model, and what is changed.
MODEL = [
    ("gradients, sprayed", "sprayed", [GRADIENTS]),
    ("gradients, a switch a rail, rocev2", "rocev2", [GRADIENTS, ONE_SWITCH]),
    ("gradients, a switch a rail, rocev2_dcqcn", "rocev2_dcqcn", [GRADIENTS, ONE_SWITCH]),
    ("a step, a switch a rail, rocev2_dcqcn", "rocev2_dcqcn", [ONE_SWITCH]),
]
#: Name, scenario, scale, variant and what is changed, of large cases.
LARGE = [
    ("Figure 5, 8192 hosts, sprayed", SCENARIO, "paper", "sprayed", []),
    ("13B, 128 devices: gradients", STEP, "laptop", "sprayed", [GRADIENTS]),
    ("13B, 128 devices: a step", STEP, "laptop", "sprayed", []),
    ("8 micro-batches, a switch a rail", STEP, "laptop", "sprayed", [ONE_SWITCH, *PIPELINED]),
]
STOCK_HOSTS, STOCK_HOPS, REPEATS = 128, 4, 2  # of a data packet in the permutation of engine.py


@dataclass
class Done:
    """What one run has left."""

    cpu_s: float
    events: int
    fct_ps: np.ndarray
    skipped_share: float
    packets: int
    hops: int


def run(variant: str, sets: list[str], scenario: Path = SCENARIO, scale: str = "smoke") -> Done:
    """Make the first run of a variant and read what it left."""
    given = [parse_assignment(text) for text in sets]
    chosen = choose(scenario, scale, variant=variant, sets=given)[0]
    with tempfile.TemporaryDirectory() as folder:
        end = make(chosen.spec, folder, Path(folder) / "log")
        if end.status != 0:
            raise SystemExit(f"{variant}: {(Path(folder) / 'log').read_text()}")
        facts = json.loads((Path(folder) / "provenance.json").read_text())
        flows = pd.read_parquet(Path(folder) / "flows.parquet")
        ports = pd.read_parquet(Path(folder) / "ports.parquet")
    return Done(
        cpu_s=facts["run_cpu_s"],
        events=facts["events"],
        fct_ps=(flows["receiver_end_ps"] - flows["start_ps"]).to_numpy(dtype=float),
        skipped_share=facts.get("skipped_packets", 0) / facts["data_packets"],
        packets=facts["data_packets"],
        hops=int(ports["sent_data_packets"].sum()),
    )


def beside_stock(tolerance: str, words: list[str]) -> None:
    """Print large cases with skips and what stock ns-3 would take for them."""
    build.build((engine.STOCK_PROGRAM,))
    found = engine.measure(STOCK_HOSTS, None, REPEATS, [*engine.STOCK])
    n_hops = STOCK_HOSTS * permutation.SHAPES[STOCK_HOSTS].packets * STOCK_HOPS
    per_hop_s = {name: min(one.cpu_s for one in those) / n_hops for name, those in found.items()}
    for name, seconds in per_hop_s.items():
        print(f"{name}: {1e6 * seconds:.2f} us of CPU per data packet and hop, measured")
    heads = ("packets", "hops", "skipped", "CPU [s]", *(f"{x}*" for x in per_hop_s))
    print(f"{'case':32}", *(f"{head:>{max(12, len(head))}}" for head in heads))
    for name, scenario, scale, variant, sets in LARGE:
        if words and not any(word in name for word in words):
            continue
        done = run(variant, [*sets, f"engine.skip={tolerance}"], scenario, scale)
        times = [f"{done.hops * seconds / done.cpu_s:.0f} times" for seconds in per_hop_s.values()]
        cells = (
            f"{done.packets / 1e6:.1f} M", f"{done.hops / 1e6:.1f} M", f"{done.skipped_share:.1%}",
            f"{done.cpu_s:.2f}", *times,
        )  # fmt: skip
        wide = [f"{cell:>{max(12, len(head))}}" for cell, head in zip(cells, heads, strict=True)]
        print(f"{name:32}", *wide, flush=True)
    print("* CPU that it would take, extrapolated by hops, over ours")


def main() -> None:
    """Run every case with and without and print one row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tolerance", default="1%")
    parser.add_argument("--only", nargs="+", default=[], help="words of the names of cases")
    parser.add_argument("--model", action="store_true", help="a 13B model, with every control")
    parser.add_argument("--stock", action="store_true", help="large cases beside stock ns-3")
    options = parser.parse_args()
    if options.stock:
        beside_stock(options.tolerance, options.only)
        return
    heads = ("full CPU [s]", "skipped", "CPU [s]", "fewer events", "p50", "p99", "slowest")
    print(f"{'case':42}", *(f"{head:>12}" for head in heads))
    where = (STEP, "laptop") if options.model else (SCENARIO, "smoke")
    for name, variant, sets in MODEL if options.model else CASES:
        if options.only and not any(word in name for word in options.only):
            continue
        full = run(variant, sets, *where)
        skip = run(variant, [*sets, f"engine.skip={options.tolerance}"], *where)
        error = np.abs(skip.fct_ps / full.fct_ps - 1)
        cells = (
            f"{full.cpu_s:.2f}",
            f"{skip.skipped_share:.1%}",
            f"{skip.cpu_s:.2f}",
            f"{full.events / skip.events:.1f}",
            f"{np.quantile(error, 0.5):.2%}",
            f"{np.quantile(error, 0.99):.2%}",
            f"{skip.fct_ps.max() / full.fct_ps.max() - 1:+.2%}",
        )
        print(f"{name:42}", *(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    try:
        main()
    except PyorchError as error:
        raise SystemExit(f"error: {error}") from None
