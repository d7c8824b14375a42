# SPDX-License-Identifier: GPL-2.0-only
"""Takes a resolved spec, returns the node, link and flow tables that the engine reads."""

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pyorch.draws import nth_seed, stream
from pyorch.errors import SpecError
from pyorch.failure._outage import Outages, link_events, loss_changes, merged
from pyorch.render.relays import relayed
from pyorch.spec.fields import FieldError
from pyorch.spec.jobs import nodes_of
from pyorch.spec.resolved import Spec, Workload
from pyorch.training.graph import COMPUTE
from pyorch.workload._hosts import hosts
from pyorch.writing import write_atomically

Tables = dict[str, dict[str, np.ndarray]]
TASK_COLUMNS = ("task", "kind", "node", "stream", "duration_ps", "start_ps", "decides")
WAIT_COLUMNS = ("flow", "after", "at_sender", "delay_ps")


def input_tables(spec: Spec, seed: int | None = None) -> Tables:
    """Return the input tables of a run, by table and column.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    seed : int, optional
        Seed of the workloads instead of that of the run: another draw of the same question.

    Raises
    ------
    SpecError
        The workloads draw no message, or a part of the spec does not fit the network.
    """
    seed = spec.seed if seed is None else seed
    tables = spec.topology.tables(spec.link)
    parts = _parts(spec, tables, seed)
    flows = _joined(parts)
    ids = flows["flow"]
    tables = {"nodes": dict(tables["nodes"]), "links": dict(tables["links"]), "flows": flows}
    _add_classes(spec, tables)
    if jitter_ps := spec.link.jitter_ps:
        tables["links"]["delay_ps"] = _with_jitter(tables["links"], jitter_ps, spec.seed)
    if ratio := spec.link.bit_error_ratio:  # a table of links may have its own
        n_links = len(tables["links"]["node_a"])
        tables["links"].setdefault("bit_error_ratio", np.full(n_links, ratio))
    relay = spec.topology.relays(flows["src"], flows["dst"])
    work = _tasks(spec, tables, seed, _following(ids, relay))
    if not len(ids) and not work and not is_open(spec):
        raise SpecError(f"workload: there is no flow with seed {seed}. Raise load or duration.")
    if work:
        named = [name for name in TASK_COLUMNS if any(name in own for own in work.values())]
        tables["tasks"] = {
            name: np.concatenate([own.get(name, 0 * own["node"]) for own in work.values()])
            for name in named
        }
    waits = _dependencies(spec.workload, parts, ids, work)
    if (rows := np.flatnonzero(relay >= 0)).size:
        tables["flows"], waits = relayed(flows, waits, rows, relay[rows])
    _choose_transports(spec, parts, rows, tables["flows"])
    if waits:
        tables["dependencies"] = waits
    if paths := _routes(spec, parts, ids, tables):
        forwards = np.isin(paths["node"], hosts(tables["nodes"]), invert=True)
        tables["routes"] = {name: column[forwards] for name, column in paths.items()}
    if controlled := _controlled(spec.workload, parts, ids):
        tables["controlled"] = controlled
    tables |= _served(spec, tables, seed, work)
    if spec.trace.nodes:
        tables["sampled"] = {"node": np.array(spec.trace.nodes, dtype=np.int64)}
    if spec.failures:
        found = _outages(spec, tables, seed)
        tables["link_events"] = link_events(found, tables["links"])
        if losses := loss_changes(found, tables["links"]):
            tables["loss_changes"] = losses
        _add_changes(spec, parts, ids, tables)
    return tables


def is_open(spec: Spec) -> bool:
    """Whether a program sends messages while the run goes on: `pyorch.Session`."""
    return any(getattr(load.module, "IS_OPEN", False) for load in spec.workload)


def message_tables(spec: Spec) -> Tables:
    """Return nodes, links and messages of a run, and nothing else: for who asks how large it is.

    Raises
    ------
    SpecError
        As `input_tables`.
    """
    tables = spec.topology.tables(spec.link)
    parts = _parts(spec, tables, spec.seed)
    flows = _joined(parts)
    if not len(flows["flow"]):
        return input_tables(spec)  # knows whether there is other work
    relay = spec.topology.relays(flows["src"], flows["dst"])
    if (rows := np.flatnonzero(relay >= 0)).size:
        flows, _ = relayed(flows, {}, rows, relay[rows])
    _choose_transports(spec, parts, rows, flows)
    return {"nodes": dict(tables["nodes"]), "links": dict(tables["links"]), "flows": flows}


