# SPDX-License-Identifier: GPL-2.0-only
"""A collective operation in groups of hosts: messages that wait for one another.

Each group does the same at once; `pyorch/collective` has the algorithms. A message starts when what
it waits for has come to its sender and is reduced there, and `step_delay` after that.
"""

from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from pyorch.collective._graph import (
    AT_RECEIVER,
    Call,
    Counts,
    Graph,
    UnequalPartsError,
    counted_in_chunks,
    in_chunks,
    part_bytes,
)
from pyorch.errors import counted, did_you_mean, quoted
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
from pyorch.spec.limits import MOST_FLOWS, MOST_NODES
from pyorch.spec.network import Columns, Network
from pyorch.spec.parts import Part, settled
from pyorch.workload._clear_to_send import ANNOUNCEMENT, ClearToSend, with_announcements
from pyorch.workload._hosts import hosts
from pyorch.workload._placement import Placement, check_placement, placed
from pyorch.workload._queue_pairs import QueuePairs, messages_of, over_queue_pairs


class Algorithm(Part):
    """How an operation is done."""

    PACKAGE = "pyorch.collective"


def _settle(given: object, info: ValidationInfo) -> Algorithm:
    return settled(Algorithm, "algorithm", given, info)


class WithoutSlots(Closed):
    """What groups do for which switches have no room: another algorithm, by another transport."""

    algorithm: Annotated[Algorithm, BeforeValidator(_settle)]
    transport: Name


def _numbered_or_listed(given: Any) -> int | list[list[int]]:
    """Return a number of groups, or the hosts of each."""
    if _is_whole(given, 1):
        return given
    lists = isinstance(given, list) and all(isinstance(group, list) for group in given)
    if lists and all(_is_whole(host, 0) for group in given for host in group):
        return given
    raise ValueError(
        f"{quoted(given)} is neither a number of groups nor a list of lists of hosts. Write"
        " 4, or [[0, 1], [2, 3]]."
    )


def _is_whole(given: object, least: int) -> bool:
    return type(given) is int and least <= given <= MOST_NODES


class Params(Grown):
    """What is done, on how many bytes, and which hosts are in which group.

    `ranks` hosts in each of `groups`; or `groups` lists the hosts of each, counted from 0, by rank.
    `first_host` is where a placement begins, so that several workloads lie side by side.
    `launch_time` passes from the start until ranks begin; a rank reduces what comes to it at
    `reduction_rate`, bits of a message in a second. `without_slots` is followed before a spec is
    made, which has those groups as another workload. With `queue_pairs` messages between
    two ranks have the header of a queue pair of their connection, and not each its own. With
    `clear_to_send` each waits until its receiver has announced a buffer.
    """

    LATER: ClassVar[tuple[str, ...]] = (
        "launch_time_ps",
        "reduction_rate_bps",
        "queue_pairs",
        "clear_to_send",
    )

    algorithm: Annotated[Algorithm, BeforeValidator(_settle)]
    operation: str
    data_bytes: MessageBytes = Field(alias="bytes")
    chunks: Count = 1
    ranks: Annotated[int, Field(strict=True, ge=0)] = 0
    groups: Annotated[int | list[list[int]], BeforeValidator(_numbered_or_listed)] = 1
    placement: Placement = "packed"
    stride: Annotated[int, Field(strict=True, ge=0)] = 0
    first_host: Annotated[int, Field(strict=True, ge=0)] = 0
    step_delay_ps: TimePs = Field(0, alias="step_delay")
    launch_time_ps: TimePs = Field(0, alias="launch_time")
    reduction_rate_bps: RateBps | None = Field(None, alias="reduction_rate")
    start_ps: TimePs = Field(0, alias="start")
    queue_pairs: QueuePairs | None = None
    clear_to_send: ClearToSend | None = None
    without_slots: WithoutSlots | None = Field(None, exclude=True)

    @property
    def reduced_by_switches(self) -> bool:
        """Whether switches add up what ranks send."""
        return bool(getattr(self.algorithm.module, "IN_NETWORK", False))

    @model_validator(mode="after")
    def _fits(self) -> "Params":
        """Refuse what contradicts itself, and what the algorithm cannot do."""
        _check_members(self)
        algorithms = [self.algorithm]
        if self.without_slots is not None:
            if not getattr(self.algorithm.module, "IN_NETWORK", False):
                raise FieldError("without_slots", f"{self.algorithm.type} asks for no slots.")
            algorithms.append(self.without_slots.algorithm)
        for algorithm in algorithms:
            operations = algorithm.module.OPERATIONS
            if self.operation not in operations:
                raise FieldError(
                    "operation", f"{algorithm.type} does no {quoted(self.operation)}. It does"
                    f" {', '.join(operations)}.{did_you_mean(self.operation, operations)}",
                )  # fmt: skip
            for size in sizes(self):
                _check_call(self, algorithm, size)
        return self


