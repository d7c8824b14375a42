# SPDX-License-Identifier: GPL-2.0-only
"""One drawn case: what it says, what follows from that without the engine, and its run."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from oracle_network import Columns, Outcome, run_fabric, say

from pyorch.simulate.fabric import Fabric

MIN_FRAME_BYTES = 64
PAUSE_FRAME_BYTES = 64
HEADER_BYTES = 62
#: RETH in the first packet of a message.
FIRST_HEADER_BYTES = {"ns3::RoceTransport": 16, "ns3::SprayTransport": 0}
ACK_BYTES = 66
PS_BITS = 8 * 10**12

Transports = list[tuple[str, dict]]


def mtu_bytes(given: dict) -> int:
    return given.get("MtuBytes", 4096)


def largest_frame_bytes(transports: Transports) -> int:
    """Return the largest frame that any of these sends."""
    return max(
        mtu_bytes(given) + HEADER_BYTES + FIRST_HEADER_BYTES[name] for name, given in transports
    )


def serialisation_ps(wire_bytes: int, rate_bps: int) -> int:
    return -(-wire_bytes * PS_BITS // rate_bps)


def headroom_bytes(links: Columns, pfc: dict, transports: Transports, options: dict) -> np.ndarray:
    """Return what an ingress may hold beyond its threshold, for each link.

    The frame that crosses the threshold, then what comes until the other end has heard of it: PAUSE
    waits behind one frame and one PAUSE of each other lossless priority, and travels; what is on
    the wire arrives, and one more frame was begun.
    """
    if pfc["HeadroomBytes"]:
        return np.full(len(links["rate_bps"]), pfc["HeadroomBytes"])
    frame, framing = largest_frame_bytes(transports), options["framing_bytes"]
    wait_ps = 2 * links["delay_ps"] + options["processing_delay_ps"]
    on_wires = np.array([
        int(rate) * int(wait) // PS_BITS
        for rate, wait in zip(links["rate_bps"], wait_ps, strict=True)
    ])  # fmt: skip
    # The engine rounds each part on its own; two bytes and a picosecond of the rate cover that.
    rounding = 2 + links["rate_bps"] * 2 // PS_BITS
    pauses = bin(pfc["Priorities"]).count("1") * (PAUSE_FRAME_BYTES + framing)
    return on_wires + (frame + framing) + pauses + 2 * frame + rounding


@dataclass(frozen=True)
class Case:
    """Input tables, types with attributes, and options; ``probe``: the last flow is alone."""

    nodes: Columns
    links: Columns
    flows: Columns
    link_events: Columns
    drops: Columns
    dependencies: Columns
    transports: Transports
    forwarding: tuple[str, dict]
    options: dict
    queue: tuple[str, dict] | None
    pfc: dict | None
    seed: int
    stop_ps: int
    probe: bool

    def run(self) -> Outcome:
        buffer_bytes = self.options["buffer_bytes"] or None  # 0 stands for no limit here
        options = self.options | {"buffer_bytes": buffer_bytes}
        threads = options.pop("threads", 1)
        fabric = Fabric(seed=self.seed)
        say(fabric, {"arrivals": True, **options})
        fabric.threads = threads
        for name in ("nodes", "links", "flows", "link_events", "drops", "dependencies"):
            if table := getattr(self, name):
                fabric.table(name, table)
        fabric.forwarding(*self.forwarding)
        if self.queue:
            fabric.queue(*self.queue)
        if self.pfc is not None:
            fabric.flow_control("ns3::Pfc", self.pfc)
        for name, attributes in self.transports:
            fabric.transport(name, attributes)
        return run_fabric(fabric, self.stop_ps)

    def listed_otherwise(self) -> "Case":
        """Return the same case with the rows of every table, and the ends of links, in disorder."""
        rng = np.random.default_rng(self.seed)
        links, link_events = dict(self.links), dict(self.link_events)
        links["node_a"], links["node_b"] = links["node_b"], links["node_a"]
        if link_events:
            ends = link_events["node_a"], link_events["node_b"]
            link_events["node_b"], link_events["node_a"] = ends

        def mixed(table: Columns) -> Columns:
            order = rng.permutation(len(next(iter(table.values()), [])))
            return {name: column[order] for name, column in table.items()}

        return replace(
            self,
            nodes=mixed(self.nodes),
            links=mixed(links),
            flows=mixed(self.flows),
            link_events=mixed(link_events),
            drops=mixed(self.drops),
            dependencies=mixed(self.dependencies),
        )

    # ---- what follows without any simulation

    @cached_property
    def is_switch(self) -> dict[int, bool]:
        return dict(
            zip(self.nodes["node"].tolist(), (self.nodes["is_switch"] == 1).tolist(), strict=True)
        )

    @cached_property
    def cables(self) -> dict[tuple[int, int, int], dict]:
        """Return the columns of each direction of a link, which is (node, peer, parallel)."""
        names = ("rate_bps", "delay_ps", "loss_ratio", "bit_error_ratio")
        found = {}
        for i, ends in enumerate(
            zip(*(self.links[n].tolist() for n in ("node_a", "node_b", "parallel")), strict=True)
        ):
            a, b, k = ends
            found[a, b, k] = found[b, a, k] = {name: self.links[name][i].item() for name in names}
        return found

    def changes(self, cable: tuple[int, int, int]) -> list[tuple[int, int]]:
        """Return (time, rate) of the changes of a link until the run stops."""
        a, b, k = cable
        names = ("time_ps", "node_a", "node_b", "parallel", "rate_bps")
        rows = zip(*(self.link_events[n].tolist() for n in names), strict=True) \
            if self.link_events else ()  # fmt: skip
        return sorted(
            (time, rate) for time, x, y, p, rate in rows if {x, y} == {a, b} and p == k
        )  # fmt: skip

    def frame_bytes(self, flow: int) -> int:
        """Return the largest frame of the flow in a row of the flow table."""
        name, given = self.transports[self.flows["transport"][flow]]
        payload = min(mtu_bytes(given), int(self.flows["bytes"][flow]))
        return max(MIN_FRAME_BYTES, payload + HEADER_BYTES + FIRST_HEADER_BYTES[name])

    def packets(self, flow: int) -> int:
        _, given = self.transports[self.flows["transport"][flow]]
        return -(-int(self.flows["bytes"][flow]) // mtu_bytes(given))

    def wire_bytes(self, flow: int) -> int:
        """Return what one copy of each packet of a flow takes on a link, framing included."""
        name, given = self.transports[self.flows["transport"][flow]]
        mtu, left = mtu_bytes(given), int(self.flows["bytes"][flow])
        total, extra = 0, FIRST_HEADER_BYTES[name]
        for _ in range(self.packets(flow)):
            frame = min(mtu, left) + HEADER_BYTES + extra
            total += max(MIN_FRAME_BYTES, frame) + self.options["framing_bytes"]
            left, extra = left - mtu, 0
        return total

    def is_lossless(self, priority: int) -> bool:
        return self.pfc is not None and bool(self.pfc["Priorities"] >> priority & 1)

    def never_fits(self, flow: int) -> bool:
        """Whether the largest frame of a flow is larger than what a switch would ever take."""
        _, given = self.transports[self.flows["transport"][flow]]
        frame = self.frame_bytes(flow)
        lossless = self.is_lossless(given.get("Priority", 3))
        limit = self.queue[1].get("LimitBytes", 0) if self.queue else 0
        return (
            0 < self.options["buffer_bytes"] < frame
            or (0 < limit < frame and not lossless)
            or (
                lossless
                and not self.pfc["Alpha"]
                and 0 < self.pfc["HeadroomBytes"] < frame - self.pfc["XoffBytes"]
            )
        )

    @property
    def starves(self) -> bool:
        """Whether a queue holds so few frames that flows may stay in step.

        Timers have no jitter: who has lost a frame to another then loses it again at every timeout.
        """
        queue, buffer = self.queue[1] if self.queue else {}, self.options["buffer_bytes"]
        rooms = [buffer, queue.get("LimitBytes", 0)]
        if alpha := queue.get("Alpha"):
            rooms.append(buffer * alpha / (1 + alpha))
        return any(0 < room < 4 * largest_frame_bytes(self.transports) for room in rooms)
