# SPDX-License-Identifier: GPL-2.0-only
"""A collective as NCCL does it: its algorithm, protocol and channels, as nccl-tests measures it.

GPUs that follow each other share a node: `local` of them. Channel c begins its ring, or its chain
in each node of a tree, at place c. What NCCL chooses is found when a scenario is resolved, and
stands in its spec. A message carries a chunk for the next GPU, with the flags of its protocol.

Source: NCCL 2.30.7, see `_nccl_choice` and `_nccl_tables`; sizes of chunks: src/enqueue.cc.
"""

from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, model_validator
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from pyorch.collective import direct, double_tree, in_network, ring
from pyorch.collective._graph import (
    AT_RECEIVER,
    Call,
    Graph,
    among,
    in_chunks,
    messages,
)
from pyorch.spec.fields import (
    Closed,
    Count,
    FieldError,
    Grown,
    MessageBytes,
    Name,
    RateBps,
    TimePs,
)
from pyorch.spec.files import InputFile
from pyorch.spec.limits import MOST_FLOWS, MOST_NODES
from pyorch.spec.network import Network
from pyorch.workload import _nccl_choice as choices
from pyorch.workload import _nccl_graph as graphs
from pyorch.workload import _nccl_tables as nccl
from pyorch.workload._hosts import hosts
from pyorch.workload._queue_pairs import QueuePairs, over_queue_pairs

DERIVED: dict[str, Any] = {"derived": True}
_PS_PER_US = 10**6
_BY_SWITCHES = ("nvls", "collnet")
Operation = Literal[
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "send_recv"
]


class Choice(Closed):
    """What NCCL has chosen: who looks at a spec finds it here.

    Channels share the data, and each has its share in `chunks` parts. `expected_ps` is what NCCL
    expects it to take; `base_ps` passes before the first step, and `step_ps` in each step in a
    node, `far_step_ps` between nodes, beside what links take [ps].
    """

    algorithm: str
    protocol: str
    channels: int
    chunks: int
    expected_ps: int
    base_ps: int
    step_ps: int
    far_step_ps: int


class Params(Grown):
    """The operation, the GPUs, and what NCCL may choose.

    `algorithm` and `protocol` leave one alone to choose, as NCCL_ALGO and NCCL_PROTO do. Switches
    add only if `in_network` names the transport of theirs. `nic_rate` is that of the NIC of a GPU,
    for jobs of several nodes. `graph` is what NCCL has found in a node, with the GPUs of each
    channel in their order.
    """

    LATER = ("graph",)

    operation: Operation
    data_bytes: MessageBytes = Field(alias="bytes")
    ranks: Annotated[int, Field(strict=True, ge=2, le=MOST_NODES)]
    local: Count
    gpu: Literal["ampere", "hopper", "blackwell"] = "hopper"
    nic_rate_bps: RateBps | None = Field(None, alias="nic_rate")
    algorithm: Literal["any", "ring", "tree", "collnet", "nvls"] = "any"
    protocol: Literal["any", "ll", "ll128", "simple"] = "any"
    in_network: Name | None = None
    graph: InputFile | None = None
    queue_pairs: QueuePairs = QueuePairs()
    first_host: Annotated[int, Field(strict=True, ge=0)] = 0
    start_ps: TimePs = Field(0, alias="start")
    choice: Choice = Field(None, json_schema_extra=DERIVED)

    @model_validator(mode="before")
    @classmethod
    def _has_no_choice(cls, given: object) -> object:
        """Refuse a scenario that says what NCCL chooses."""
        if isinstance(given, dict) and "choice" in given:
            raise FieldError("choice", "is NCCL's. Leave it out; write algorithm and protocol.")
        return given

    @model_validator(mode="after")
    def _choose(self, info: ValidationInfo) -> "Params":
        """Return these parameters with what NCCL chooses."""
        if self.ranks % self.local:
            raise FieldError(
                "ranks", f"{self.ranks} GPUs are not nodes of {self.local}. Write a multiple of"
                f" {self.local}.",
            )  # fmt: skip
        if (self.ranks > self.local) != (self.nic_rate_bps is not None):
            key, do = ("ranks", "write nic_rate") if self.ranks > self.local else (
                "nic_rate", "leave it out")  # fmt: skip
            nodes = self.ranks // self.local
            raise FieldError(key, f"{nodes} nodes of {self.local} GPUs: {do}.")
        return self.model_copy(update={"choice": _choice(self, info.context or {})})

    @property
    def reduced_by_switches(self) -> bool:
        """Whether switches add up what GPUs send."""
        return self.choice.algorithm in _BY_SWITCHES

    @property
    def carrier(self) -> str | None:
        """The name of the transport, if it is another one than that of the workload."""
        return self.in_network if self.reduced_by_switches else None