def _check_members(params: Params) -> None:
    """Raise FieldError if hosts are said twice or not at all."""
    if isinstance(params.groups, int):
        if params.ranks < 2:
            raise FieldError(
                "ranks", f"{params.ranks} ranks in each group. Write 2 or more, or groups as lists"
                " of hosts.",
            )  # fmt: skip
        check_placement(params.placement, params.stride, params.first_host)
        return
    if params.ranks or params.placement != "packed" or params.stride or params.first_host:
        raise FieldError(
            "groups", "lists the hosts, so leave ranks, placement, stride and first_host out."
        )
    if not params.groups or min(map(len, params.groups)) < 2:
        raise FieldError("groups", "every group has two or more hosts.")
    members = np.concatenate([np.array(group) for group in params.groups])
    ids, repeats = np.unique(members, return_counts=True)
    if (repeats > 1).any():
        raise FieldError(
            "groups", f"host {ids[repeats > 1][0]} is there {repeats.max()} times; groups of one"
            " workload do not overlap. Give it one place, or write two workloads.",
        )  # fmt: skip


def _check_call(params: Params, algorithm: Algorithm, ranks: int) -> None:
    """Raise FieldError unless an algorithm can do this among so many."""
    module, own = algorithm.module, algorithm.params
    whole = Call(params.operation, ranks, params.data_bytes)
    chunk = whole._replace(data_bytes=part_bytes(whole, params.chunks))
    try:
        module.check(chunk, own)
    except UnequalPartsError as error:
        raise UnequalPartsError(chunk.data_bytes, error.parts, params.chunks) from None
    except FieldError as error:
        at = f"algorithm.{error.field}" if error.field in type(own).model_fields else error.field
        raise FieldError(at, str(error)) from None


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if there are not so many hosts, or too many messages."""
    available = network.counts["hosts"]
    if isinstance(params.groups, int):
        needed = _host_index(params, network.nodes, network.links, 0).max() + 1
        if params.placement == "random":
            needed = params.groups * params.ranks
        if needed > available:
            raise FieldError(
                "first_host" if params.first_host else "groups",
                f"{counted(params.groups, 'group')} of {params.ranks} ranks need {needed} hosts;"
                f" there are {available}. Lower"
                f" {f'first_host ({params.first_host}), ' * bool(params.first_host)}groups or"
                " ranks.",
            )  # fmt: skip
    elif (last := max(map(max, params.groups))) >= available:
        raise FieldError(
            "groups", f"there is no host {last}. The {available} hosts are 0 to {available - 1}."
        )
    n_messages = sum(counts(params, size).messages for size in sizes(params))
    if params.clear_to_send is not None:
        n_messages *= 2
    if params.queue_pairs is not None and params.queue_pairs.split:
        n_messages *= params.queue_pairs.per_connection
    if n_messages > MOST_FLOWS:
        raise FieldError(
            "groups", f"{n_messages:,} messages in all; at most {MOST_FLOWS:,}. Lower groups, ranks"
            " or chunks.",
        )  # fmt: skip


def remarks(params: Params) -> tuple[str, ...]:
    """Return what the file of an algorithm says and is not used."""
    its = getattr(params.algorithm.module, "remarks", None)
    return its(params.algorithm.params) if its else ()


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the messages, group after group."""
    ids = hosts(nodes)
    found = []
    for ranks in members(params, nodes, links, seed):
        graph, connection, _ = _planned(params, len(ranks))
        found.append((ids[ranks][graph.src], ids[ranks][graph.dst], graph.bytes, connection))
    src, dst, size, connection = (np.concatenate(column) for column in zip(*found, strict=True))
    start_ps = np.full(len(src), params.start_ps + params.launch_time_ps, dtype=np.int64)
    flows = {"src": src, "dst": dst, "bytes": size, "start_ps": start_ps}
    return flows if params.queue_pairs is None else {**flows, "connection": connection}


def dependencies(params: Params) -> dict[str, np.ndarray]:
    """Return which rows of `flows` wait for which: flow, after, at_sender, and delay_ps if any."""
    found, first = [], 0
    for size in sizes(params):
        graph = graph_of(params, size)
        rows = (graph.flow + first, graph.after + first, graph.at_sender)
        found.append((*rows, delays_ps(params, size)))
        first += len(graph.src)
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    names = ["flow", "after", "at_sender", "delay_ps"]
    if not columns[-1].any():
        names.pop()
    return dict(zip(names, columns, strict=False))


def delays_ps(params: Params, ranks: int) -> np.ndarray:
    """Return how long after the end of what it waits for each message starts, by dependency [ps].

    What has come to its sender may have to be reduced first. Announcements take no such time.
    """
    graph = graph_of(params, ranks)
    came = graph.at_sender == AT_RECEIVER
    after_ps = params.step_delay_ps + np.where(came, reductions_ps(params, ranks)[graph.after], 0)
    announced = (graph.step[graph.flow] == ANNOUNCEMENT) | (graph.step[graph.after] == ANNOUNCEMENT)
    return np.where(announced, 0, after_ps)