def computing_hosts(spec: Spec) -> dict[int, np.ndarray]:
    """Return the hosts on which each workload computes, counted from 0, by its index; sorted.

    A workload that computes nothing is left out.
    """
    tables = spec.topology.tables(spec.link)
    work = _tasks(spec, tables, spec.seed, 0)
    servers = _served(spec, tables, spec.seed, work).get("servers", {})
    found = {}
    for index, own in work.items():
        nodes = [own["node"][own["kind"] == COMPUTE]]
        if servers:
            nodes.append(servers["host"][servers["workload"] == index])
        at = np.isin(hosts(tables["nodes"]), np.concatenate(nodes))
        if at.any():
            found[index] = np.flatnonzero(at)
    return found


def _joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the flows of all workloads as one table, with their ids."""
    columns = {
        column: np.concatenate([part[column] for part in parts])
        for column in parts[0]
        if column != "flow"
    }
    return {"flow": _flow_ids(parts), **columns}


def _controlled(
    loads: Sequence[Workload], parts: list[dict[str, np.ndarray]], ids: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the flows of workloads that are controlled while a run goes on; no columns: none."""
    found = []
    ends = np.cumsum([len(part["src"]) for part in parts])
    for index, (load, own) in enumerate(zip(loads, np.split(ids, ends[:-1]), strict=True)):
        if load.controller:
            found.append({"workload": np.full(len(own), index), "flow": own})
    return {name: np.concatenate([rows[name] for rows in found]) for name in (found or [{}])[0]}


def _served(spec: Spec, tables: Tables, seed: int, work: dict[int, dict]) -> Tables:
    """Return who asks and who answers, of the workloads that make their messages as a run goes on.

    ``requests`` has the task at which each arrives, ``servers`` the host of each device.
    """
    found: dict[str, list[dict[str, np.ndarray]]] = {"requests": [], "servers": []}
    for index, load in enumerate(spec.workload):
        if hasattr(load.module, "served"):
            nodes = nodes_of(spec.jobs, tables["nodes"], index)
            own_seed = _seed_of_load(spec, index, seed)
            own = load.module.served(load.params, nodes, tables["links"], own_seed)
            own["requests"] = {"task": work[index]["task"], **own["requests"]}
            for name, rows in own.items():
                n_rows = len(next(iter(rows.values())))
                found[name].append({"workload": np.full(n_rows, index), **rows})
    return {
        name: {key: np.concatenate([rows[key] for rows in parts]) for key in parts[0]}
        for name, parts in found.items()
        if parts
    }


def _add_changes(
    spec: Spec, parts: list[dict[str, np.ndarray]], ids: np.ndarray, tables: Tables
) -> None:
    """Add to the tables what becomes of flows as links change: other rates, other paths."""
    found: dict[str, list[dict[str, np.ndarray]]] = {"rate_changes": [], "routes": []}
    ends = np.cumsum([len(part["src"]) for part in parts])
    loads = zip(spec.workload, np.split(ids, ends[:-1]), strict=True)
    for index, (load, own) in enumerate(loads):
        if not hasattr(load.module, "changes"):
            continue
        nodes = nodes_of(spec.jobs, tables["nodes"], index)
        given = (nodes, tables["links"], tables["link_events"])
        try:
            made = load.module.changes(load.params, *given)
        except FieldError as error:
            raise SpecError(f"workload.{index}.{error.field}: {error}") from None
        for name, rows in made.items():
            found[name].append(rows | {"flow": own[rows["flow"]]})
    for name, several in found.items():
        rows = [part for part in several if len(part["flow"])]
        if name == "routes" and rows:
            forwards = [np.isin(r["node"], hosts(tables["nodes"]), invert=True) for r in rows]
            rows = [{k: c[f] for k, c in r.items()} for r, f in zip(rows, forwards, strict=True)]
            first = tables["routes"]
            rows = [{**first, "from_ps": np.zeros(len(first["flow"]), dtype=np.int64)}, *rows]
        if rows:
            tables[name] = {k: np.concatenate([part[k] for part in rows]) for k in rows[0]}


def _add_classes(spec: Spec, tables: Tables) -> None:
    """Number the classes of switches and links from 1, by tier; 0 is what all others are."""
    nodes, links = tables["nodes"], tables["links"]
    if spec.switch.classes:
        nodes["class"] = np.zeros(len(nodes["node"]), dtype=np.int64)
        for index, its in enumerate(spec.switch.classes, start=1):
            nodes["class"][np.isin(nodes["tier"], its.tiers)] = index
    if spec.link.classes:
        tier = np.zeros(int(nodes["node"].max()) + 1, dtype=np.int64)
        tier[nodes["node"]] = nodes["tier"]
        ends = np.sort(np.stack([tier[links["node_a"]], tier[links["node_b"]]]), axis=0)
        links["class"] = np.zeros(len(links["node_a"]), dtype=np.int64)
        for index, links_of in enumerate(spec.link.classes, start=1):
            low, high = links_of.tiers
            links["class"][(ends[0] == low) & (ends[1] == high)] = index


