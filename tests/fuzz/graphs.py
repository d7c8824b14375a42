# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the readers of task graphs and of the networks that come with them."""

from collections import Counter
from pathlib import Path
from types import ModuleType

import naive_goal
import naive_nccl
import naive_networks
from compare import both, check_refusal
from flows import COUNTS, STOP_PS, TABLES

from pyorch.errors import PyorchError
from pyorch.spec.network import Network
from pyorch.spec.resolved import Link
from pyorch.topology import ibnetdiscover, nccl_xml
from pyorch.training._protobuf import encoded, framed
from pyorch.training.graph import COMPUTE, MESSAGE, TaskGraph
from pyorch.workload import trace

NETWORK = Network(COUNTS, TABLES["nodes"], TABLES["links"])
LINK = Link(rate_bps=10**11, delay_ps=10**6)


def load_graph(path: Path, kind: str) -> TaskGraph:
    """Return the tasks of a file as a scenario on 128 hosts gets them."""
    params = trace.Params.model_validate(
        {"format": kind, "file": path.name}, context={"folder": path.parent}
    )
    trace.check(params, NETWORK, STOP_PS)
    found = trace.graph_of(params)
    tables = [make(params, TABLES["nodes"], TABLES["links"], 1)
              for make in (trace.flows, trace.tasks)]  # fmt: skip
    assert sum(len(table["start_ps"]) for table in tables) == len(found.kind)
    return found


def described(graph: TaskGraph) -> tuple[int, Counter, Counter]:
    """Return the ranks, what their tasks are, and what waits for what, with how often."""
    names = [
        ("compute", device, ps, stream) if kind == COMPUTE
        else ("message", device, peer, size) if kind == MESSAGE
        else ("point", device)
        for kind, device, peer, ps, size, stream in zip(
            *(column.tolist() for column in (graph.kind, graph.device, graph.peer,
                                             graph.duration_ps, graph.size_bytes, graph.stream)),
            strict=True)
    ]  # fmt: skip
    waits = zip(graph.task.tolist(), graph.after.tolist(), graph.at_sender.tolist(), strict=True)
    edges = {(task, after, end) for task, after, end in waits}
    return graph.devices, Counter(names), Counter((names[a], names[b], e) for a, b, e in edges)


def check_goal(data: bytes, folder: Path) -> bool:
    path = folder / "t.goal"
    path.write_bytes(data)
    return both(lambda: described(load_graph(path, "goal")), lambda: naive_goal.read(data),
                path.name)  # fmt: skip


def check_nccl_log(data: bytes, folder: Path) -> bool:
    """Ranks, sizes of messages of collectives, and who sends what to whom besides."""
    path = folder / "t.log"
    path.write_bytes(data)

    def ours():
        graph = load_graph(path, "nccl_log")
        sent = graph.kind == MESSAGE
        is_p2p = sent & (graph.lane == (graph.lanes.index("p2p") if "p2p" in graph.lanes else -1))
        rows = (column[is_p2p].tolist() for column in (graph.device, graph.peer, graph.size_bytes))
        sizes = Counter(graph.size_bytes[sent & ~is_p2p].tolist())
        return graph.devices, sizes, Counter(zip(*rows, strict=True))

    try:
        return both(ours, lambda: naive_nccl.read(data), path.name)
    except AssertionError as error:  # the second reader follows no algorithm
        assert "in a circle" in str(error) and naive_nccl.may_hang(data), str(error)
        return False


#: Rank 1 of a trace whose rank 0 is under test: node 0 takes what 0 sends, node 1 answers.
PARTNER = framed(
    [
        encoded([(1, "0.0.4")]),
        *(
            encoded([(1, number), (3, kind), (10, encoded([(1, end), (9, 0)], zeros=True)),
                     (10, encoded([(1, "comm_size"), (9, 1000)])),
                     (10, encoded([(1, "comm_tag"), (9, number)], zeros=True))])
            for number, kind, end in ((0, 6, "comm_src"), (1, 5, "comm_dst"))
        ),
    ]
)  # fmt: skip


def check_chakra(data: bytes, folder: Path) -> bool:
    """The trace of rank 0 beside a good one of rank 1: read as a graph that can run, or refused."""
    (folder / "t.0.et").write_bytes(data)
    (folder / "t.1.et").write_bytes(PARTNER)
    try:
        graph = load_graph(folder / "t.0.et", "chakra")
    except PyorchError as error:
        check_refusal(error, "t")
        return False
    assert graph.devices == 2
    sent = Counter(zip(graph.device[graph.kind == MESSAGE].tolist(),
                       graph.size_bytes[graph.kind == MESSAGE].tolist(), strict=True))  # fmt: skip
    assert sent[1, 1000] >= 1, "what rank 1 sends is not there"
    return True


def check_nccl_xml(data: bytes, folder: Path) -> bool:
    """Each GPU has a cable of the rate of its NVLinks to one switch."""

    def ours():
        params = nccl_xml.Params.model_validate({"file": "net.yaml"}, context={"folder": folder})
        links = nccl_xml.tables(params, LINK)["links"]
        n = len(links["node_a"])
        assert links["node_a"].tolist() == list(range(n)) and set(links["node_b"].tolist()) == {n}
        return links["rate_bps"].tolist()

    check_network(nccl_xml, data, folder)
    return both(ours, lambda: naive_networks.nccl_xml(data), "net.yaml")


def check_ibnetdiscover(data: bytes, folder: Path) -> bool:
    """Hosts, switches, and the rates of cables between them."""

    def ours():
        params = ibnetdiscover.Params.model_validate(
            {"file": "net.yaml"}, context={"folder": folder}
        )
        tables = ibnetdiscover.tables(params, LINK)
        links, is_switch = tables["links"], tables["nodes"]["is_switch"].astype(bool)
        ends = zip(is_switch[links["node_a"]].tolist(), is_switch[links["node_b"]].tolist(),
                   links["rate_bps"].tolist(), strict=True)  # fmt: skip
        return int((~is_switch).sum()), int(is_switch.sum()), sorted(ends)

    check_network(ibnetdiscover, data, folder)
    return both(ours, lambda: naive_networks.ibnetdiscover(data, LINK.rate_bps), "net.yaml")


def check_network(module: ModuleType, data: bytes, folder: Path, **more: object) -> bool:
    """A network that is one, or a refusal in one line; `more` are other parameters."""
    path = folder / "net.yaml"
    path.write_bytes(data)
    try:
        given = {"file": path.name, **more}
        params = module.Params.model_validate(given, context={"folder": folder})
        tables, counts = module.tables(params, LINK), module.counts(params)
        for said in getattr(module, "remarks", lambda _: ())(params):
            assert path.name in said and "\n" not in said
    except PyorchError as error:
        check_refusal(error, path.name)
        return False
    nodes, links = tables["nodes"], tables["links"]
    ends = Counter(links["node_a"].tolist()) + Counter(links["node_b"].tolist())
    hosts = nodes["node"][nodes["is_switch"] == 0].tolist()
    assert set(hosts) <= set(ends) <= set(nodes["node"].tolist()), "a host without a cable"
    assert counts["cables"] == len(links["node_a"])
    assert counts["hosts"] == int((nodes["is_switch"] == 0).sum())
    assert (links["rate_bps"] > 0).all() and (links["delay_ps"] >= 0).all()
    return True
