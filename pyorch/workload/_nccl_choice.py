# SPDX-License-Identifier: GPL-2.0-only
"""Which algorithm, protocol and channels NCCL takes for a collective, by its published model.

NCCL expects latency + bytes / bandwidth of each algorithm and protocol, and takes the least. This
is that model for GPUs behind NVSwitch with one NIC each, where NCCL finds all that it looks for.

Source: NCCL 2.30.7: src/graph/tuning.cc (ncclTopoTuneModel, ncclTopoGetAlgoTime), src/enqueue.cc
(topoGetAlgoInfo, scheduleCollTasksToPlan), src/graph/search.cc, src/graph/connect.cc.

Not modelled: PAT, NVLSTree, CollNet on nodes of several GPUs, tuner plug-ins, AMD's and Arm's CPUs.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pyorch.workload import _nccl_tables as nccl
from pyorch.workload._nccl_graph import Graph, Graphs

#: Operations that NCCL has algorithms for; others are messages from GPU to GPU.
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")
POINT_TO_POINT = "point_to_point"
ALGORITHMS = ("ring", "tree", "collnet", "nvls")


class Machine(NamedTuple):
    """What NCCL knows of a job.

    Attributes
    ----------
    gpu : str
        Generation: ampere, hopper, blackwell.
    ranks, local : int
        GPUs, and those of a node.
    nic_bps : int
        Rate of the NIC of a GPU [bit/s]; 0 on one node.
    reduces : bool
        Whether switches add.
    graphs : Graphs
        What NCCL has found in a node; without it, what it finds behind NVSwitch.
    """

    gpu: str
    ranks: int
    local: int
    nic_bps: int
    reduces: bool
    graphs: Graphs | None = None

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.ranks // self.local

    def graph(self, algorithm: str) -> Graph | None:
        """Return what NCCL has found for an algorithm; None: nobody says."""
        return getattr(self.graphs, algorithm, None)


class Choice(NamedTuple):
    """How NCCL does a collective, and how long it expects it to take [us]."""

    algorithm: str
    protocol: str
    channels: int
    expected_us: float


def choose(
    machine: Machine, operation: str, data_bytes: int, algorithm: str = "", protocol: str = ""
) -> Choice | None:
    """Return what NCCL takes for so many bytes; None if nothing is left to take.

    Parameters
    ----------
    machine : Machine
        GPUs and network.
    operation : str
        One of `COLLECTIVES`, or what goes from GPU to GPU: all_to_all, send_recv.
    data_bytes : int
        Size in nccl-tests' sense [byte].
    algorithm, protocol : str
        The only one allowed, as with ``NCCL_ALGO`` and ``NCCL_PROTO``; empty: any.

    Examples
    --------
    >>> choose(Machine("hopper", 8, 8, 0, True), "all_reduce", 2**20)[:3]
    ('ring', 'll', 24)
    """
    if operation not in COLLECTIVES:
        return _point_to_point(machine, operation, data_bytes, protocol)
    found = [
        (expected_us, *names)
        for names, expected_us in costs(machine, operation, data_bytes).items()
        if algorithm in ("", names[0]) and protocol in ("", names[1])
    ]
    if not found:
        return None
    least_us, name, its_protocol = min(found, key=lambda row: row[0])
    channels = _channels(machine, operation, data_bytes, name, its_protocol)
    return Choice(name, its_protocol, channels, least_us)


def costs(machine: Machine, operation: str, data_bytes: int) -> dict[tuple[str, str], float]:
    """Return how long NCCL expects each algorithm and protocol to take [us]."""
    found = {}
    for algorithm in _allowed(machine, operation):
        for index, protocol in enumerate(nccl.PROTOCOLS):
            rate = _gb_per_s(machine, operation, algorithm, index)
            if rate is None:
                continue
            late_us = _latency_us(machine, operation, algorithm, index)
            if algorithm == "tree":
                doublings = (data_bytes >> 6).bit_length() - 1
                shares = nccl.TREE_SHARE[index]
                rate *= shares[doublings] if 0 <= doublings < len(shares) else 1.0
            parts = machine.ranks * comm_channels(machine)
            is_plateau = machine.nodes > 1 and data_bytes // parts >= 64
            if (algorithm, protocol, operation) == ("ring", "simple", "all_reduce") and is_plateau:
                late_us *= 1.4
            found[algorithm, protocol] = late_us + data_bytes / (1000 * rate)
    return found


def comm_channels(machine: Machine) -> int:
    """Return how many channels rings and trees have at most."""
    return min(nccl.MOST_CHANNELS, 2 * _graph(machine, "ring")[0])


def step_us(machine: Machine, algorithm: str, protocol: str, between_nodes: bool) -> float:
    """Return NCCL's latency of a step, with what the network takes of it [us]."""
    index, name = nccl.PROTOCOLS.index(protocol), algorithm
    if algorithm == POINT_TO_POINT:
        name = "ring"  # NCCL has no constants of these
    if not between_nodes:
        inside_us = nccl.NVLINK_US[name][index]
        posts = machine.nodes > 1 and name == "ring"
        return max(inside_us, nccl.NET_OVERHEAD_US[index]) if posts else inside_us
    graph = machine.graph(name)
    flushes = 2 if protocol == "simple" else 1
    late_us = graph.late_us * flushes if graph else 0.0
    if machine.local == 1 and name == "ring":  # then latencies show in full
        name = "tree"
    return nccl.NET_US[name][index] + late_us


