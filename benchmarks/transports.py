# SPDX-License-Identifier: GPL-2.0-only
"""CPU per data packet of every variant of a scenario, beside that of the first.

``python benchmarks/transports.py [SCENARIO.yaml] [--scale laptop] [--repeats 3] [--only NAME ...]
[--set KEY=VALUE ...]``. Variants take turns, each run in a process of its own; user CPU of the run
phase counts, the best of the repeats is the row. What is counted are packets that were delivered,
so one that is sent twice costs its transport double.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pyorch import spec
from pyorch.errors import PyorchError
from pyorch.runs.choose import choose
from pyorch.runs.make import make
from pyorch.spec.overrides import parse_assignment

SCENARIO = Path(__file__).parents[1] / "scenarios" / "figure_5.yaml"


def chosen(scenario: Path, scale: str, sets: list[str], only: list[str]) -> dict[str, spec.Run]:
    """Return one run of each variant: the first that the scenario has of it."""
    found: dict[str, spec.Run] = {}
    for run in choose(scenario, scale, sets=[parse_assignment(text) for text in sets]):
        found.setdefault(run.variant, run)
    if unknown := set(only) - found.keys():
        raise SystemExit(f"no variant {', '.join(sorted(unknown))}; {', '.join(found)} are there.")
    return {name: run for name, run in found.items() if not only or name in only}


def us_per_packet(run: spec.Run) -> tuple[float, int]:
    """Return the user CPU per delivered data packet [us], and how many were delivered."""
    with tempfile.TemporaryDirectory() as folder:
        end = make(run.spec, folder, Path(folder) / "log")
        if end.status != 0:
            raise SystemExit(f"{run.variant}: {(Path(folder) / 'log').read_text()}")
        facts = json.loads((Path(folder) / "provenance.json").read_text())
    return facts["run_cpu_s"] / facts["data_packets"] * 1e6, facts["data_packets"]


def main() -> None:
    """Measure and print one row per variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", type=Path, nargs="?", default=SCENARIO)
    parser.add_argument("--scale", default="laptop")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], help="names of variants")
    parser.add_argument("--set", nargs="+", default=[], help="keys and values, as for `run`")
    options = parser.parse_args()
    found = chosen(options.scenario, options.scale, options.set, options.only)
    best = dict.fromkeys(found, float("inf"))
    packets = {}
    for repeat in range(options.repeats):
        for name, run in found.items():
            print(f"{repeat + 1}/{options.repeats}: {name} ...", file=sys.stderr)
            spent, packets[name] = us_per_packet(run)
            best[name] = min(best[name], spent)
    first = next(iter(best))
    table = Table("variant", "delivered packets", "us per packet", f"times {first}")
    for name, spent in best.items():
        table.add_row(name, f"{packets[name]:,}", f"{spent:.3f}", f"{spent / best[first]:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    try:
        main()
    except PyorchError as error:
        raise SystemExit(f"error: {error}") from None