def _choice(params: Params, context: dict[str, Any]) -> Choice:
    """Return what NCCL chooses; its latencies of steps include those of the links."""
    machine = choices.Machine(
        params.gpu, params.ranks, params.local, params.nic_rate_bps or 0,
        params.in_network is not None, _graphs(params),
    )  # fmt: skip
    only = ("" if name == "any" else name for name in (params.algorithm, params.protocol))
    found = choices.choose(machine, params.operation, params.data_bytes, *only)
    if found is None:
        raise FieldError(
            "algorithm", f"{params.algorithm} with protocol {params.protocol} does no"
            f" {params.operation} of these GPUs. Write any; nvls and collnet need in_network.",
        )  # fmt: skip
    near_ps, far_ps = _paths_ps(params, context)
    name, protocol = found.algorithm, found.protocol
    step_ps, far_step_ps = (
        round(choices.step_us(machine, name, protocol, is_far) * _PS_PER_US) if there_are else 0
        for is_far, there_are in ((False, params.local > 1), (True, machine.nodes > 1))
    )
    return Choice(
        algorithm=name, protocol=protocol, channels=found.channels,
        chunks=_chunks(params, found), expected_ps=round(found.expected_us * _PS_PER_US),
        base_ps=round(choices.base_us(name, protocol) * _PS_PER_US),
        step_ps=max(0, step_ps - near_ps), far_step_ps=max(0, far_step_ps - far_ps),
    )  # fmt: skip


