# SPDX-License-Identifier: GPL-2.0-only
"""The contract of every table of a run: its columns, what they count, and what may be missing.

docs/definitions.md is checked against this file; so is what the engine leaves.
"""

from typing import NamedTuple


class Column(NamedTuple):
    """One int64 column; `may_be_missing`: what never happened is <NA>, -1 in the raw columns."""

    meaning: str
    may_be_missing: bool = False


FLOWS = {
    "flow": Column("Id of the message, unique"),
    "src": Column("Sending host"),
    "dst": Column("Receiving host"),
    "bytes": Column("Payload of the message [byte]"),
    "transport": Column("Index into the transports of the scenario, from 0"),
    "start_ps": Column(
        "When the sender may begin; of a flow that waited for others, when it began [ps]", True
    ),
    "receiver_end_ps": Column("Last payload byte in order at the receiver [ps]", True),
    "sender_end_ps": Column("Last acknowledgement processed by the sender [ps]", True),
    "sent_data_packets": Column("Data packets that left the sender, retransmissions included"),
    "retransmitted_packets": Column("Retransmitted data packets"),
    "trimmed_packets": Column("Data packets of which only the header arrived"),
    "ecn_marked_packets": Column("Data packets that arrived with a congestion mark"),
    "timeouts": Column("Retransmission timers that expired"),
    "naks": Column("Negative acknowledgements that the sender processed"),
    "out_of_order_peak_packets": Column("Most packets ever held behind a gap at the receiver"),
}
TASKS = {
    "task": Column("Id of the task; of a message the id of its flow"),
    "kind": Column("0 computation, 1 message, 2 barrier"),
    "node": Column("Host that computes, sends or passes the barrier"),
    "start_ps": Column("When it began [ps]", True),
    "end_ps": Column("When it was over; of a message, when its last byte was there [ps]", True),
    "after": Column("Task whose end has decided when this one began; of several the last", True),
}
PORTS = {
    "node": Column("Node that sends"),
    "peer": Column("Node at the other end"),
    "parallel": Column("Which of the links of this pair, from 0"),
    "rate_bps": Column("Rate of the link when the run began [bit/s]"),
    "sent_frames": Column("Frames sent, of any kind"),
    "sent_bytes": Column("Bytes sent, with framing [byte]"),
    "sent_data_packets": Column("Data packets sent, headers of trimmed ones among them"),
    "received_frames": Column("Frames received on the other direction of the link"),
    "dropped_buffer_frames": Column(
        "Frames that were to leave here, but queue or buffer did not take"
    ),
    "dropped_headroom_frames": Column("Frames that came in here and overran the headroom"),
    "dropped_loss_frames": Column("Frames lost on the wire on their way in here"),
    "dropped_corrupt_frames": Column("Frames that came in here with a bit error"),
    "dropped_no_route_frames": Column("Frames that came in here without a path to their target"),
    "dropped_link_down_frames": Column("Frames that were to leave here while the link was cut"),
    "ecn_marked_packets": Column("Data packets marked as they were to leave here"),
    "trimmed_packets": Column("Data packets that were to leave here and were cut to their header"),
    "bounced_packets": Column("Headers of data packets sent back to their source from here"),
    "refused_verdicts": Column("Verdicts of the queue discipline that were not possible: drops"),
    "pause_frames_sent": Column("PAUSE and RESUME frames sent"),
    "pause_frames_received": Column("PAUSE and RESUME frames received"),
    "paused_ps": Column("Time during which any priority of this egress was paused [ps]"),
    "max_queue_bytes": Column("Longest egress queue [byte]"),
    "max_ingress_bytes": Column("Most bytes held of one ingress and priority (PFC account) [byte]"),
}
PATHS = {
    "flow": Column("Id of a message that keeps to one path"),
    "hop": Column("Place of the link on the path, 0 at the sending host"),
    "node": Column("Node that sends on this link"),
    "peer": Column("Node at its other end"),
    "parallel": Column("Which of the links of this pair, from 0"),
}
ARRIVALS = {
    "flow": Column("Id of the message"),
    "packet": Column("Number of the packet in its message, from 0"),
    "time_ps": Column("Last bit at the receiving host [ps]"),
    "node": Column("Receiving host"),
}
PORT_SAMPLES = {
    "time_ps": Column("All events up to this time are counted [ps]"),
    "node": Column("Node that sends"),
    "peer": Column("Node at the other end"),
    "parallel": Column("Which of the links of this pair, from 0"),
    "queue_bytes": Column("Waiting at this egress at that time [byte]"),
    "sent_bytes": Column("Of frames begun since the sample before, with framing [byte]"),
    "paused_ps": Column("With any priority paused since the sample before [ps]"),
}
FLOW_SAMPLES = {
    "time_ps": Column("All events up to this time are counted [ps]"),
    "flow": Column("Id of the message"),
    "arrived_packets": Column(
        "Data packets at the receiver since the sample before, all copies, none of those that came"
        " trimmed"
    ),
    "arrived_bytes": Column("Of these, with headers, without framing [byte]"),
}
PAUSES = {
    "sent_ps": Column("When the peer was too full and made PAUSE [ps]", True),
    "start_ps": Column("When PAUSE came to the sender [ps]"),
    "end_ps": Column("When RESUME came, or the link was cut [ps]", True),
    "node": Column("Node that is held back"),
    "peer": Column("Node that holds it back"),
    "parallel": Column("Which of the links of this pair, from 0"),
    "priority": Column("Priority that is held back"),
    "congested_peer": Column("Where the frame that was one too many was to go from the peer", True),
    "congested_parallel": Column("Which of the links of the peer and that node, from 0", True),
}
SKIPS = {
    "time_ps": Column("When the steady state that was skipped, or this part of one, began [ps]"),
    "skipped_ps": Column("How long it was [ps]"),
    "skipped_packets": Column("Data packets that would have been sent then"),
    "measured_ps": Column("For how long the rates of the messages had been measured [ps]"),
    "exact": Column(
        "1: whole periods of a state that repeats to the picosecond, each measured_ps; 0: not"
    ),
    "flows": Column("Messages under way"),
}
SKIPPED_FLOWS = {
    "flow": Column("Id of the message"),
    "skipped_packets": Column("Of its data packets, those that were skipped"),
}
CONTROL = {
    "controller": Column("Which workload that is controlled, from 0"),
    "time_ps": Column("When the controller looks: the end of an epoch [ps]"),
    "demand": Column("Index into its demands, from 0"),
    "sent_bytes": Column(
        "Bytes its sources have sent in that epoch, on the wire, without copies and parity [byte]"
    ),
    "waiting_bytes": Column("Bytes that they have made and not sent until then, as above [byte]"),
    "limit_bps": Column("Rate to which it is admitted then, without parity [bit/s]"),
    "granted_bps": Column("Rate that is decided for it; none: nothing was decided [bit/s]", True),
    "moved_flows": Column("Flows of it that get another path", True),
    "is_infeasible": Column(
        "1: no path was left for it, so nothing was decided for any demand; none: nobody was there",
        True,
    ),
}
REQUESTS = {
    "workload": Column("Which workload answers, from 0"),
    "request": Column("Number in the order of arrival, from 0"),
    "arrival_ps": Column("When it arrives [ps]"),
    "prompt_tokens": Column("Tokens of its prompt"),
    "answer_tokens": Column("Tokens of its answer"),
    "prefill_start_ps": Column("When the batch of its prefill begins [ps]", True),
    "first_token_ps": Column("When that batch ends [ps]", True),
    "transfer_start_ps": Column("When its keys and values leave the prefill [ps]", True),
    "transfer_end_ps": Column("When all of them are where it is decoded [ps]", True),
    "last_token_ps": Column("When its last token is there [ps]", True),
}
BATCHES = {
    "workload": Column("Which workload answers, from 0"),
    "phase": Column("0 prefill, 1 transfer of keys and values, 2 decoding"),
    "instance": Column("Which instance of its pool; of a transfer, whereto"),
    "start_ps": Column("When it begins [ps]"),
    "end_ps": Column("When the last of its devices is done [ps]", True),
    "requests": Column("How many requests are in it"),
    "tokens": Column("Tokens of these that have keys and values, all together"),
    "compute_ps": Column("How long a device computes, the mean [ps]"),
    "sent_bytes": Column("Payload of its messages, those of relays once [byte]"),
    "first_task": Column("First id of its messages and tasks"),
    "last_task": Column("Last id of its messages and tasks"),
}
SKIPPED_SAMPLES = {
    "time_ps": Column("Sample of ports and flows that was not executed in full [ps]"),
    "skipped_ps": Column("Part of the time since the sample before that was skipped [ps]"),
}
TRANSPORTS = {
    "transport": Column("Index into the transports of the scenario, from 0"),
    "mtu_bytes": Column("Payload of a full packet [byte]"),
    "header_bytes": Column("Headers and checksums of each data packet [byte]"),
    "first_header_bytes": Column("More in the first packet of a message [byte]"),
    "ack_bytes": Column("Acknowledgement frame [byte]"),
    "ack_interval_packets": Column("In-order packets per acknowledgement"),
}
SUMMARY = {
    "now_ps": Column("Simulated time at the end of the run [ps]"),
    "events": Column("Events executed"),
    "data_packets_delivered": Column(
        "Data packets that receiving hosts accepted, without those that came trimmed"
    ),
    "flows_total": Column("Flows of the run"),
    "flows_done": Column("Flows whose sender has every acknowledgement"),
    "rule_changes": Column("Routes of messages that switch programs have set or changed"),
}

