# SPDX-License-Identifier: GPL-2.0-only
"""What a call of pyorch.Session costs, beside the packets that it brings.

    python benchmarks/session.py

CPU time of this process: messages that start at given times, which a program sends one by one, are
compared with the same messages of the workload flow_table; and calls of `advance` while nothing
arrives.
"""

import resource
import statistics
import tempfile
import time
from pathlib import Path

import pyorch

MESSAGES = 100_000
REPEATS = 3
SPACING_PS = 1_000_000
SCENARIO = {
    "name": "session",
    "topology": {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 4, "spines": 4},
    "link": {"rate": "400 Gb/s", "delay": "500 ns"},
    "switch": {"buffer": "16 MB"},
    "workload": {"type": "session"},
    "transport": {"type": "ns3::RoceTransport"},
    "stop": "10 s",
}


def cpu_s(action) -> float:
    """Return the user CPU time of an action in this process [s]."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    action()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


def rows() -> list[tuple[int, int, int, int]]:
    """Return messages of one packet, one after the other."""
    return [(i % 16, (i + 5) % 16, 1000, i * SPACING_PS) for i in range(MESSAGES)]


def run_of_table(folder: Path) -> float:
    """Return the CPU time of the engine for the messages as a workload [s]."""
    path = folder / "flows.csv"
    text = "\n".join(",".join(map(str, row)) for row in rows())
    path.write_text(f"src,dst,bytes,start_ps\n{text}\n")
    scenario = SCENARIO | {"workload": {"type": "flow_table", "file": str(path)}}
    one = pyorch.run(scenario, out=folder / f"run{time.monotonic_ns()}", progress=False)
    return one.provenance["run_cpu_s"]


def sessions() -> tuple[float, float, float]:
    """Return CPU time of sending, of being told of all arrivals, and of idle calls [s]."""
    messages = rows()

    def send():
        for src, dst, size_bytes, start_ps in messages:
            session.send(src, dst, size_bytes, start_ps=start_ps)

    def wait():
        for time_ps in range(1, MESSAGES + 1):
            session.advance(time_ps)

    with pyorch.Session(SCENARIO) as session:
        idle_s = cpu_s(wait)
    with pyorch.Session(SCENARIO) as session:
        send_s, told_s = cpu_s(send), cpu_s(session.run)
    return send_s, told_s, idle_s


def main() -> None:
    """Print the cost of each call [us]."""
    with tempfile.TemporaryDirectory() as folder:
        tables = [run_of_table(Path(folder)) for _ in range(REPEATS)]
    parts = zip(*(sessions() for _ in range(REPEATS)), strict=True)
    send_s, told_s, idle_s = (statistics.median(part) for part in parts)
    table_s = statistics.median(tables)
    costs_s = {
        "send": send_s,
        "advance, nothing arrives": idle_s,
        "advance, a message arrives, beyond its packets": told_s - table_s,
    }
    for what, seconds in costs_s.items():
        print(f"{seconds / MESSAGES * 1e6:6.2f} us  {what}")


if __name__ == "__main__":
    main()
