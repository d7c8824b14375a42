# SPDX-License-Identifier: GPL-2.0-only
"""What domains and threads cost and gain: ``python benchmarks/threads.py [--hosts 1024 8192]``.

Every row is the same permutation with the same bytes as a result. *handed over* is the CPU time of
several domains on one thread beyond that of one domain, by windows; it is negative where domains
gain more by their caches than they lose. *barrier* is the wall time of a window in which next to
nothing happens, with so many threads. What is printed for more threads than were tried is an
estimate, and says so. ``python benchmarks/scaling.py CSV FOLDER`` draws the rows.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import permutation

HERE = Path(__file__).resolve().parent
#: One message between two leaves: two or three events in a window.
QUIET_PACKETS = 20_000


def measured(variant: str, tables: dict, n_domains: int, threads: int, folder: Path) -> dict:
    """Return wall and CPU time of the run phase, and the windows of one run."""
    permutation.save(folder, tables)
    command = [sys.executable, str(HERE / "ours.py"), variant, str(folder / "tables.npz")]
    command += ["--out", str(folder), "--threads", str(threads), "--domains", str(n_domains)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    facts = json.loads((folder / "provenance.json").read_text())
    windows = facts["simulated_ps"] // permutation.DELAY_PS
    return {"wall_s": facts["run_wall_s"], "cpu_s": facts["run_cpu_s"], "windows": windows}


def best(variant: str, tables: dict, pairs: list[tuple[int, int]], repeats: int) -> dict:
    """Return the median of each pair of domains and threads; they take turns."""
    runs: dict[tuple[int, int], list[dict]] = {pair: [] for pair in pairs}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeats):
            for pair in pairs:
                runs[pair].append(measured(variant, tables, *pair, Path(folder)))
    return {
        pair: {key: median(run[key] for run in got) for key in got[0]} for pair, got in runs.items()
    }


def barrier_us(threads: int, repeats: int) -> float:
    """Return the wall time of a window in which next to nothing happens [us]."""
    tables = permutation.tables(permutation.SHAPES[128], QUIET_PACKETS)
    first = {name: column[:1] for name, column in tables["flows"].items()}
    quiet = tables | {"flows": first}
    got = best("gobackn", quiet, [(threads, 1), (threads, threads)], repeats)
    more_s = got[threads, threads]["wall_s"] - got[threads, 1]["wall_s"]
    return 1e6 * more_s / got[threads, 1]["windows"]


def estimates(got: dict, barrier: float, most: list[int]) -> dict[int, float]:
    """Return the speed-up to expect with so many threads and as many domains: equal shares.

    Work that is divided evenly, with what was measured to be handed over by the most domains, and
    a barrier that takes as long for each doubling of the threads as it was measured to for two.
    """
    one_s = got[1, 1]["cpu_s"]
    shared_s = max(got[pair]["cpu_s"] for pair in got if pair[1] == 1 and pair[0] > 1)
    windows = got[1, 1]["windows"]
    return {
        n: one_s / (shared_s / n + 1e-6 * barrier * windows * (n.bit_length() - 1)) for n in most
    }


def main() -> None:
    """Measure, print, and write rows if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hosts", type=int, nargs="+", default=[1024], choices=permutation.SHAPES)
    parser.add_argument("--packets", type=int, help="of a message")
    parser.add_argument("--domains", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--threads", type=int, nargs="+", default=[2])
    parser.add_argument("--variants", nargs="+", default=["gobackn", "spray"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--csv", type=Path, help="write the rows here")
    given = parser.parse_args()
    pairs = [(1, 1)]
    pairs += [(n, t) for n in given.domains for t in [1, *given.threads] if t <= n]
    barrier = barrier_us(min(given.threads), given.repeats)
    print(f"barrier of {min(given.threads)} threads: {barrier:.2f} us for each window")
    rows = []
    for hosts in given.hosts:
        shape = permutation.SHAPES[hosts]
        tables = permutation.tables(shape, given.packets or shape.packets)
        for variant in given.variants:
            got = best(variant, tables, pairs, given.repeats)
            for (n, threads), run in got.items():
                speed_up = got[1, 1]["wall_s"] / run["wall_s"]
                more_us = 1e6 * (run["cpu_s"] - got[1, 1]["cpu_s"]) / run["windows"]
                took = [run["wall_s"], run["cpu_s"]]
                rows.append([hosts, variant, n, threads, *took, speed_up, "measured"])
                print(
                    f"{hosts} {variant}: {n} domains, {threads} threads: {run['wall_s']:.2f} s,"
                    f" CPU {run['cpu_s']:.2f} s, {speed_up:.2f} times as fast,"
                    f" handed over {more_us:.1f} us for each of {run['windows']:.0f} windows"
                )
            for n, speed_up in estimates(got, barrier, [4, 8, 16, 32]).items():
                print(f"{hosts} {variant}: estimate for {n} cores of their own: {speed_up:.1f}")
                rows.append([hosts, variant, n, n, "", "", speed_up, "estimate"])
    if given.csv:
        with given.csv.open("w", newline="") as file:
            names = "hosts", "variant", "domains", "threads", "wall_s", "cpu_s", "speed_up", "kind"
            csv.writer(file).writerows([names, *rows])


if __name__ == "__main__":
    main()
