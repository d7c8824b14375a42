# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the readers of flows and of sizes of flows."""

import io
import math
from pathlib import Path
from random import Random

import naive
import numpy as np
import pyarrow.parquet as pq
from compare import agree, both, check_refusal

from pyorch.errors import PyorchError
from pyorch.spec.network import Network
from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine
from pyorch.workload import _size_cdf, flow_table, hpcc_flows, htsim_cm, poisson

LINK = Link(rate_bps=10**11, delay_ps=10**6)
SHAPE = leaf_spine.Params.model_validate(
    {"leaves": 16, "hosts_per_leaf": 8, "spines": 8}, context={"link": LINK}
)
TABLES, COUNTS = leaf_spine.tables(SHAPE, LINK), leaf_spine.counts(SHAPE)
N_HOSTS, STOP_PS = 128, 10**12


def load_flows(module, path: Path, **more) -> dict[str, list]:
    """Return the flows of a file as a scenario on 128 hosts gets them."""
    params = module.Params.model_validate(
        {"file": path.name, **more}, context={"folder": path.parent}
    )
    module.check(params, Network(COUNTS, TABLES["nodes"], TABLES["links"]), STOP_PS)
    found = module.flows(params, TABLES["nodes"], TABLES["links"], 1)
    assert all(column.dtype == np.int64 for column in found.values()), "not int64"
    return {name: column.tolist() for name, column in found.items()}


def rows_of(columns: dict[str, list]) -> list[tuple]:
    return list(zip(*(columns[n] for n in ("src", "dst", "bytes", "start_ps")), strict=True))


def can_be_sent(flows: list[tuple[int, int, int, int]], n_hosts: int = N_HOSTS) -> None:
    """Refuse what no host can send: (src, dst, bytes, start)."""
    naive.need(flows, "no flow")
    for src, dst, size, start in flows:
        naive.need(0 <= src < n_hosts and 0 <= dst < n_hosts and src != dst, "hosts")
        naive.need(1 <= size <= 2**53 and 0 <= start < STOP_PS, "size or start")


def check_htsim_cm(data: bytes, folder: Path) -> bool:
    path = folder / "f.cm"
    path.write_bytes(data)

    def ours():
        given = {"file": path.name, "trigger_delay": "1 ps"}  # or news that must travel is refused
        found = load_flows(htsim_cm, path, trigger_delay="1 ps")
        params = htsim_cm.Params.model_validate(given, context={"folder": folder})
        waits = htsim_cm.dependencies(params)
        rows = list(zip(*(waits[n].tolist() for n in ("flow", "after", "at_sender")), strict=True))
        return found, after_all(found["start_ps"], rows, lasts(len(found["src"])))

    def second():
        nodes, flows, triggers = naive.cm(data)
        naive.need(nodes <= N_HOSTS and flows, "nodes or flows")
        names = {"src": "src", "dst": "dst", "bytes": "size", "start_ps": "start", "flow": "id"}
        columns = {
            name: [flow.get(word, 0) for flow in flows]
            for name, word in names.items()
            if name != "flow" or "id" in flows[0]
        }
        can_be_sent(rows_of(columns), nodes)
        return columns, naive.cm_starts(flows, triggers, lasts(len(flows)))

    return both(ours, second, path.name)


def lasts(n_flows: int) -> list[tuple[int, int]]:
    """Return for each flow how long it takes to the end at its receiver, and at its sender."""
    draw = Random(n_flows)
    return [(draw.randrange(1000), draw.randrange(1000)) for _ in range(n_flows)]


def after_all(starts: list[int], waits: list[tuple], lasts: list[tuple[int, int]]) -> list[int]:
    """Return when flows start that wait for all of their rows (flow, after, at_sender)."""
    starts = list(starts)
    for _ in starts:
        for flow, after, at_sender in waits:
            starts[flow] = max(starts[flow], starts[after] + lasts[after][at_sender])
    return starts


def transposed(rows: list[tuple], *names: str) -> dict[str, list]:
    """Return the columns of a table with at least one row."""
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def without(columns: dict, name: str) -> dict:
    return {key: value for key, value in columns.items() if key != name}


def check_hpcc_flows(data: bytes, folder: Path) -> bool:
    path = folder / "flow.txt"
    path.write_bytes(data)

    def second():
        flows = naive.hpcc_flows(data)
        can_be_sent([(src, dst, size, start) for src, dst, _, size, start in flows])
        naive.need(len({group for _, _, group, _, _ in flows}) == 1, "groups")
        return without(transposed(flows, "src", "dst", "group", "bytes", "start_ps"), "group")

    return both(lambda: load_flows(hpcc_flows, path), second, path.name)


def check_flow_table(data: bytes, folder: Path) -> bool:
    """A CSV file of flows."""
    path = folder / "flows.csv"
    path.write_bytes(data)

    def second():
        columns = naive.table(data, ("src", "dst", "bytes"), ("start_ps", "flow"))
        columns.setdefault("start_ps", [0] * len(columns["src"]))
        can_be_sent(rows_of(columns))
        ids = columns.get("flow", [])
        naive.need(len(set(ids)) == len(ids) and all(0 <= i <= 2**62 for i in ids), "ids")
        return columns

    return both(lambda: load_flows(flow_table, path), second, None)


def check_size_cdf(data: bytes, folder: Path) -> bool:
    path = folder / "sizes.txt"
    path.write_bytes(data)

    def ours():
        given = {"sizes_file": path.name, "load": 0.5, "duration": "1 us"}
        params = poisson.Params.model_validate(given, context={"folder": folder})
        mean = _size_cdf.mean_bytes(params.points)
        assert math.isfinite(mean) and mean > 0, f"mean {mean}"
        drawn = _size_cdf.draw(params.points, np.array([0.0, 0.25, 0.5, 0.999, 1 - 2**-53]))
        smallest, largest = params.points[0][0], params.points[-1][0]
        assert (np.diff(drawn) >= 0).all() and drawn[0] >= max(smallest, 1), f"draws {drawn}"
        assert drawn[-1] <= max(largest, 1), f"draws {drawn}"
        return [(size, share) for size, share in params.points]

    def second():
        return [(size, percent / 100) for size, percent in naive.cdf(data)]

    return both(ours, second, path.name)


def check_parquet(data: bytes, folder: Path) -> bool:
    """A Parquet file of flows; its columns may have any type of Arrow."""
    path = folder / "flows.parquet"
    path.write_bytes(data)
    try:
        ours = load_flows(flow_table, path)
    except PyorchError as error:
        check_refusal(error, None)
        return False
    columns = pq.read_table(io.BytesIO(data)).to_pydict()
    columns = {"start_ps": [0] * len(columns["src"]), **columns}
    for name, values in columns.items():
        assert all(type(v) in (int, float) for v in values), f"{name} holds {values[:5]}"
    agree(ours, columns)
    can_be_sent(rows_of(ours))
    return True