def _graphs(params: Params) -> graphs.Graphs | None:
    """Return what NCCL has found in a node, if a file says so."""
    if params.graph is None:
        return None
    return graphs.read(params.graph, params.local, params.ranks // params.local)


def remarks(params: Params) -> tuple[str, ...]:
    """Return what the file of NCCL's graphs says and is not used."""
    if (its := _graphs(params)) is None:
        return ()
    said = [f"not used: {its.unused}."] if its.unused else []
    if its.has_nics:
        said.append("NICs of its channels are not followed; a GPU sends by its own.")
    return tuple(f"{params.graph['path']}: {line}" for line in said)


def _chunks(params: Params, found: choices.Choice) -> int:
    """Return in how many parts a channel sends its data."""
    if found.algorithm not in nccl.CHUNK_BYTES:
        return 1
    is_broadcast = params.operation == "broadcast"
    kind = "tree" if is_broadcast else found.algorithm  # neither has a part for each rank
    at_once = nccl.CHUNK_BYTES[kind][found.protocol] * _shares(found)
    return -(-params.data_bytes // (at_once * (params.ranks if kind == "ring" else 1)))


def _shares(found: choices.Choice | Choice) -> int:
    """Return how many channels share the data; of trees a pair, so that each has one of the two."""
    return found.channels + found.channels % 2 if found.algorithm == "tree" else found.channels


def _paths_ps(params: Params, context: dict[str, Any]) -> tuple[int, int]:
    """Return the delays of the links between two GPUs of a node, and between two nodes [ps]."""
    if "link" not in context:
        return 0, 0
    its = context["topology"].tables(context["link"])
    ids = hosts(its["nodes"])
    if params.first_host + params.ranks > len(ids):
        return 0, 0  # `check` says so
    first = int(ids[params.first_host])
    ends = np.concatenate([[its["links"]["node_a"], its["links"]["node_b"]],
                           [its["links"]["node_b"], its["links"]["node_a"]]], axis=1)  # fmt: skip
    forwards = np.isin(ends[0], ids, invert=True) | (ends[0] == first)
    delays = np.tile(its["links"]["delay_ps"], 2)[forwards].astype(float)
    n = int(its["nodes"]["node"].max()) + 1
    # Parallel links would add up: the shortest of them comes last.
    order = np.argsort(-delays, kind="stable")
    tail, head = ends[:, forwards][:, order]
    shortest = dict(zip(zip(tail.tolist(), head.tolist(), strict=True), delays[order], strict=True))
    tails, heads = zip(*shortest, strict=True)
    graph = csr_array((list(shortest.values()), (tails, heads)), shape=(n, n))
    to_ps = dijkstra(graph, indices=first)
    near = int(ids[params.first_host + min(1, params.local - 1)])
    far = int(ids[params.first_host + (params.local if params.ranks > params.local else 0)])
    near_ps, far_ps = (int(ps) if np.isfinite(ps) else 0 for ps in to_ps[[near, far]])
    return near_ps, far_ps


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if there are not so many hosts, or too many messages."""
    available = network.counts["hosts"]
    if params.first_host + params.ranks > available:
        raise FieldError(
            "ranks", f"{params.ranks} GPUs from host {params.first_host} on;"
            f" there are {available} hosts. Lower ranks.",
        )  # fmt: skip
    module, own, call, times = _parts(params)
    n_messages = module.counts(call, own).messages * times if module else params.ranks
    if params.queue_pairs.split:
        n_messages *= params.queue_pairs.per_connection
    if n_messages > MOST_FLOWS:
        raise FieldError(
            "ranks", f"{n_messages:,} messages in all; at most {MOST_FLOWS:,}. Lower ranks, bytes"
            " or queue pairs.",
        )  # fmt: skip


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the messages, channel after channel."""
    graph, connection = planned(params)
    ids = hosts(nodes)[params.first_host :]
    first_ps = np.full(len(graph.src), params.start_ps + params.choice.base_ps, dtype=np.int64)
    first_ps += _steps_ps(params, graph)
    found = {"src": ids[graph.src], "dst": ids[graph.dst], "bytes": graph.bytes}
    return {**found, "start_ps": first_ps, "connection": connection}


def dependencies(params: Params) -> dict[str, np.ndarray]:
    """Return which messages wait for which, and how long each step takes beside the network.

    A chunk follows another without such a time: what prepares it runs while the other is sent.
    """
    graph, _ = planned(params)
    delay_ps = np.where(graph.at_sender == AT_RECEIVER, _steps_ps(params, graph)[graph.flow], 0)
    return {"flow": graph.flow, "after": graph.after, "at_sender": graph.at_sender,
            "delay_ps": delay_ps}  # fmt: skip


def _steps_ps(params: Params, graph: Graph) -> np.ndarray:
    """Return the latency of the step of each message [ps]."""
    if params.reduced_by_switches:
        return np.full(len(graph.src), max(params.choice.step_ps, params.choice.far_step_ps))
    is_far = graph.src // params.local != graph.dst // params.local
    return np.where(is_far, params.choice.far_step_ps, params.choice.step_ps)


def planned(params: Params) -> tuple[Graph, np.ndarray]:
    """Return the messages of all channels, and the queue pair that carries each, from 1."""
    its = _graphs(params)
    found = getattr(its, params.choice.algorithm, None)
    return _planned(params.model_copy(update={"graph": None}), found)


@lru_cache(maxsize=4)
def _planned(params: Params, found: graphs.Graph | None) -> tuple[Graph, np.ndarray]:
    module, own, call, times = _parts(params, found)
    if module is None:
        rank = np.arange(params.ranks)
        graph = messages(rank, (rank + 1) % params.ranks, call.data_bytes, 0)
    else:
        graph = in_chunks(module.graph(call, own), params.choice.chunks)
    lanes = times // params.choice.chunks
    one = len(graph.src)
    graph = among(graph, _ranks_of_channels(params, lanes, found))
    is_far = graph.src // params.local != graph.dst // params.local
    lane = np.repeat(np.arange(lanes), one)
    return over_queue_pairs(graph, lane, params.queue_pairs, is_far)


def _parts(params: Params, found: graphs.Graph | None = None) -> tuple[Any, Any, Call, int]:
    """Return the algorithm of a chunk of a channel, its parameters, its call, and their number.

    No algorithm: every GPU sends to the next.
    """
    n, choice = params.ranks, params.choice
    name, protocol, shares = choice.algorithm, choice.protocol, _shares(choice)
    if name in _BY_SWITCHES:
        size = params.data_bytes
        if name == "nvls":  # one n-th of the sum comes to each GPU, which sends it to all
            size = -(-size * (n + 1) // n)
            size = -(-100 * size // round(100 * nccl.NVLS_SHARE[params.gpu]))
        return in_network, in_network.Params(), Call(params.operation, n, size), 1
    if name == choices.POINT_TO_POINT:
        if params.operation == "send_recv":
            return None, None, Call("", n, on_wire_bytes(params.data_bytes, protocol)), 1
        part = on_wire_bytes(-(-params.data_bytes // n), protocol)
        return direct, direct.Params(), Call("all_to_all", n, part * n), 1
    parts = shares * choice.chunks
    if name == "tree":
        half = on_wire_bytes(-(-params.data_bytes // parts), protocol)
        call = Call(params.operation, n, 2 * half)
        at = nccl.TREE_CHILDREN[found.pattern] if found and params.local > 1 else (0, 0)
        return double_tree, double_tree.Params(local=params.local, children=at), call, parts // 2
    if params.operation == "broadcast":
        return ring, ring.Params(), Call("broadcast", n, on_wire_bytes(
            -(-params.data_bytes // parts), protocol)), parts  # fmt: skip
    part = on_wire_bytes(-(-params.data_bytes // (parts * n)), protocol)
    return ring, ring.Params(), Call(params.operation, n, part * n), parts


def _ranks_of_channels(params: Params, lanes: int, found: graphs.Graph | None) -> np.ndarray:
    """Return the GPUs of each channel in the order of its ring, or of its chains."""
    node, place = np.divmod(np.arange(params.ranks), params.local)
    if params.choice.algorithm not in ("ring", "tree"):
        return np.arange(params.ranks)[None]
    first = np.arange(lanes)[:, None]
    if found:
        order = node * params.local + np.array(found.orders)[first % found.channels, place]
    else:
        order = node * params.local + (place + first) % params.local
    if params.operation == "broadcast":  # from GPU 0
        turned = [np.roll(row, -int(np.flatnonzero(row == 0)[0])) for row in order]
        order = np.stack(turned)
    return order


def on_wire_bytes(data_bytes: int, protocol: str) -> int:
    """Return the lines of a protocol that carry so many bytes of data [byte].

    LL has a flag as long as the data, LL128 8 B in each 128 B, Simple none.

    Examples
    --------
    >>> on_wire_bytes(120, "ll128"), on_wire_bytes(1024, "ll")
    (128, 2048)
    """
    data, line = nccl.LINES_BYTES[protocol]
    return -(-data_bytes // data) * line
