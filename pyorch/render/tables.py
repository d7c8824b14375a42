# SPDX-License-Identifier: GPL-2.0-only
"""Takes a resolved spec, leaves the node, link and flow tables that the engine reads."""

from pathlib import Path

import numpy as np

from pyorch import plugins
from pyorch.errors import SpecError
from pyorch.failure._outage import link_events, together
from pyorch.spec.fields import restore
from pyorch.writing import write_atomically

Tables = dict[str, dict[str, np.ndarray]]


def input_tables(spec: dict, seed: int | None = None) -> Tables:
    """Return the input tables of a run, by table and column.

    Parameters
    ----------
    spec : dict
        Resolved spec.
    seed : int, optional
        Seed of the workloads instead of that of the run: another draw of the same question.
    """
    seed = spec["seed"] if seed is None else seed
    topology = plugins.load("pyorch.topology", spec["topology"]["type"])
    tables = topology.tables(restore(topology.Params, spec["topology"]), spec["link"])
    parts = [
        _flows_of(load, index, tables, seed) for index, load in enumerate(spec["workload"])
    ]  # fmt: skip
    ids = _flow_ids(parts)
    waits = _dependencies(spec["workload"], parts, ids)
    flows = {
        column: np.concatenate([part[column] for part in parts])
        for column in parts[0]
        if column != "flow"
    }
    flows = {"flow": ids, **flows}
    tables = {"nodes": tables["nodes"], "links": dict(tables["links"]), "flows": flows}
    if ratio := spec["link"]["bit_error_ratio"]:  # a table of links may have its own
        n_links = len(tables["links"]["node_a"])
        tables["links"].setdefault("bit_error_ratio", np.full(n_links, ratio))
    if waits := [wait for wait in waits if wait is not None]:
        tables["dependencies"] = {
            column: np.concatenate([wait[column] for wait in waits]) for column in waits[0]
        }
    if spec["trace"]["nodes"]:
        tables["sampled"] = {"node": np.array(sorted(set(spec["trace"]["nodes"])), dtype=np.int64)}
    if spec["failures"]:
        tables["link_events"] = _link_events(spec, tables, seed)
    return tables


def _dependencies(
    loads: list[dict], parts: list[dict[str, np.ndarray]], ids: np.ndarray
) -> list[dict[str, np.ndarray] | None]:
    """Return for each workload which of its flows wait for which, by their ids; None if none do."""
    found = []
    first = 0
    for load, part in zip(loads, parts, strict=True):
        module = plugins.load("pyorch.workload", load["type"])
        own = ids[first : first + len(part["src"])]
        first += len(part["src"])
        if not hasattr(module, "dependencies"):
            found.append(None)
            continue
        rows = module.dependencies(restore(module.Params, load))
        found.append(
            {
                "flow": own[rows["flow"]],
                "after": own[rows["after"]],
                "at_sender": rows["at_sender"].astype(np.int64),
            }
            if len(rows["flow"])
            else None
        )
    return found


def _link_events(spec: dict, tables: Tables, seed: int) -> dict[str, np.ndarray]:
    """Return when links change; the n-th kind of trouble has random streams of its own."""
    parts = []
    for index, failure in enumerate(spec["failures"]):
        module = plugins.load("pyorch.failure", failure["type"])
        params, own_seed = restore(module.Params, failure), seed + (index << 64)
        parts.append(
            module.outages(params, tables["nodes"], tables["links"], own_seed, spec["stop_ps"])
        )
    return link_events(together(parts), tables["links"])


def _flows_of(load: dict, index: int, tables: Tables, seed: int) -> dict[str, np.ndarray]:
    """Return the flows of one workload; the n-th of several has random streams of its own."""
    module = plugins.load("pyorch.workload", load["type"])
    own_seed = seed + (index << 64)
    flows = module.flows(restore(module.Params, load), tables["nodes"], tables["links"], own_seed)
    return {**flows, "transport": np.full(len(flows["src"]), load["transport"], dtype=np.int64)}


def _flow_ids(parts: list[dict[str, np.ndarray]]) -> np.ndarray:
    """Return the id of each flow: its own where a file gives it, else the next free number.

    Raises
    ------
    SpecError
        Two workloads have the same id.
    """
    own = np.concatenate([part["flow"] for part in parts if "flow" in part] or [[]])
    ids, repeats = np.unique(own, return_counts=True)
    if len(ids) and repeats.max() > 1:
        raise SpecError(
            f"workload: flow {int(ids[np.argmax(repeats)])} is in two workloads. Give the flows of"
            " one of the files other ids, or none."
        )
    following = int(ids[-1]) + 1 if len(ids) else 0
    found = []
    for part in parts:
        n_flows = len(part["src"])
        found.append(part.get("flow", np.arange(following, following + n_flows)))
        following += 0 if "flow" in part else n_flows
    return np.concatenate(found).astype(np.int64)


def write_tables(tables: Tables, path: Path | str) -> None:
    """Write tables as ``.npz`` with keys ``<table>.<column>``; equal tables give equal bytes."""
    columns = {f"{t}.{c}": values for t, cs in tables.items() for c, values in cs.items()}
    write_atomically(path, lambda file: np.savez_compressed(file, **columns))
