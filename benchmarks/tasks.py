# SPDX-License-Identifier: GPL-2.0-only
"""What dependencies cost: messages that wait for one another, beside the same with start times.

``python benchmarks/tasks.py``. Rings of messages around one switch, each message after the one
that has come to its sender; then the same messages without dependencies, each with the start that
it had, so both send the same packets at the same times. And how much memory computations take that
wait for one another. Each in a process of its own; CPU is user time, of building and running.
"""

import argparse
import multiprocessing
import resource

import numpy as np

from pyorch.simulate.fabric import Fabric, output_columns

HOSTS, MESSAGE_BYTES, RATE_BPS, DELAY_PS = 64, 16384, 800 * 10**9, 500_000


def network(fabric: Fabric) -> None:
    """Give hosts around one switch."""
    hosts = np.arange(HOSTS)
    fabric.table("nodes", {
        "node": np.arange(HOSTS + 1), "is_switch": np.arange(HOSTS + 1) == HOSTS,
        "tier": np.arange(HOSTS + 1) == HOSTS,
    })  # fmt: skip
    fabric.table("links", {
        "node_a": hosts, "node_b": np.full(HOSTS, HOSTS), "rate_bps": np.full(HOSTS, RATE_BPS),
        "delay_ps": np.full(HOSTS, DELAY_PS),
    })  # fmt: skip
    fabric.forwarding("ns3::EcmpHash")
    fabric.queue("ns3::DropTail")
    fabric.transport("ns3::RoceTransport")


def run(fabric: Fabric) -> dict:
    """Run to the end; return CPU of building and running [s], peak memory [byte] and tables."""
    namespace = fabric.load()
    before = _cpu_s()
    facade = fabric.build(namespace)
    built = _cpu_s()
    while not facade.RunSlice(10**18, 60.0):
        pass
    ran = _cpu_s()
    facade.Finish()
    tables = output_columns(facade)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"build_s": built - before, "run_s": ran - built, "peak_bytes": peak, "tables": tables}


def _cpu_s() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def messages(n: int, start_ps: np.ndarray | None) -> dict:
    """Send n messages in rings, after each other or at given times."""
    fabric = Fabric(seed=1)
    network(fabric)
    step, host = np.divmod(np.arange(n), HOSTS)
    fabric.table("flows", {
        "flow": np.arange(n), "src": host, "dst": (host + 1) % HOSTS,
        "bytes": np.full(n, MESSAGE_BYTES),
        "start_ps": np.zeros(n, dtype=np.int64) if start_ps is None else start_ps,
    })  # fmt: skip
    if start_ps is None:
        later = np.flatnonzero(step > 0)
        before = (step[later] - 1) * HOSTS + (host[later] - 1) % HOSTS
        fabric.table("dependencies", {"flow": later, "after": before})
    got = run(fabric)
    flows = got.pop("tables")["flows"]
    return got | {"start_ps": flows["start_ps"], "end_ps": int(flows["receiver_end_ps"].max())}


def computations(n: int) -> dict:
    """Compute n times on streams of the hosts, each also after one of another stream."""
    fabric = Fabric(seed=1)
    network(fabric)
    fabric.table("flows", {"flow": [0], "src": [0], "dst": [1], "bytes": [1], "start_ps": [0]})
    task = np.arange(n)
    fabric.table("tasks", {
        "task": 1 + task, "kind": np.zeros(n, dtype=np.int64), "node": task % HOSTS,
        "stream": task // HOSTS % 2, "duration_ps": 1000 + task % 7,
    })  # fmt: skip
    later = task[HOSTS:]
    fabric.table("dependencies", {"flow": 1 + later, "after": 1 + later - HOSTS})
    got = run(fabric)
    return got | {"engine_bytes": int(got.pop("tables")["process"]["engine_memory_bytes"][0])}


def alone(work, *arguments) -> dict:
    """Return what a function does in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main() -> None:
    """Print a line per question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--tasks", type=int, default=10_000_000)
    options = parser.parse_args()
    waiting = alone(messages, options.messages, None)
    free = alone(messages, options.messages, waiting["start_ps"])
    assert waiting["end_ps"] == free["end_ps"], "they do not do the same"
    for name, got in (("waiting", waiting), ("with start times", free)):
        print(f"{options.messages:,} messages {name}: build {got['build_s']:.2f} s, run"
              f" {got['run_s']:.2f} s, peak {got['peak_bytes'] / 1e6:.0f} MB")  # fmt: skip
    ratios = [waiting[k] / free[k] for k in ("run_s", "peak_bytes")]
    whole = [got["build_s"] + got["run_s"] for got in (waiting, free)]
    print(f"ratio: run {ratios[0]:.3f}, with building {whole[0] / whole[1]:.3f}, peak memory"
          f" {ratios[1]:.3f}")  # fmt: skip
    if options.tasks:
        none, got = alone(computations, HOSTS), alone(computations, options.tasks)
        each = (got["engine_bytes"] - none["engine_bytes"]) / (options.tasks - HOSTS)
        print(f"{options.tasks:,} computations: {each:.1f} B each in the engine, peak"
              f" {got['peak_bytes'] / 1e6:.0f} MB, build {got['build_s']:.1f} s, run"
              f" {got['run_s']:.1f} s")  # fmt: skip


if __name__ == "__main__":
    main()