def _with_jitter(links: dict[str, np.ndarray], jitter_ps: int, seed: int) -> np.ndarray:
    """Return delays with a random time up to `jitter_ps` for each cable, by its ids [ps]."""
    parallel = links.get("parallel", np.zeros(len(links["node_a"]), dtype=np.int64))
    order = np.lexsort([parallel, links["node_b"], links["node_a"]])
    delays = np.array(links["delay_ps"], dtype=np.int64)
    delays[order] += stream(seed, "jitter").integers(0, jitter_ps, len(order), endpoint=True)
    return delays


def rows_of_workload(spec: Spec, workload: int) -> np.ndarray:
    """Return the ids of the flows of a workload, then those of its tasks."""
    tables = spec.topology.tables(spec.link)
    parts = _parts(spec, tables, spec.seed)
    ids = _flow_ids(parts)
    relay = spec.topology.relays(*_ends(parts))
    work = _tasks(spec, tables, spec.seed, _following(ids, relay))
    own = np.split(ids, np.cumsum([len(part["src"]) for part in parts])[:-1])[workload]
    return np.concatenate([own, work[workload]["task"]]) if workload in work else own


def _following(ids: np.ndarray, relay: np.ndarray) -> int:
    """Return the first id that no flow has; on the way to a relay a message is a flow too."""
    return int(ids.max(initial=-1)) + 1 + int((relay >= 0).sum())


def _tasks(spec: Spec, tables: Tables, seed: int, following: int) -> dict[int, dict]:
    """Return the computations and barriers of the workloads that have any, by their index.

    Parameters
    ----------
    following : int
        The first id that no flow has.
    """
    found, loads = {}, spec.workload
    for index, load in enumerate(loads):
        if hasattr(load.module, "tasks"):
            nodes = nodes_of(spec.jobs, tables["nodes"], index)
            own_seed = _seed_of_load(spec, index, seed)
            own = load.module.tasks(load.params, nodes, tables["links"], own_seed)
            n_tasks = len(own["node"])
            # Jobs that share a host do not wait for each other's computations.
            own["stream"] = own["stream"] * len(loads) + index
            found[index] = {"task": np.arange(following, following + n_tasks), **own}
            following += n_tasks
    return found


def _dependencies(
    loads: Sequence[Workload],
    parts: list[dict[str, np.ndarray]],
    ids: np.ndarray,
    work: dict[int, dict],
) -> dict[str, np.ndarray]:
    """Return which flows and tasks wait for which, by their ids; no columns if none do."""
    found = []
    ends = np.cumsum([len(part["src"]) for part in parts])
    for index, (load, own) in enumerate(zip(loads, np.split(ids, ends[:-1]), strict=True)):
        if hasattr(load.module, "dependencies"):
            rows = load.module.dependencies(load.params)
            own = np.concatenate([own, work[index]["task"]]) if index in work else own
            found.append(rows | {name: own[rows[name]] for name in ("flow", "after")})
    named = {name for rows in found for name in rows}
    waits = {
        name: np.concatenate([rows.get(name, np.zeros_like(rows["flow"])) for rows in found])
        for name in WAIT_COLUMNS
        if name in named
    }
    return waits if any(map(len, waits.values())) else {}


def _routes(
    spec: Spec, parts: list[dict[str, np.ndarray]], ids: np.ndarray, tables: Tables
) -> dict[str, np.ndarray]:
    """Return the links of paths that are given, by the ids of flows; no columns if none are."""
    found = []
    ends = np.cumsum([len(part["src"]) for part in parts])
    loads = zip(spec.workload, parts, np.split(ids, ends[:-1]), strict=True)
    for index, (load, part, own) in enumerate(loads):
        if not hasattr(load.module, "routes"):
            continue
        nodes = nodes_of(spec.jobs, tables["nodes"], index)
        if rows := load.module.routes(load.params, nodes, tables["links"]):
            # Flows without ids of their own are counted from 0.
            found.append(rows if "flow" in part else rows | {"flow": own[rows["flow"]]})
    return {name: np.concatenate([rows[name] for rows in found]) for name in (found or [{}])[0]}