#: All tables by name.
CONTRACTS = {
    "flows": FLOWS,
    "tasks": TASKS,
    "ports": PORTS,
    "paths": PATHS,
    "summary": SUMMARY,
    "transports": TRANSPORTS,
    "arrivals": ARRIVALS,
    "port_samples": PORT_SAMPLES,
    "flow_samples": FLOW_SAMPLES,
    "pauses": PAUSES,
    "control": CONTROL,
    "requests": REQUESTS,
    "batches": BATCHES,
    "skips": SKIPS,
    "skipped_flows": SKIPPED_FLOWS,
    "skipped_samples": SKIPPED_SAMPLES,
}
#: What a scenario has to have for a table that not every run leaves.
RECORDED_WITH = {
    "tasks": "a workload that computes, as training does",
    "arrivals": "trace: {arrivals: true}",
    "port_samples": "trace: {sample: 10 us}",
    "flow_samples": "trace: {sample: 10 us}",
    "pauses": "trace: {pauses: true}",
    "control": "a controller of a workload wan_demands",
    "requests": "a workload serving",
    "batches": "a workload serving",
    "skips": "engine: {skip: 1%}",
    "skipped_flows": "engine: {skip: 1%}",
    "skipped_samples": "engine: {skip: 1%} and trace: {sample: 10 us}",
}
#: Those that every run leaves.
ALWAYS = tuple(name for name in CONTRACTS if name not in RECORDED_WITH)
#: Of these the fluid engine knows nothing: it leaves them out, and they are <NA> in its runs.
OF_PACKETS = {
    "flows": (
        "retransmitted_packets", "trimmed_packets", "ecn_marked_packets", "timeouts", "naks",
        "out_of_order_peak_packets",
    ),
    "ports": tuple(
        name for name in PORTS if name not in ("node", "peer", "parallel", "rate_bps", "sent_bytes")
    ),
    "summary": ("rule_changes",),
}  # fmt: skip


def unknown_columns(name: str, engine: str) -> tuple[str, ...]:
    """Return the columns of a table of which an engine knows nothing."""
    return OF_PACKETS.get(name, ()) if engine == "fluid" else ()


def contract_of(name: str, engine: str) -> dict[str, Column]:
    """Return the contract of a table as one engine keeps it."""
    unknown = unknown_columns(name, engine)
    return {
        column: rule._replace(may_be_missing=True) if column in unknown else rule
        for column, rule in CONTRACTS[name].items()
    }
