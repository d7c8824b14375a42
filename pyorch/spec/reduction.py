# SPDX-License-Identifier: GPL-2.0-only
"""Collectives that switches add up: what they need, and groups for which switches have no room."""

import numpy as np

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.network import Network
from pyorch.spec.resolved import Spec, Switch, Transport, Workload

#: Types that add up in the network: at hosts, and in switches.
_REDUCING, _REDUCER = "ns3::ReductionTransport", "ns3::InNetworkReduction"


def check_reduction(spec: Spec) -> None:
    """Raise FieldError unless what is reduced in the network meets switches that do it.

    `ns3::ReductionTransport` carries collectives in_network and nothing else; every switch has
    the program that serves it.
    """
    for load in spec.workload:
        adds = getattr(load.params, "reduced_by_switches", False)
        for transport in {spec.transport[index].type: None for index in load.carriers}:
            if adds != (transport == _REDUCING):
                algorithm = getattr(load.params, "algorithm", None)
                raise FieldError(
                    "transport", f"{transport} carries"
                    f" {getattr(algorithm, 'type', load.type)}. Algorithm in_network"
                    f" and {_REDUCING} need each other.",
                )  # fmt: skip
        if not adds:
            continue
        if spec.engine.type != "packets":
            raise FieldError("engine", "the algorithm in_network is one of packets alone.")
        for its in spec.switch.kinds:
            served = [int(program.attributes["Transport"]) for program in its.programs
                      if program.type == _REDUCER]  # fmt: skip
            if missing := [index for index in load.carriers if index not in served]:
                raise FieldError(
                    "switch.programs", f"no {_REDUCER} serves transport {missing[0]}. Write"
                    f" programs: [{{type: {_REDUCER}, attributes: {{Transport: {missing[0]}}}}}],"
                    " and in every class that has programs.",
                )  # fmt: skip
    reducing = [i for i, t in enumerate(spec.transport) if t.type == _REDUCING]
    for its in spec.switch.kinds:
        for program in its.programs:
            if program.type == _REDUCER and (
                (number := int(program.attributes["Transport"])) not in reducing
            ):
                raise FieldError(
                    "switch.programs", f"{_REDUCER} serves transport {number}, which is no"
                    f" {_REDUCING}. Of these there are {reducing or 'none'}.",
                )  # fmt: skip


def divided(
    load: Workload,
    transports: tuple[Transport, ...],
    switch: Switch,
    network: Network,
    is_job: bool,
    seed: int,
) -> list[Workload]:
    """Return a workload, and behind it its groups without slots, as a workload of their own.

    Groups ask in their order for a window of slots in each switch of their tree. One that does not
    get them where branches meet has none. All groups of this workload reduce at once; those of
    other workloads are not counted.

    Raises
    ------
    FieldError
        There is no such transport, or hosts are handed out for the workloads as they are written.
    """
    other, names = getattr(load.params, "without_slots", None), [its.name for its in transports]
    if other is None:
        return [_carried(load, names)]
    if is_job:
        raise FieldError("without_slots", "makes two workloads of a job. Leave jobs or it out.")
    if other.transport not in names:
        raise FieldError(
            "without_slots.transport", f"no transport is called {quoted(other.transport)}. There"
            f" are {', '.join(names)}.{did_you_mean(other.transport, names)}",
        )  # fmt: skip
    if not isinstance(load.transport, int):
        raise FieldError("transport", "with without_slots all networks have the same. Write one.")
    window = int(transports[load.transport].attributes.get("Window", 0))
    left = _slots(switch, load.transport, network)
    groups: dict[bool, list] = {True: [], False: []}
    for members in load.module.members(load.params, network.nodes, network.links, seed):
        below = _tree(members, len(groups[True]), network)
        fits = {switch: left[switch] >= window for switch in below}
        has_slots = all(fits[switch] for switch in below if len(below[switch]) > 1)
        left[[switch for switch in below if fits[switch]]] -= window * has_slots
        groups[has_slots].append(members.tolist())
    parts = {
        True: (load.params.algorithm, load.transport),
        False: (other.algorithm, names.index(other.transport)),
    }
    return [
        Workload.model_construct(
            type=load.type, params=load.module.listed(load.params, own, algorithm), transport=index
        )
        for (algorithm, index), own in zip(parts.values(), groups.values(), strict=True)
        if own
    ]


def _carried(load: Workload, names: list[str]) -> Workload:
    """Return a workload with the transport that its parameters name, where they name one."""
    for key in ("in_network", "carrier"):
        name = getattr(load.params, key, None)
        if name is not None and name not in names:
            raise FieldError(
                key, f"no transport is called {quoted(name)}. There are {', '.join(names)}."
                f"{did_you_mean(name, names)}",
            )  # fmt: skip
    if name is None:
        return load
    return Workload.model_construct(type=load.type, params=load.params, transport=names.index(name))


def _slots(switch: Switch, transport: int, network: Network) -> np.ndarray:
    """Return the slots that each node has for reductions of a transport, by its id."""
    nodes = network.nodes
    slots = np.zeros(int(nodes["node"].max()) + 1, dtype=np.int64)
    for its in switch.kinds:
        found = [int(program.attributes["Slots"]) for program in its.programs
                 if program.type == _REDUCER and int(program.attributes["Transport"]) == transport
                ]  # fmt: skip
        rows = np.isin(nodes["tier"], getattr(its, "tiers", nodes["tier"]))
        slots[nodes["node"][rows]] = sum(found)
    return slots


def _tree(members: np.ndarray, turn: int, network: Network) -> dict[int, set[int]]:
    """Return who is next below each switch of a group's tree, as `ns3::InNetworkReduction` has it.

    Parameters
    ----------
    members : ndarray
        Its hosts, counted from 0, by rank.
    turn : int
        Which of the groups in the network it is: of equal links towards rank 0 it takes this one.
    """
    nodes, links = network.nodes, network.links
    hosts = np.sort(nodes["node"][nodes["is_switch"] == 0])
    root, *others = hosts[members].tolist()
    tail = np.concatenate([links["node_a"], links["node_b"]])
    head = np.concatenate([links["node_b"], links["node_a"]])
    order = np.lexsort((np.tile(links.get("parallel", 0 * links["node_a"]), 2), head, tail))
    tail, head = tail[order], head[order]
    forwards = (tail == root) | ~np.isin(tail, hosts)
    far = len(tail)  # more hops than there may be
    hops = np.full(int(nodes["node"].max()) + 1, far)
    hops[root] = 0
    for distance in range(far):
        reached = head[forwards & (hops[tail] == distance)]
        hops[reached] = np.minimum(hops[reached], distance + 1)
        if not len(reached):
            break
    below: dict[int, set[int]] = {}
    for at in others:
        while at != root:
            first, last = np.searchsorted(tail, [at, at + 1])
            nearer = head[first:last][hops[head[first:last]] == hops[at] - 1]
            up = int(nearer[turn % len(nearer)])
            switch, child = (at, root) if up == root else (up, at)
            below.setdefault(switch, set()).add(child)
            at = up
    return below
