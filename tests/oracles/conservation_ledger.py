# SPDX-License-Identifier: GPL-2.0-only
"""What must add up whatever was simulated: each frame, packet and byte, from the tables alone.

`conservation_times` has what must hold of times and of flows that do not end.
"""

from functools import cached_property

import numpy as np
from conservation_arithmetic import receive, union_ps
from conservation_run import (
    ACK_BYTES,
    MIN_FRAME_BYTES,
    PAUSE_FRAME_BYTES,
    PS_BITS,
    Case,
    headroom_bytes,
    largest_frame_bytes,
    serialisation_ps,
)
from oracle_network import MS_PS, NEVER, Outcome

#: Dropped at the node where they came in; what is lost on the wire never came in.
DROPPED_HERE = [f"dropped_{why}_frames" for why in ("buffer", "headroom", "no_route", "link_down")]
#: The probe begins this long after all else is over, at least.
QUIET_PS = 50 * MS_PS


class Ledger:
    """The tables of one run beside what was asked for; each ``check_`` is one law."""

    def __init__(self, case: Case, got: Outcome):
        self.case, self.got = case, got
        self.ports = got["ports"]
        self.flows = got["flows"]
        self.now_ps = int(got["summary"]["now_ps"][0])
        self.names = list(
            zip(*(self.ports[n].tolist() for n in ("node", "peer", "parallel")), strict=True)
        )
        row = {name: i for i, name in enumerate(self.names)}
        self.turned = np.array([row[b, a, k] for a, b, k in self.names])
        self.at_switch = np.array([case.is_switch[a] for a, _, _ in self.names])
        self.lost = self.ports["dropped_loss_frames"] + self.ports["dropped_corrupt_frames"]
        self.framing = case.options["framing_bytes"]
        self.largest = largest_frame_bytes(case.transports)
        self.order = np.argsort(case.flows["flow"])  # rows of the input, as the output has them

    # ---- what the run was

    @cached_property
    def is_over(self) -> bool:
        """All but the probe was over long before it: nothing else was under way at the end."""
        if not self.case.probe or (self.flows["sender_end_ps"] == NEVER).any():
            return False
        probe = int(np.argmax(self.flows["start_ps"]))
        others = np.delete(self.flows["sender_end_ps"], probe)
        return bool((others < self.flows["start_ps"][probe] - QUIET_PS).all())

    @cached_property
    def is_cut_at_end(self) -> np.ndarray:
        """Per row of ports."""
        last = [self.case.changes(name) for name in self.names]
        return np.array(
            [
                bool(rows := [rate for time, rate in of if time <= self.now_ps]) and rows[-1] == 0
                for of in last
            ]
        )

    @cached_property
    def changes_rate(self) -> np.ndarray:
        return np.array([bool(self.case.changes(name)) for name in self.names])

    def of_node(self, node: int, column: str) -> int:
        return int(self.ports[column][self.ports["node"] == node].sum())

    def of_nodes(self, is_switch: bool) -> list[int]:
        return [node for node, switch in self.case.is_switch.items() if switch == is_switch]

    # ---- tables

    def check_that_inputs_come_back(self):
        for name in ("flow", "src", "dst", "bytes", "transport"):
            assert (self.flows[name] == self.case.flows[name][self.order]).all(), name
        assert sorted(self.names) == sorted(self.case.cables), "one row for each end of a link"
        for name, found in zip(self.names, self.ports["rate_bps"].tolist(), strict=True):
            assert found == self.case.cables[name]["rate_bps"], f"rate of {name} at the beginning"

    def check_sums_of_the_summary(self):
        summary = {name: int(column[0]) for name, column in self.got["summary"].items()}
        assert summary["flows_total"] == len(self.flows["flow"])
        assert summary["flows_done"] == (self.flows["sender_end_ps"] != NEVER).sum()
        assert summary["data_packets_delivered"] == len(self.got["arrivals"]["flow"])
        assert summary["now_ps"] <= self.case.stop_ps

    # ---- links

    def check_that_each_wire_gives_what_it_took(self):
        there = self.ports["received_frames"] + self.lost
        flying = self.ports["sent_frames"] - there[self.turned]
        # The last frames of all may have called for a PAUSE or RESUME.
        pauses = self.ports["pause_frames_sent"] - self.ports["pause_frames_received"][self.turned]
        own_pauses = dict(zip(self.names, pauses.tolist(), strict=True))
        for name, n in zip(self.names, flying.tolist(), strict=True):
            cable = self.case.cables[name]
            # What a wire holds: one frame that is being sent, the others as short as they come.
            shortest = serialisation_ps(MIN_FRAME_BYTES + self.framing, cable["rate_bps"])
            delay_ps = cable["delay_ps"] + self.case.options["processing_delay_ps"]
            most = own_pauses[name] if self.is_over else 2 + delay_ps // shortest
            assert 0 <= n <= most, f"{n} frames on the wire {name}"

    def check_that_no_link_exceeds_its_rate(self):
        sent = self.ports["sent_bytes"]
        frames = self.ports["sent_frames"]
        assert (sent >= (MIN_FRAME_BYTES + self.framing) * frames).all()
        assert (sent <= (self.largest + self.framing) * frames).all()
        for name, n_bytes in zip(self.names, sent.tolist(), strict=True):
            whole = n_bytes - self.largest - self.framing  # the last one may have just begun
            assert whole * PS_BITS <= self.case.cables[name]["rate_bps"] * self.now_ps, name

    def check_that_losses_have_a_cause(self):
        scripted = self._scripted_losses()
        for i, name in enumerate(self.names):
            lost = int(self.ports["dropped_loss_frames"][self.turned[i]])
            corrupt = int(self.ports["dropped_corrupt_frames"][self.turned[i]])
            assert corrupt == 0 or self.case.cables[name]["bit_error_ratio"] > 0
            if self.changes_rate[i] or self.case.cables[name]["loss_ratio"] > 0:
                continue
            n_sent = int(self.ports["sent_data_packets"][i])
            expected = sum(ordinal <= n_sent for ordinal in scripted.get(name, ()))
            assert lost == expected if self.is_over else lost <= expected, f"lost on {name}"
        if not self.case.link_events:
            assert self.ports["dropped_link_down_frames"].sum() == 0
            assert self.ports["dropped_no_route_frames"].sum() == 0
        assert (self.ports["dropped_link_down_frames"][~self.changes_rate] == 0).all()

    def _scripted_losses(self) -> dict[tuple, set[int]]:
        found: dict[tuple, set[int]] = {}
        if self.case.drops:
            names = ("node", "peer", "parallel", "ordinal")
            for *name, ordinal in zip(*(self.case.drops[n].tolist() for n in names), strict=True):
                found.setdefault(tuple(name), set()).add(ordinal)
        return found

    # ---- switches

    def check_that_each_switch_gives_what_it_took(self):
        unheard = self.ports["pause_frames_sent"] - self.ports["pause_frames_received"][self.turned]
        for node in self.of_nodes(is_switch=True):
            # A PAUSE that waits to be sent is counted as sent, so one frame too much seems held.
            waiting = int(unheard[self.ports["node"] == node].sum())
            came = self.of_node(node, "received_frames") - self.of_node(
                node, "pause_frames_received"
            )
            dropped = sum(self.of_node(node, column) for column in DROPPED_HERE)
            left = self.of_node(node, "sent_frames") - self.of_node(node, "pause_frames_sent")
            held = came - dropped - left
            assert held >= 0, f"switch {node} makes frames"
            assert held <= waiting or not self.is_over, f"switch {node} holds {held} frames"
            if self.case.options["buffer_bytes"]:
                least_bytes = (held - waiting) * MIN_FRAME_BYTES
                assert least_bytes <= self.case.options["buffer_bytes"], f"{node} is overfull"
            data_in = int(self.ports["sent_data_packets"][self.turned][
                self.ports["node"] == node].sum())  # fmt: skip
            data_out = self.of_node(node, "sent_data_packets")
            assert data_out <= data_in, f"switch {node} makes data"
            if self.is_over:
                lost = int(self.lost[self.ports["node"] == node].sum())
                assert data_in - data_out <= dropped + lost, f"switch {node} loses data unseen"

    def check_that_buffers_and_queues_keep_their_limits(self):
        limits = []
        queue = self.case.queue[1] if self.case.queue else {}
        buffer_bytes = self.case.options["buffer_bytes"]
        classes = {given.get(key, default) for _, given in self.case.transports
                   for key, default in (("Priority", 3), ("ControlPriority", 6))}  # fmt: skip
        if buffer_bytes:
            limits.append(buffer_bytes)
        if self.case.pfc is None and queue.get("LimitBytes"):
            limits.append(len(classes) * queue["LimitBytes"])
        if self.case.pfc is None and queue.get("Alpha"):
            # A class takes one more frame while it holds less than alpha * (buffer - used).
            share = queue["Alpha"] / (1 + queue["Alpha"])
            limits.append(len(classes) * (share * buffer_bytes + self.largest))
        waiting_pauses = PAUSE_FRAME_BYTES * self.ports["pause_frames_sent"]
        longest = (self.ports["max_queue_bytes"] - waiting_pauses)[self.at_switch]
        for limit in limits:
            assert (longest <= limit).all(), f"a queue of {longest.max()} bytes, limit {limit}"

    def check_that_no_switch_drops_what_it_has_room_for(self):
        queue = self.case.queue[1] if self.case.queue else {}
        buffer_bytes = self.case.options["buffer_bytes"]
        for node in self.of_nodes(is_switch=True):
            longest = self.ports["max_queue_bytes"][self.ports["node"] == node]
            if not self.of_node(node, "dropped_buffer_frames"):
                continue
            used = int(longest.sum()) + self.largest * len(longest)  # at most, at any time
            longest_bytes = int(longest.max())
            assert (
                0 < buffer_bytes < used + self.largest
                or 0 < queue.get("LimitBytes", 0) < longest_bytes + self.largest
                or (queue.get("Alpha") and longest_bytes >= queue["Alpha"] * (buffer_bytes - used))
            ), f"switch {node} drops frames, but was never full"

    def check_that_drops_are_counted_where_there_was_no_room(self):
        # The egress that overflowed, not the port a frame came in by: it held nearly its limit.
        queue = self.case.queue[1] if self.case.queue else {}
        if self.case.options["buffer_bytes"] or not queue.get("LimitBytes"):
            return
        drops = self.ports["dropped_buffer_frames"] > 0
        longest = self.ports["max_queue_bytes"][drops]
        assert (longest + self.largest > queue["LimitBytes"]).all(), "drops at a port with room"

    # ---- flow control

    def check_pauses(self):
        sent, heard = self.ports["pause_frames_sent"], self.ports["pause_frames_received"]
        assert (self.ports["paused_ps"] <= self.now_ps).all()
        if self.case.pfc is None:
            for column in ("pause_frames_sent", "pause_frames_received", "paused_ps",
                           "max_ingress_bytes", "dropped_headroom_frames"):  # fmt: skip
                assert self.ports[column].sum() == 0, column
            return
        assert (sent[~self.at_switch] == 0).all(), "hosts take whatever comes"
        assert (heard <= sent[self.turned]).all()
        assert (self.ports["paused_ps"][heard == 0] == 0).all(), "nobody said PAUSE"

    def check_that_lossless_classes_lose_nothing(self):
        pfc = self.case.pfc
        if pfc is None:
            return
        headroom = headroom_bytes(self.case.links, pfc, self.case.transports, self.case.options)
        ends = [self.case.links[name].tolist() for name in ("node_a", "node_b", "parallel")]
        of_link = {}
        for a, b, k, n_bytes in zip(*ends, headroom.tolist(), strict=True):
            of_link[a, b, k] = of_link[b, a, k] = n_bytes
        if not pfc["Alpha"]:
            most = np.array([pfc["XoffBytes"] + of_link[name] for name in self.names])
            assert (self.ports["max_ingress_bytes"] <= most).all()
        if not self.is_lossless():
            return
        assert self.ports["dropped_headroom_frames"].sum() == 0
        # Acknowledgements may be of a class that is not lossless, and then meet a limit.
        queue = self.case.queue[1] if self.case.queue else {}
        if not (self.case.options["buffer_bytes"] or queue.get("LimitBytes")):
            assert self.ports["dropped_buffer_frames"].sum() == 0

    def is_lossless(self) -> bool:
        """All data are lossless, with headroom by the formula, and links are as they were."""
        return (
            not self.case.link_events
            and self.case.pfc["HeadroomBytes"] == 0
            and all(
                self.case.is_lossless(given.get("Priority", 3)) for _, given in self.case.transports
            )
        )

    def check_marks(self):
        marked = int(self.ports["ecn_marked_packets"].sum())
        assert self.flows["ecn_marked_packets"].sum() <= marked
        if "RedEcn" not in str(self.case.queue):
            assert marked == 0
        if not any(given.get("EcnCapable", True) for _, given in self.case.transports):
            assert marked == 0
        assert (self.ports["ecn_marked_packets"] <= self.ports["sent_data_packets"]).all()

    # ---- hosts

    def check_that_each_host_gives_what_it_took(self):
        arrivals = self.got["arrivals"]
        answers = heard = 0
        for node in self.of_nodes(is_switch=False):
            of_node = self.flows["src"] == node
            sent = self.of_node(node, "sent_data_packets")
            assert sent == self.flows["sent_data_packets"][of_node].sum(), f"data of host {node}"
            came = int((arrivals["node"] == node).sum())
            got = self.of_node(node, "received_frames") - self.of_node(
                node, "pause_frames_received"
            )
            assert came <= got, f"host {node} received less than came"
            heard += got - came
            control = self.of_node(node, "sent_frames") - sent
            answers += control
            waits = self.is_cut_at_end[self.ports["node"] == node].any()
            exact = self.is_over and self._answers_each_packet(node) and not waits
            assert control == came if exact else control <= came, f"answers of host {node}"
            self._check_bytes_of_host(node, control)
            assert sum(self.of_node(node, column) for column in DROPPED_HERE) == 0
        assert heard <= answers, "each answer is heard at most once"

    def _answers_each_packet(self, host: int) -> bool:
        """Whether all that come to a host answer each data packet with one frame."""
        for i in self.flows["transport"][self.flows["dst"] == host].tolist():
            name, given = self.case.transports[i]
            if name == "ns3::RoceTransport" and not (
                given["Recovery"] == "SelectiveRepeat" and given["AckInterval"] == 1
            ):
                return False
        return True

    def _check_bytes_of_host(self, node: int, control: int):
        """One copy of each packet that was sent, the copies sent again, and the answers."""
        rows = np.flatnonzero(self.flows["src"] == node)
        again = int(self.flows["retransmitted_packets"][rows].sum())
        least = (ACK_BYTES + self.framing) * control + (MIN_FRAME_BYTES + self.framing) * again
        slack = (self.largest - MIN_FRAME_BYTES) * again
        if (self.flows["sender_end_ps"][rows] == NEVER).any():
            return
        least += sum(self.case.wire_bytes(int(self.order[row])) for row in rows)
        assert least <= self.of_node(node, "sent_bytes") <= least + slack, f"bytes of host {node}"

    # ---- flows

    def check_packets_of_each_flow(self):
        arrivals = self.got["arrivals"]
        for row, flow in enumerate(self.flows["flow"].tolist()):
            n = self.case.packets(int(self.order[row]))
            of = {name: int(column[row]) for name, column in self.flows.items()}
            first = of["sent_data_packets"] - of["retransmitted_packets"]
            came = arrivals["packet"][arrivals["flow"] == flow]
            assert 0 <= first <= n and of["retransmitted_packets"] >= 0, f"flow {flow}"
            if of["sender_end_ps"] != NEVER:
                assert first == n, f"flow {flow} sent each packet once as its first copy"
            assert len(came) <= of["sent_data_packets"], f"flow {flow}: data out of nowhere"
            assert ((came >= 0) & (came < n)).all()
            assert of["ecn_marked_packets"] <= len(came) and of["trimmed_packets"] == 0
            assert set(arrivals["node"][arrivals["flow"] == flow].tolist()) <= {of["dst"]}

    def check_what_each_receiver_has(self):
        """Play the receivers again on what arrived: which byte was there first, and when."""
        arrivals = self.got["arrivals"]
        for row, flow in enumerate(self.flows["flow"].tolist()):
            name, given = self.case.transports[int(self.flows["transport"][row])]
            in_order_only = name == "ns3::RoceTransport" and given["Recovery"] == "GoBackN"
            came = arrivals["flow"] == flow
            end_ps, peak = receive(
                arrivals["packet"][came].tolist(),
                arrivals["time_ps"][came].tolist(),
                self.case.packets(int(self.order[row])),
                in_order_only,
            )
            assert self.flows["receiver_end_ps"][row] == end_ps, f"end of flow {flow}"
            assert self.flows["out_of_order_peak_packets"][row] == peak, f"order of flow {flow}"

    # ---- series and logs

    def check_that_samples_add_up_to_totals(self):
        if not self.case.options["sample_ps"]:
            return
        ports, flows = self.got["port_samples"], self.got["flow_samples"]
        row = {name: i for i, name in enumerate(self.names)}
        ends = (ports[name].tolist() for name in ("node", "peer", "parallel"))
        where = [row[name] for name in zip(*ends, strict=True)]
        for column in ("sent_bytes", "paused_ps"):
            total = np.zeros(len(self.names), dtype=np.int64)
            np.add.at(total, where, ports[column])
            assert (total == self.ports[column]).all(), f"samples of {column}"
        assert (ports["queue_bytes"] <= self.ports["max_queue_bytes"][where]).all()
        assert flows["arrived_packets"].sum() == len(self.got["arrivals"]["flow"])

    def check_that_pauses_add_up_to_totals(self):
        if not self.case.options["pauses"]:
            return
        pauses = self.got["pauses"]
        spans: dict[tuple, list] = {name: [] for name in self.names}
        names = ("node", "peer", "parallel", "start_ps", "end_ps")
        for *name, start, end in zip(*(pauses[n].tolist() for n in names), strict=True):
            spans[tuple(name)].append((start, self.now_ps if end == NEVER else end))
        for i, name in enumerate(self.names):
            assert union_ps(spans[name]) == self.ports["paused_ps"][i], f"pauses of {name}"