def reductions_ps(params: Params, ranks: int) -> np.ndarray:
    """Return how long the receiver of each message needs to reduce it, 0 if it does not [ps].

    Parts of a message that is split are reduced together: each takes as long as the whole one, so
    that the last of them to come decides.
    """
    graph, _, message = _planned(params, ranks)
    if params.reduction_rate_bps is None:
        return np.zeros(len(graph.src), dtype=np.int64)
    whole_bytes = np.zeros(message[-1] + 1, dtype=np.int64)
    np.add.at(whole_bytes, message, graph.bytes)
    sizes_bytes, place = np.unique(whole_bytes, return_inverse=True)
    needed_ps = [reduction_ps(params, size) for size in sizes_bytes.tolist()]
    return np.where(graph.reduced, np.array(needed_ps, dtype=np.int64)[place][message], 0)


def reduction_ps(params: Params, size_bytes: int) -> int:
    """Return how long a rank needs to add what has come to what it has [ps]."""
    rate_bps = params.reduction_rate_bps
    return 0 if rate_bps is None else -(-8 * 10**12 * size_bytes // rate_bps)


def messages_in(params: Params, ranks: int) -> np.ndarray:
    """Return which message each row of `graph_of` is, from 0; the parts of one have its number."""
    return _planned(params, ranks).message


def sizes(params: Params) -> list[int]:
    """Return how many ranks each group has."""
    if isinstance(params.groups, int):
        return [params.ranks] * params.groups
    return [len(group) for group in params.groups]


def graph_of(params: Params, ranks: int) -> Graph:
    """Return the messages of one group of so many ranks, all chunks."""
    return _planned(params, ranks).graph


class _Planned(NamedTuple):
    """The messages of one group, or the parts into which queue pairs cut them.

    `connection` is the queue pair of each, 0 of a header of its own; `message` which one it is, or
    is a part of.
    """

    graph: Graph
    connection: np.ndarray
    message: np.ndarray


def _planned(params: Params, ranks: int) -> _Planned:
    """Return what one group of so many ranks sends."""
    return _graph(
        params.algorithm, params.operation, ranks, params.data_bytes, params.chunks,
        params.clear_to_send, params.queue_pairs,
    )  # fmt: skip


def counts(params: Params, ranks: int) -> Counts:
    """Return the closed form of `graph_of`."""
    algorithm = params.algorithm
    call = Call(params.operation, ranks, params.data_bytes // params.chunks)
    return counted_in_chunks(algorithm.module.counts(call, algorithm.params), params.chunks)


@lru_cache(maxsize=4)
def _graph(
    algorithm: Algorithm,
    operation: str,
    ranks: int,
    data_bytes: int,
    chunks: int,
    clear_to_send: ClearToSend | None,
    pairs: QueuePairs | None,
) -> _Planned:
    graph = algorithm.module.graph(Call(operation, ranks, data_bytes // chunks), algorithm.params)
    whole = in_chunks(graph, chunks)
    lane = np.zeros(len(whole.src), dtype=np.int64)
    if clear_to_send is not None:
        whole = with_announcements(whole, lane, clear_to_send)
        lane = np.zeros(len(whole.src), dtype=np.int64)
    if pairs is None:
        return _Planned(whole, lane, np.arange(len(lane)))
    cut, pair = over_queue_pairs(whole, lane, pairs, whole.step != ANNOUNCEMENT)
    return _Planned(cut, pair, messages_of(pair, pairs))


def listed(params: Params, groups: list[list[int]], algorithm: Algorithm) -> Params:
    """Return the parameters with these groups, which an algorithm serves."""
    return Params.model_construct(
        algorithm=algorithm, operation=params.operation, data_bytes=params.data_bytes,
        chunks=params.chunks, groups=groups, step_delay_ps=params.step_delay_ps,
        launch_time_ps=params.launch_time_ps, reduction_rate_bps=params.reduction_rate_bps,
        start_ps=params.start_ps, queue_pairs=params.queue_pairs,
        clear_to_send=params.clear_to_send,
    )  # fmt: skip


def members(params: Params, nodes: Columns, links: Columns, seed: int) -> list[np.ndarray]:
    """Return the hosts of each group, counted from 0, by rank."""
    if isinstance(params.groups, int):
        return list(_host_index(params, nodes, links, seed))
    return [np.array(group) for group in params.groups]


def _host_index(params: Params, nodes: Columns, links: Columns, seed: int) -> np.ndarray:
    """Return the host of each rank, counted from 0, one row per group."""
    return placed(
        (params.groups, params.ranks), params.placement, params.stride, params.first_host, nodes,
        links, seed, "collective",
    )  # fmt: skip
