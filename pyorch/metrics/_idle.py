# SPDX-License-Identifier: GPL-2.0-only
"""What each message of a run would take if it had the network for itself."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from pyorch.spec.resolved import Spec
from pyorch.theory import alone, hosts
from pyorch.theory.fct import MIN_FRAME_BYTES, Framing, unloaded_fct_ps
from pyorch.theory.paths import Network, distinct
from pyorch.theory.ways import Ways, ways

Columns = Mapping[str, np.ndarray]
_WIRE = ("mtu_bytes", "header_bytes", "first_header_bytes", "ack_bytes", "ack_interval_packets")


def framing_of(spec: Spec, wire: Mapping[str, int]) -> Framing:
    """Return how a transport of a run cuts messages into frames; `wire` is its row."""
    return Framing(
        mtu_bytes=wire["mtu_bytes"],
        header_bytes=wire["header_bytes"],
        first_header_bytes=wire["first_header_bytes"],
        framing_bytes=spec.wire.framing_bytes,
    )


class IdleTimes:
    """Times of messages that have a network for themselves.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    nodes : mapping of arrays
        Table ``nodes`` of the run.
    network : Network
        Links of the topology.
    wires : DataFrame
        Table ``transports`` of the run.
    """

    def __init__(self, spec: Spec, nodes: Columns, network: Network, wires: pd.DataFrame):
        self._spec, self._network = spec, network
        self._wires = wires.set_index("transport")
        kind = np.zeros(network.n_nodes, dtype=np.int64)
        kind[nodes["node"]] = nodes.get("class", 0)
        self._hosts = [(its.host and its.host.model_extra) or {} for its in spec.transport]
        delays_ps = np.array([its.processing_delay_ps for its in spec.switch.kinds])
        self._processing_ps = np.where(network.is_switch, delays_ps[kind], 0)
        cuts = [its.cut_through_bytes for its in spec.switch.kinds if its.cut_through_bytes]
        self._seen_bytes = min(cuts) + spec.wire.framing_bytes if cuts else None

    def of_flows(
        self,
        flows: Columns,
        routes: np.ndarray | None = None,
        one_path: np.ndarray | bool = False,
    ) -> pd.DataFrame:
        """Return one row for each flow: its unloaded FCT, and what the ACKs of an equal flow cost.

        Columns unloaded_fct_ps, reverse_ack_ps, wire_bytes, slowest_bps (what it gets alone at
        most) and delay_ps (propagation of its path, or of the shortest of its paths).

        Parameters
        ----------
        flows : mapping of arrays
            Columns src, dst, bytes and transport.
        routes : ndarray, n_flows x n_hops, optional
            Directed links of each flow that is known to have taken them, padded with -1; of another
            flow none, for it may have taken all shortest paths.
        one_path : bool or ndarray
            Which of the latter have kept to one path.
        """
        columns = {key: np.asarray(flows[key]) for key in ("src", "dst", "bytes", "transport")}
        if routes is not None:
            return self._of_each(columns, routes, one_path)
        kinds, one_path = self._network.kinds, np.broadcast_to(one_path, len(columns["src"]))
        first, which = distinct(
            kinds[columns["src"]], kinds[columns["dst"]], columns["bytes"], columns["transport"],
            one_path,
        )  # fmt: skip
        rows = {key: column[first] for key, column in columns.items()}
        found = self._of_each(rows, np.full((len(first), 1), -1), one_path[first])
        return found.take(which).reset_index(drop=True)

    def _of_each(
        self, columns: Columns, routes: np.ndarray, one_path: np.ndarray | bool
    ) -> pd.DataFrame:
        its_ways = self._ways(columns, self._with_direct(columns, routes), one_path)
        frames = self._frames(columns)
        unloaded_ps = self._unloaded_ps(columns, frames, its_ways)
        unloaded_ps += self._of_hosts_ps(columns)
        return pd.DataFrame(
            {
                "unloaded_fct_ps": np.where(columns["bytes"] > 0, unloaded_ps, 0),
                "reverse_ack_ps": self._reverse_ack_ps(columns, frames.number, its_ways),
                "wire_bytes": np.where(columns["bytes"] > 0, frames.wire_bytes, 0),
                "slowest_bps": its_ways.rate_bps.astype(np.int64),
                "delay_ps": its_ways.delay_ps,
            }
        )

    def _of_hosts_ps(self, columns: Columns) -> np.ndarray:
        """Return what hosts add to the time of each flow."""
        found = np.zeros(len(columns["src"]), dtype=np.int64)
        line_bps = np.zeros(self._network.n_nodes, dtype=np.int64)
        np.add.at(line_bps, self._network.tail, self._network.rate_bps)
        for transport, host in enumerate(self._hosts):
            its = columns["transport"] == transport
            if host and its.any():
                size, source = columns["bytes"][its], columns["src"][its]
                found[its] = hosts.alone_ps(host, size, line_bps[source])
        return found

    def of_frame_ps(self, src: np.ndarray, dst: np.ndarray, wire_bytes: np.ndarray) -> np.ndarray:
        """Return the least time in which one frame each passes between two hosts [ps]."""
        ends = {"src": src, "dst": dst}
        its = self._ways(ends, self._with_direct(ends, np.full((len(src), 1), -1)), False)
        bytes_ = wire_bytes.astype(np.int64)
        return alone.alone_ps(alone.Frames(bytes_, bytes_, bytes_, np.ones_like(bytes_)), its)

    def _with_direct(self, flows: Columns, routes: np.ndarray) -> np.ndarray:
        """Return routes, and the link of flows whose hosts have one between them."""
        network = self._network
        hosts = ~(network.is_switch[network.tail] | network.is_switch[network.head])
        links = np.flatnonzero(hosts)
        if not len(links):
            return routes
        ends = network.tail[links] * network.n_nodes + network.head[links]
        wanted = flows["src"] * network.n_nodes + flows["dst"]
        order = np.argsort(ends, kind="stable")
        place = np.minimum(np.searchsorted(ends[order], wanted), len(ends) - 1)
        direct = (ends[order][place] == wanted) & (routes < 0).all(axis=1)
        routes = routes.copy()
        routes[direct, 0] = links[order][place[direct]]
        return routes

    def _ways(self, flows: Columns, routes: np.ndarray, one_path: np.ndarray | bool) -> Ways:
        """Return the path of each flow that is known, all shortest ones of others."""
        n_flows, n_hops = routes.shape
        network, there = self._network, routes >= 0
        rates = np.where(there, network.rate_bps[routes], 0)
        delay_ps = np.where(there, network.delay_ps[routes], 0).sum(axis=1)
        processing_ps = np.where(there, self._processing_ps[network.head[routes]], 0).sum(axis=1)
        columns = [there.astype(np.int64), rates, rates.copy(), delay_ps, delay_ps + processing_ps,
                   np.full(n_flows, np.inf)]  # fmt: skip
        others = ~there.any(axis=1)
        if not others.any():
            return Ways(*columns)
        ends = (flows["src"][others], flows["dst"][others])
        every = ways(network, *ends, self._processing_ps)
        every = every.one_path(np.broadcast_to(one_path, n_flows)[others])
        more = max(0, every.links.shape[1] - n_hops)
        for i, other in enumerate(every):
            if other.ndim == 2:
                columns[i] = np.pad(columns[i], ((0, 0), (0, more)))
                other = np.pad(other, ((0, 0), (0, columns[i].shape[1] - other.shape[1])))
            columns[i][others] = other
        return Ways(*columns)

    def _frames(self, flows: Columns) -> alone.Frames:
        """Return how messages become frames."""
        mtu, header, more, _, _ = self._wire(flows)
        size_bytes, framing = flows["bytes"], self._spec.wire.framing_bytes
        number = -(-size_bytes // mtu)
        last = size_bytes - (number - 1) * mtu
        single = number == 1

        def on_wire(payload, headers):
            return np.maximum(payload + headers, MIN_FRAME_BYTES) + framing

        first = on_wire(np.where(single, size_bytes, mtu), header + more)
        middle = np.where(single, first, on_wire(mtu, header))
        return alone.Frames(first, middle, np.where(single, first, on_wire(last, header)), number)

    def _wire(self, flows: Columns) -> list[np.ndarray]:
        return [self._wires[name].to_numpy(dtype=np.int64)[self._row_of(flows)] for name in _WIRE]

    def _row_of(self, flows: Columns) -> np.ndarray:
        return self._wires.index.get_indexer(flows["transport"])

    def _unloaded_ps(self, flows: Columns, frames: alone.Frames, its: Ways) -> np.ndarray:
        """Return exact times on one path, least ones on several [ps]."""
        spread = np.any(its.links > 1, axis=1)
        found = np.zeros(len(spread), dtype=np.int64)
        if self._seen_bytes is not None:
            spread[:] = True
        if spread.any():
            some = alone.Frames(*(column[spread] for column in frames))
            paths = Ways(*(column[spread] for column in its))
            found[spread] = alone.alone_ps(some, paths, self._seen_bytes)
        if not spread.all():
            rest = ~spread
            rows = (flows["bytes"], flows["transport"], its.fixed_ps, its.fastest_bps)
            cases = pd.DataFrame(np.column_stack([column[rest] for column in rows]))
            index = cases.groupby([*cases.columns], sort=False).ngroup().to_numpy()
            unique = cases.drop_duplicates().to_numpy().tolist()
            values = [
                self._on_one_path_ps(size, transport, fixed_ps, rates_bps)
                for size, transport, fixed_ps, *rates_bps in unique
            ]
            found[rest] = np.array(values, dtype=np.int64)[index]
        return found

    def _on_one_path_ps(
        self, size_bytes: int, transport: int, fixed_ps: int, rates_bps: list[int]
    ) -> int:
        framing = framing_of(self._spec, self._wires.loc[transport])
        rates_bps = [rate for rate in rates_bps if rate > 0]
        return fixed_ps + unloaded_fct_ps(size_bytes, rates_bps, [], framing)

    def _reverse_ack_ps(self, flows: Columns, packets: np.ndarray, its: Ways) -> np.ndarray:
        """Return how long the ACKs of equal messages that come the other way keep a hop [ps]."""
        _, _, _, ack, interval = self._wire(flows)
        wire_bits = 8 * (np.maximum(ack, MIN_FRAME_BYTES) + self._spec.wire.framing_bytes)
        longest = np.zeros(len(packets), dtype=np.int64)
        for links, fastest, total in zip(*(column.T for column in its[:3]), strict=True):
            links = np.maximum(links, 1)
            on_one = -(-packets // links)
            acks = -(-on_one // interval)
            each_ps = -(-wire_bits * 10**12 // np.maximum(fastest, 1))
            together_ps = -(-packets // interval) * (wire_bits * 1e12 / np.maximum(total, 1))
            here = np.where(links * fastest == total, acks * each_ps, together_ps)
            longest = np.maximum(longest, np.where(fastest > 0, here, 0).astype(np.int64))
        return longest