def base_us(algorithm: str, protocol: str) -> float:
    """Return NCCL's latency of a collective beside its steps [us]."""
    name = "ring" if algorithm == POINT_TO_POINT else algorithm
    return nccl.BASE_US[name][nccl.PROTOCOLS.index(protocol)]


def _allowed(machine: Machine, operation: str) -> Iterator[str]:
    """Yield the algorithms that there are for an operation."""
    yield "ring"
    if operation != "all_reduce":
        return
    yield "tree"
    is_one_node = machine.nodes == 1
    if machine.reduces and not is_one_node and machine.local == 1:
        yield "collnet"
    graph = machine.graph("nvls")
    has_heads = machine.ranks > 2 if graph is None else graph.channels > 1
    if machine.reduces and is_one_node and has_heads and nccl.NVLS_SHARE[machine.gpu] > 0:
        yield "nvls"


def _graph(machine: Machine, algorithm: str) -> tuple[int, float]:
    """Return channels and the speed of each [GB/s] that NCCL finds for rings or trees."""
    channels, speed = _found(machine)
    if graph := machine.graph(algorithm):
        speed = graph.inside if machine.nodes <= 2 else graph.between
    return (machine.graphs and machine.graphs.channels) or channels, speed


def _found(machine: Machine) -> tuple[int, float]:
    """Return channels and their speed [GB/s] behind NVSwitch, with a NIC for each GPU."""
    total = nccl.NVLINK_GB_PER_S[machine.gpu]
    inside, between = nccl.SPEEDS_GB_PER_S[machine.gpu]
    if machine.nodes == 1:
        channels, speeds, most = nccl.CHANNELS_IN_NODE, inside, total / nccl.CHANNELS_IN_NODE
    else:
        channels, speeds = machine.local, between
        most = machine.nic_bps / 8e9
        if machine.local > 1:
            most = min(most, total / machine.local)
    speed = _fastest(speeds, most)
    is_wide = machine.gpu != "ampere" and speed < 50 and channels > 4
    if speed >= 25 and not is_wide:  # each channel twice, at half of the speed
        channels, speed = 2 * channels, speed / 2
    return channels, speed


def _fastest(speeds: tuple[float, ...], most: float) -> float:
    """Return the highest speed up to a limit, the least if there is none [GB/s]."""
    return next((speed for speed in speeds if speed <= most), speeds[-1])


