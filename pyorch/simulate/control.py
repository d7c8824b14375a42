# SPDX-License-Identifier: GPL-2.0-only
"""Pauses a run for its controllers and makes the changes that they decide.

A controller is told what the run has counted up to an instant, before anything of that instant has
happened, and says which rates and paths change in it.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pyorch import plugins

Columns = dict[str, np.ndarray]


class Controller:
    """Who limits and routes the flows of one workload.

    Parameters
    ----------
    workload : mapping
        As in the resolved spec.
    flows : int64
        Ids of its flows, in their order.
    nodes, links : mapping of ndarray
        Tables of the network.
    """

    def __init__(
        self, workload: Mapping[str, object], flows: np.ndarray, nodes: Columns, links: Columns
    ):
        # These take a second, which other runs need not wait.
        load = plugins.on_demand("pyorch.spec.resolved").Workload.model_validate(workload)
        self._counted = plugins.on_demand("pyorch.wan.online").Counted
        self._loop = load.module.loop(load.params, nodes, links)
        self._flows, self._links = flows, links
        self._switches = set(nodes["node"][nodes["is_switch"] != 0].tolist())

    def begin(self, facade) -> None:
        """Admit flows to the rates that they have: refused if one cannot be told another later."""
        for flow, rate_bps in zip(self._flows.tolist(), self._loop.rates_bps, strict=True):
            facade.ChangeRate(0, flow, rate_bps)

    @property
    def next_ps(self) -> int:
        """When the run has to pause next."""
        return self._loop.next_ps

    def act(self, facade, seen: Mapping[str, Columns]) -> None:
        """Change what is to change at `next_ps`, of what has been counted before it."""
        now_ps = self.next_ps
        orders = self._loop.step(self._of(seen))
        for index, rate_bps in orders.rates_bps:
            facade.ChangeRate(now_ps, int(self._flows[index]), rate_bps)
        for index, stream in orders.moved:
            for _, node, peer, parallel, reverse in stream.hops():
                if node in self._switches:
                    flow = int(self._flows[index])
                    facade.ChangeRoute(now_ps, flow, node, peer, parallel, bool(reverse))

    def decisions(self) -> Columns:
        """Return what was seen and decided, one row for each epoch and demand; -1: nothing."""
        rows = self._loop.decisions
        names = ("time_ps", "demand", "sent_bytes", "waiting_bytes", "limit_bps", "granted_bps",
                 "moved_flows", "is_infeasible")  # fmt: skip
        values = {name: [getattr(row, name) for row in rows] for name in names}
        return {
            name: np.array([-1 if value is None else value for value in column], dtype=np.int64)
            for name, column in values.items()
        }

    def _of(self, seen: Mapping[str, Columns]):
        """Return the counters of the flows, and of all links."""
        flows, ports = seen["seen_flows"], seen["seen_ports"]
        place = np.searchsorted(flows["flow"], self._flows)
        own = {name: column[place] for name, column in flows.items()}
        frame_bits = 8.0 * own["wire_bytes"]
        first_copies = own["sent_data_packets"] - own["retransmitted_packets"]
        rates: dict[tuple[int, int, int], int] = {}
        port_bits: dict[tuple[int, int], float] = {}
        names = ("node", "peer", "parallel", "rate_bps", "sent_bytes")
        columns = [ports[name].tolist() for name in names]
        for a, b, parallel, rate_bps, sent in zip(*columns, strict=True):
            cable = (min(a, b), max(a, b), parallel)
            rates[cable] = min(rate_bps, rates.get(cable, rate_bps))
            port_bits[a, b] = port_bits.get((a, b), 0.0) + 8.0 * sent
        ends = [self._links[name].tolist() for name in ("node_a", "node_b", "parallel")]
        cables = [(min(a, b), max(a, b), parallel) for a, b, parallel in zip(*ends, strict=True)]
        return self._counted(
            sent_bits=first_copies * frame_bits,
            whole_bits=-(-own["bytes"] // own["mtu_bytes"]) * frame_bits,
            frame_bits=frame_bits,
            link_rate_bps=np.array([rates[cable] for cable in cables]),
            port_bits=port_bits,
        )


def until_ps(controllers: Sequence[Controller], stop_ps: int) -> int:
    """Return the last instant that may be executed before somebody has to be asked."""
    return min([stop_ps, *(one.next_ps - 1 for one in controllers)])


def act(controllers: Sequence[Controller], facade, seen: Mapping[str, Columns]) -> None:
    """Ask all whose turn it is."""
    now_ps = min(one.next_ps for one in controllers)
    for one in controllers:
        if one.next_ps == now_ps:
            one.act(facade, seen)


def tables(controllers: Sequence[Controller]) -> dict[str, Columns]:
    """Return the table ``control``; no table if nobody has controlled anything."""
    parts = [one.decisions() for one in controllers]
    if not parts:
        return {}
    workload = [np.full(len(part["time_ps"]), i) for i, part in enumerate(parts)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {"control": {"controller": np.concatenate(workload), **columns}}
