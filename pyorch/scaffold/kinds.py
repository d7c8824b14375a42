# SPDX-License-Identifier: GPL-2.0-only
"""Leaves the list of what can be written: kinds of C++ modules and of single files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of plug-in.

    Attributes
    ----------
    name : str
        As the user types it, ``"path-selector"``.
    help : str
        What the skeleton does, in one line.
    next : tuple of str
        What to do with it, with ``{name}``, ``{stem}`` and ``{cls}``.
    """

    name: str
    help: str
    next: tuple[str, ...]


@dataclass(frozen=True)
class File(Kind):
    """A kind that is one file, at ``path`` with ``{name}``."""

    path: str
    template: str

    @property
    def path_in_study(self) -> str:
        """Where it lies in a study: ``topology/{name}.py``."""
        return self.path.removeprefix("pyorch/")


@dataclass(frozen=True)
class Module(Kind):
    """A kind that is a C++ module with one class.

    Attributes
    ----------
    suffix : str
        What the name of the class ends with.
    contract : str
        The class it derives from.
    library : str
        The module it is linked with, as CMake names it.
    models, lacks, oracle : str
        What the README says.
    """

    suffix: str
    contract: str
    library: str
    models: str
    lacks: str
    oracle: str


_BUILD = (
    "python -m pyorch.simulate.build test-runner",
    "build/bin/test-runner --suite={stem} --verbose",
)


def _module(
    name: str, suffix: str, contract: str, use: str, text: tuple[str, str, str, str],
    library: str = "libcontract",
) -> Module:  # fmt: skip
    says, models, lacks, oracle = text
    return Module(
        name=name, help=says, next=(*_BUILD, f"{use}  in a scenario; see docs/extending.md"),
        suffix=suffix, contract=contract, library=library, models=models, lacks=lacks,
        oracle=oracle,
    )  # fmt: skip


def _file(name: str, says: str, path: str, use: str) -> File:
    kind = path.rpartition(".")[2]
    return File(name=name, help=says, next=(use,), path=path, template=f"{name}.{kind}.jinja")


