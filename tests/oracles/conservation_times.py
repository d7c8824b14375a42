# SPDX-License-Identifier: GPL-2.0-only
"""What must hold of times: nobody is faster than light, and who does not end has a reason."""

import heapq
from functools import cached_property

import numpy as np
from conservation_ledger import Ledger
from conservation_run import (
    ACK_BYTES,
    FIRST_HEADER_BYTES,
    HEADER_BYTES,
    MIN_FRAME_BYTES,
    PS_BITS,
    Case,
    mtu_bytes,
    serialisation_ps,
)
from oracle_network import NEVER, Outcome

from pyorch.theory.fct import Framing, unloaded_fct_ps


class Times:
    """Times and ends of the flows of one run; each ``check_`` is one law."""

    def __init__(self, case: Case, got: Outcome):
        self.case, self.got = case, got
        self.flows = got["flows"]
        self.order = np.argsort(case.flows["flow"])
        self.ledger = Ledger(case, got)

    # ---- nobody is too fast

    def check_that_nobody_is_faster_than_the_network(self):
        for row, flow in enumerate(self.flows["flow"].tolist()):
            of = {name: int(column[row]) for name, column in self.flows.items()}
            if of["receiver_end_ps"] == NEVER:
                assert of["sender_end_ps"] == NEVER, f"flow {flow} is done, but not delivered"
                continue
            took_ps = of["receiver_end_ps"] - of["start_ps"]
            assert took_ps >= self._least_ps(row), f"flow {flow} was faster than its network"
            if of["sender_end_ps"] != NEVER:
                back_ps = self._latency_ps(of["dst"], of["src"], ACK_BYTES)
                assert of["sender_end_ps"] - of["receiver_end_ps"] >= back_ps, f"answer to {flow}"

    def check_that_nobody_is_faster_than_alone_on_its_path(self):
        """Store and forward, links as they were built, all packets on one path."""
        if self.case.link_events or self.case.options["cut_through_bytes"]:
            return
        for flow, path in self.got.paths().items():
            row = int(np.flatnonzero(self.flows["flow"] == flow)[0])
            self._check_path(row, path)
            if self.flows["receiver_end_ps"][row] == NEVER or len(path) == 0:
                continue
            name, given = self.case.transports[int(self.flows["transport"][row])]
            if "Random" in given.get("PathSelector", "") or name == "ns3::SprayTransport":
                continue
            cables = [self.case.cables[link] for link in path]
            framing = Framing(
                mtu_bytes(given), HEADER_BYTES, FIRST_HEADER_BYTES[name],
                self.case.options["framing_bytes"],
            )  # fmt: skip
            alone_ps = unloaded_fct_ps(
                int(self.flows["bytes"][row]),
                [cable["rate_bps"] for cable in cables],
                [cable["delay_ps"] for cable in cables],
                framing,
                self.case.options["processing_delay_ps"],
            )
            took_ps = self.flows["receiver_end_ps"][row] - self.flows["start_ps"][row]
            assert took_ps >= alone_ps, f"flow {flow} was faster than alone"

    def _check_path(self, row: int, path: list[tuple[int, int, int]]):
        """A path is a chain of links from source to destination that visits no node twice."""
        nodes = [path[0][0], *(peer for _, peer, _ in path)]
        assert [node for node, _, _ in path] == nodes[:-1]
        assert len(set(nodes)) == len(nodes)
        assert (nodes[0], nodes[-1]) == (self.flows["src"][row], self.flows["dst"][row])
        assert all(link in self.case.cables for link in path)

    def _least_ps(self, row: int) -> int:
        """Return a time that no path through the network beats.

        All bits leave by the ports of the source, and the packet of the last one still has its way.
        """
        src, dst = int(self.flows["src"][row]), int(self.flows["dst"][row])
        flow = int(self.order[row])
        rate_bps = sum(c["rate_bps"] for (a, _, _), c in self.case.cables.items() if a == src)
        leave_ps = self.case.wire_bytes(flow) * PS_BITS // rate_bps
        n_bytes, mtu = int(self.flows["bytes"][row]), mtu_bytes(self._given(row))
        shortest = n_bytes % mtu or mtu
        frame = max(MIN_FRAME_BYTES, shortest + HEADER_BYTES)
        return leave_ps + self._latency_ps(src, dst, frame, but_first=True)

    def _latency_ps(self, src: int, dst: int, frame: int, *, but_first: bool = False) -> int:
        """Return the least time from host to host of a frame; Dijkstra over links as built."""
        wire = frame + self.case.options["framing_bytes"]
        if cut := self.case.options["cut_through_bytes"]:
            wire = min(frame, cut) + self.case.options["framing_bytes"]
        best, heap = {}, [(0, src)]
        while heap:
            time_ps, node = heapq.heappop(heap)
            if node in best:
                continue
            best[node] = time_ps
            if node != src and not self.case.is_switch[node]:
                continue  # hosts do not forward
            for peer, cable in self._neighbours[node]:
                step = cable["delay_ps"]
                if self.case.is_switch[peer]:
                    step += self.case.options["processing_delay_ps"]
                if not (but_first and node == src):
                    step += serialisation_ps(wire, cable["rate_bps"])
                heapq.heappush(heap, (time_ps + step, peer))
        return best[dst]

    @cached_property
    def _neighbours(self) -> dict[int, list]:
        found: dict[int, list] = {node: [] for node in self.case.is_switch}
        for (a, b, _), cable in self.case.cables.items():
            found[a].append((b, cable))
        return found

    def _given(self, row: int) -> dict:
        return self.case.transports[int(self.flows["transport"][row])][1]

    # ---- who waits for others

    def check_starts(self):
        for row, flow in enumerate(self.flows["flow"].tolist()):
            given_ps = int(self.case.flows["start_ps"][self.order[row]])
            ends = self._ends_of_those_before(flow)
            if NEVER in ends:
                assert self.flows["sent_data_packets"][row] == 0, f"flow {flow} did not wait"
                continue
            assert self.flows["start_ps"][row] == max([given_ps, *ends]), f"start of flow {flow}"

    def _ends_of_those_before(self, flow: int) -> list[int]:
        """Return when those that a flow waits for were complete, NEVER if they were not [ps]."""
        if not self.case.dependencies:
            return []
        waits = self.case.dependencies
        ends = self.flows["receiver_end_ps"], self.flows["sender_end_ps"]
        row = {id_: i for i, id_ in enumerate(self.flows["flow"].tolist())}
        of_flow = waits["flow"] == flow
        columns = (waits[name][of_flow].tolist() for name in ("after", "at_sender", "delay_ps"))
        found = []
        for after, at_sender, delay_ps in zip(*columns, strict=True):
            end_ps = int(ends[at_sender][row[after]])
            found.append(NEVER if end_ps == NEVER else end_ps + delay_ps)
        return found

    # ---- who does not end has a reason

    def check_that_all_end_or_have_a_reason(self):
        unfinished = np.flatnonzero(self.flows["sender_end_ps"] == NEVER)
        reason = self.got.stop_reason
        if not len(unfinished):
            assert reason == "" and self.got.cycle == []
            return
        if reason.startswith("deadlock"):
            self._check_cycle()
            return
        assert reason in ("stop time", "no events left")
        hopeless = [
            row
            for row in unfinished.tolist()
            if self._is_cut_off(row) or self.case.never_fits(int(self.order[row]))
        ]
        # What can never end is sent again for ever, before all that is less urgent.
        most_urgent = max((self._given(row).get("Priority", 3) for row in hopeless), default=-1)
        for row in set(unfinished.tolist()) - set(hopeless):
            flow = int(self.flows["flow"][row])
            if NEVER in self._ends_of_those_before(flow):
                continue  # it waits for one that has a reason of its own
            assert reason == "stop time", f"flow {flow} could go on, but nothing happens any more"
            classes = (self._given(row).get(key, default) for key, default in CLASSES.items())
            if self.case.stop_ps >= LONG_PS and min(classes) >= most_urgent:
                dropped = self.got["ports"]["dropped_buffer_frames"].sum()
                starved = self.case.starves and dropped >= self.flows["timeouts"][row] > 0
                assert starved, f"flow {flow} has all it needs"

    def _check_cycle(self):
        """Each switch of a deadlock is held back on a link to the next one that is up."""
        cycle, ports = self.got.cycle, self.got["ports"]
        assert self.case.pfc is not None and len(set(cycle)) == len(cycle) >= 2
        up = ~self.ledger.is_cut_at_end
        for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            between = (ports["node"] == a) & (ports["peer"] == b) & up
            assert (ports["paused_ps"][between] > 0).any(), f"{a} does not wait for {b}"
            if self.case.options["pauses"]:
                pauses = self.got["pauses"]
                of_link = (pauses["node"] == a) & (pauses["peer"] == b)
                assert (pauses["end_ps"][of_link] == NEVER).any(), f"{a} may go on to {b}"

    def _is_cut_off(self, row: int) -> bool:
        """Whether the links that are left lead nowhere from a port that a flow may depend on.

        A transport that keeps to one path keeps to one port; one that sprays needs any.
        """
        src, dst = int(self.flows["src"][row]), int(self.flows["dst"][row])
        up = [link for link, cut in zip(self.ledger.names, self.ledger.is_cut_at_end, strict=True)
              if not cut]  # fmt: skip
        reached, todo = {dst}, [dst]
        while todo:
            node = todo.pop()
            if node != dst and not self.case.is_switch[node]:
                continue
            for a, b, _ in up:
                if a == node and b not in reached:
                    reached.add(b)
                    todo.append(b)
        ports = [link for link in self.case.cables if link[0] == src]
        leads = [link in up and link[1] in reached for link in ports]
        name, _ = self.case.transports[int(self.flows["transport"][row])]
        return not (any(leads) if name == "ns3::SprayTransport" else all(leads))


#: Attributes of a transport that say what is urgent, and their defaults.
CLASSES = {"Priority": 3, "ControlPriority": 6}
#: A run that lasts as long as this is not cut short by its stop time.
LONG_PS = 10**12