def flows_wait(spec: Spec) -> bool:
    """Return whether some flow of a resolved spec starts only when another has ended.

    On a topology with rails some may, because they are relayed, unless racks share their NICs.
    """
    counts = spec.topology.counts()
    if "rails" in counts and not counts.get("nics"):
        return True
    for load in spec.workload:
        if hasattr(load.module, "served"):
            return True
        if hasattr(load.module, "dependencies"):
            rows = load.module.dependencies(load.params)
            if len(rows.get("flow", ())):
                return True
    return False


def _seed_of_load(spec: Spec, index: int, seed: int) -> int:
    """Return the seed of a workload: a job that runs alone draws what it draws beside others."""
    alone = None if spec.jobs is None else spec.jobs.only
    return nth_seed(index if alone is None else alone, seed)


def _outages(spec: Spec, tables: Tables, seed: int) -> Outages:
    """Return what happens to links, from all causes."""
    nodes, links, parts = tables["nodes"], tables["links"], []
    for index, failure in enumerate(spec.failures):
        given = nodes, links, nth_seed(index, seed), spec.stop_ps
        parts.append(failure.module.outages(failure.params, *given))
    return merged(parts)


def workload_of_flows(spec: Spec) -> np.ndarray:
    """Return the index of the workload of each flow, in the order of the table of flows."""
    tables = spec.topology.tables(spec.link)
    parts = _parts(spec, tables, spec.seed)
    owner = np.repeat(np.arange(len(parts)), [len(part["src"]) for part in parts])
    return np.concatenate([owner, owner[spec.topology.relays(*_ends(parts)) >= 0]])


def relayed_flows(spec: Spec) -> np.ndarray:
    """Return the rows of the flows that are relayed; their ways to the relay end the table."""
    parts = _parts(spec, spec.topology.tables(spec.link), spec.seed)
    return np.flatnonzero(spec.topology.relays(*_ends(parts)) >= 0)


def _ends(parts: list[dict[str, np.ndarray]]) -> Iterator[np.ndarray]:
    """Yield the senders of all flows, then their receivers."""
    for end in ("src", "dst"):
        yield np.concatenate([part[end] for part in parts])


def _parts(spec: Spec, tables: Tables, seed: int) -> list[dict[str, np.ndarray]]:
    """Return the flows of each workload."""
    parts = [_flows_of(spec, index, tables, seed) for index in range(len(spec.workload))]
    for column in ("rate_bps", "connection"):  # 0: any rate, and a header of its own
        if any(column in part for part in parts):
            for part in parts:
                part.setdefault(column, np.zeros(len(part["src"]), dtype=np.int64))
    taken = 0
    for part in parts:  # no two workloads share a queue pair
        if "connection" in part:
            own = part["connection"]
            part["connection"] = np.where(own > 0, own + taken, 0)
            taken = int(part["connection"].max(initial=taken))
    return parts


def _flows_of(spec: Spec, index: int, tables: Tables, seed: int) -> dict[str, np.ndarray]:
    """Return the flows of one workload."""
    load, nodes = spec.workload[index], nodes_of(spec.jobs, tables["nodes"], index)
    seed = _seed_of_load(spec, index, seed)
    flows = load.module.flows(load.params, nodes, tables["links"], seed)
    return {**flows, "transport": np.full(len(flows["src"]), load.carriers[0], dtype=np.int64)}


def _choose_transports(
    spec: Spec, parts: list[dict[str, np.ndarray]], relayed_rows: np.ndarray, flows: dict
) -> None:
    """Set the transport of each message by the network that carries it, where workloads ask so.

    Parameters
    ----------
    relayed_rows : ndarray
        Rows of the messages whose way to a relay is a row of its own at the end of `flows`.
    flows : dict of ndarray
        The whole table of flows.
    """
    carriers = np.array([load.carriers for load in spec.workload], dtype=np.int64)
    if (carriers == carriers[:, :1]).all():
        return
    owner = np.repeat(np.arange(len(parts)), [len(part["src"]) for part in parts])
    owner = np.concatenate([owner, owner[relayed_rows]])
    flows["transport"] = carriers[owner, spec.topology.reach(flows["src"], flows["dst"])]


def _flow_ids(parts: list[dict[str, np.ndarray]]) -> np.ndarray:
    """Return the id of each flow: its own where a file gives it, else the next free number.

    Raises
    ------
    SpecError
        Two workloads have the same id.
    """
    own = np.concatenate([part["flow"] for part in parts if "flow" in part] or [np.zeros(0)])
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
    """Write tables as ``.npz`` with keys ``<table>.<column>``; equal tables give equal bytes.

    They are compressed at the level that takes least time, which numpy's own writer cannot.
    """
    columns = {f"{t}.{c}": values for t, cs in tables.items() for c, values in cs.items()}

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, values in columns.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)

    write_atomically(path, write)