def _gb_per_s(machine: Machine, operation: str, algorithm: str, index: int) -> float | None:
    """Return the bandwidth that NCCL expects, of the data [GB/s]; None if it has no such way."""
    n, gpu = machine.ranks, machine.gpu
    place = min(machine.nodes, 3) - 1
    steps = {"all_reduce": 2 * (n - 1), "broadcast": n}.get(operation, n - 1)
    protocol = nccl.PROTOCOLS[index]
    channels, speed = _graph(machine, "tree" if algorithm == "tree" else "ring")
    bus = channels * speed
    if algorithm in ("nvls", "collnet") and protocol != "simple":
        return None
    if algorithm == "nvls":
        total = nccl.NVLINK_GB_PER_S[gpu] * n / (n - 1)
        heads, speed = n, _fastest(nccl.SPEEDS_GB_PER_S[gpu][0], total / n)
        if graph := machine.graph("nvls"):
            heads, speed = graph.channels, graph.inside
        return 2 * speed * nccl.NVLS_SHARE[gpu] * (heads - 1) * n / steps
    if algorithm == "collnet":
        return bus / 2
    of_ll = (nccl.LL_GB_PER_S[gpu], *nccl.LL_NODES_GB_PER_S)[place]
    if algorithm == "ring":
        if protocol == "ll":
            bus = min(of_ll, bus / 2)
        if protocol == "ll128":
            bus = min(0.92 * bus, channels * nccl.RING_LL128_GB_PER_S[gpu][place])
        return bus * n / steps
    bus = min(0.92 * bus, channels * nccl.TREE_GB_PER_S[gpu][place])
    if protocol == "ll":
        bus = min(bus / 3.8, of_ll)
    if protocol == "ll128":
        share = 7 / 9 if machine.nodes == 1 else 120 / 128
        bus = min(share * bus, channels * nccl.TREE_LL128_GB_PER_S[gpu][place])
    if graph := machine.graph("tree"):
        is_through_one_gpu = nccl.TREE_CHILDREN[graph.pattern] == (0, 0)
    else:
        is_through_one_gpu = machine.local == 1
    if is_through_one_gpu:
        bus *= 0.85
    return bus / 2


def _latency_us(machine: Machine, operation: str, algorithm: str, index: int) -> float:
    """Return the latency that NCCL expects, of all steps [us]."""
    protocol, nodes = nccl.PROTOCOLS[index], machine.nodes
    base, local = base_us(algorithm, protocol), machine.local
    inside_us = step_us(machine, algorithm, protocol, False)
    between_us = step_us(machine, algorithm, protocol, True) if nodes > 1 else 0.0
    if algorithm == "nvls":
        return inside_us
    if algorithm == "collnet":
        return base + between_us
    if algorithm == "tree":
        return base + 2 * ((local - 1) * inside_us + (nodes.bit_length() - 1) * between_us)
    if operation == "broadcast":  # all but the first step hide behind the data
        return base + (nccl.NVLINK_US if nodes == 1 else nccl.NET_US)["ring"][index]
    passes = 2 if operation == "all_reduce" else 1
    outside = passes * (nodes - 1)
    steps = passes * (machine.ranks - 1)
    return base + (steps - outside) * inside_us + outside * between_us


def _channels(machine: Machine, operation: str, data_bytes: int, algorithm: str, protocol: str):
    """Return how many channels share the data."""
    if algorithm not in ("ring", "tree"):
        return 1  # here switches add up what all of them carry
    channels, threads = comm_channels(machine), nccl.THREADS[protocol]
    worth = nccl.THREAD_BYTES[protocol]
    if (algorithm, protocol) == ("ring", "ll"):
        worth *= machine.ranks
    while channels > 1 and data_bytes < channels * threads * worth:
        channels -= 1
    traffic = data_bytes * (2 if operation == "all_reduce" else 1)
    if protocol == "ll":
        traffic *= 4
    return max(1, min(channels, -(-traffic // nccl.CHANNEL_BYTES)))


def _point_to_point(
    machine: Machine, operation: str, data_bytes: int, protocol: str
) -> Choice | None:
    """Return how messages from GPU to GPU go: by LL when they are small and stay in a node."""
    peers = machine.ranks if operation == "all_to_all" else 1
    is_small = machine.nodes == 1 and data_bytes // peers <= nccl.POINT_TO_POINT_LL_BYTES
    chosen = protocol or ("ll" if is_small else "simple")
    if chosen == "ll128":
        return None
    late_us = base_us(POINT_TO_POINT, chosen)
    late_us += step_us(machine, POINT_TO_POINT, chosen, machine.nodes > 1)
    channels, speed = _graph(machine, "ring")
    rate = channels * speed if machine.nodes == 1 else machine.nic_bps / 8e9
    sent = data_bytes * (machine.ranks - 1) / machine.ranks if peers > 1 else data_bytes
    return Choice(POINT_TO_POINT, chosen, 1, late_us + sent / (1000 * rate))