_ALL = [
    _module(
        "transport", "Transport", "MessageTransport", "transport: {{type: ns3::{cls}}}",
        (
            "A fixed window, each packet acknowledged by its number.",
            "A sender keeps a fixed window of packets in flight, on one path by default. The"
            " receiver takes\npackets in any order and acknowledges each by its number. A packet is"
            " retransmitted when a later one\nhas come before it, when it came without its payload,"
            " or after a timeout. Window and rate of a\nmessage can be those of a congestion"
            " control.",
            "Pacing of its own, credits, connections.",
            "Closed forms of a window of one packet and of a window that holds the message, and"
            " counting of\nscripted losses",
        ),
        library="libhost",
    ),
    _module(
        "congestion-control", "Control", "CongestionControl",
        "transport: {{type: ns3::RoceTransport, attributes: {{CongestionControl: ns3::{cls}}}}}",
        (
            "A window that grows by a packet per round trip and is halved on a mark.",
            "A window for each message that grows by one packet per round trip and is halved when a"
            " packet was\nmarked or lost, at most once per window.",
            "Rates, notifications of congestion, in-band telemetry.",
            "The time of a message on a wire that is never idle, and the deepest queue of two"
            " messages at a\nlink that marks",
        ),
    ),
    _module(
        "path-selector", "Entropy", "PathSelector",
        "transport: {{type: ns3::SprayTransport, attributes: {{PathSelector: ns3::{cls}}}}}",
        (
            "All entropies in turn; one that lost a packet is left out once.",
            "The entropies of a message are taken in turn. One on which a packet was lost is left"
            " out once.",
            "Marks, planes of a host.",
            "Packets of each path, by a division and by counting",
        ),
    ),
    _module(
        "forwarding", "Forwarding", "ForwardingPolicy",
        "switch: {{forwarding: {{type: ns3::{cls}}}}}",
        (
            "All frames to one host go the same way.",
            "A switch with several equal-cost paths sends all frames to one host by the same of"
            " them.",
            "Queues; links that are cut and not yet routed around.",
            "The remainder of a division, by hand",
        ),
    ),
    _module(
        "queue", "Queue", "QueueDiscipline", "switch: {{queue: {{type: ns3::{cls}}}}}",
        (
            "A queue that marks above one limit and drops above another.",
            "A queue that marks what finds more than one limit waiting and drops what does not fit"
            " into another.",
            "Trimming, averages, a buffer shared by ports.",
            "The growth of a queue that two wires fill and one empties",
        ),
    ),
    _module(
        "scheduler", "Scheduler", "EgressScheduler", "switch: {{scheduler: {{type: ns3::{cls}}}}}",
        (
            "Classes take turns at an egress.",
            "Classes that have frames take turns; each sends so many of them.",
            "Weights of classes, sizes of frames.",
            "Two classes share a link in halves",
        ),
    ),
    _module(
        "switch-program", "Program", "SwitchProgram",
        "switch: {{programs: [{{type: ns3::{cls}}}]}}",
        (
            "A switch that holds every n-th packet back for a while.",
            "Each switch holds every n-th packet of data back for a while and then sends it on.",
            "Limits of what a switch can hold or do.",
            "The time of a message of which one packet is on its way at a time",
        ),
    ),
    _module(
        "flow-control", "FlowControl", "LinkFlowControl",
        "link: {{flow_control: {{type: ns3::{cls}}}}}",
        (
            "A switch stops the sender of a link when it holds too much of it.",
            "A switch that holds much of what came in by a link tells the other end to stop, and"
            " later to go on.",
            "The refresh of a PAUSE, a limit to what comes after it, limits of single classes.",
            "Completion of an incast on a link that is never idle, and the deepest queue",
        ),
    ),
    _module(
        "loss-model", "Loss", "LossModel", "link: {{loss_model: {{type: ns3::{cls}}}}}",
        (
            "A wire that loses every n-th frame.",
            "Every n-th frame of each wire is lost.",
            "Chance, bursts, sizes of frames.",
            "A division of what each port has sent",
        ),
    ),
    _file(
        "topology", "All hosts around one switch.", "pyorch/topology/{name}.py",
        "topology: {{type: {name}, hosts: 8}}  in a scenario; see docs/extending.md",
    ),
    _file(
        "workload", "Each host sends one message to the next.", "pyorch/workload/{name}.py",
        "workload: {{type: {name}, message: 1 MB}}  in a scenario; see docs/extending.md",
    ),
    _file(
        "collective", "Rank 0 gives each rank its part.", "pyorch/collective/{name}.py",
        "workload: {{type: collective, algorithm: {name}, operation: scatter, ...}}  in a scenario",
    ),
    _file(
        "trace_format", "Messages of a text file, one after the other.",
        "pyorch/trace_format/{name}.py",
        "workload: {{type: trace, format: {name}, file: trace.txt}}  in a scenario",
    ),
    _file(
        "allocation", "A scheduler of jobs: each on the last hosts that are free.",
        "pyorch/allocation/{name}.py",
        "jobs: {{type: {name}, hosts: [8, 8]}}  in a scenario",
    ),
    _file(
        "failure", "One link that is cut for a while.", "pyorch/failure/{name}.py",
        "failures: [{{type: {name}, row: 0, start: 10 us, lasts: 10 us}}]  in a scenario",
    ),
    _file(
        "controller", "All demands between datacenters get the same.",
        "pyorch/controller/{name}.py",
        "workload: {{type: wan_demands, control: {{controller: {name}, ...}}, ...}}  in a scenario",
    ),
    _file(
        "metric", "The goodput of a run.", "pyorch/metrics/{name}.py",
        "pyorch sweep scenarios/<scenario>.yaml --metric {name}",
    ),
    _file(
        "scenario", "A permutation on one path and on all of them.", "scenarios/{name}.yaml",
        "pyorch run scenarios/{name}.yaml --scale smoke",
    ),
    _file(
        "figure", "Completion times of the scenario of the same name.", "plots/{name}.py",
        "snakemake --cores 2 figures/laptop/{name}.pdf",
    ),
]  # fmt: skip

#: By the name that the user types.
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
