# SPDX-License-Identifier: GPL-2.0-only
"""Says before runs begin how long they may take: by finished ones like them, else by packets."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pyorch import spec as specs
from pyorch import traces
from pyorch.errors import PyorchError
from pyorch.runs.finished import is_finished
from pyorch.simulate.progress import duration_text
from pyorch.workflow.events import OTHER_S, Progress
from pyorch.workflow.resources import size_of

#: CPU of a data packet and its answers on one link, where no run like it is finished [s]. Measured:
#: 0.2 to 0.9 us, the scenarios of pyorch with up to 1024 hosts, two runs at a time.
PACKET_LINK_S = 0.4e-6
#: Of a packet of ns-3's own TCP [s]. Measured: 13 to 43 us, there.
STOCK_PACKET_LINK_S = 20e-6
#: CPU of a message beside its packets [s]. Measured: 6 us, there.
MESSAGE_S = 6e-6
#: Beyond so many hosts that time grows with their fourth root, as what a packet touches is in no
#: cache. Measured: 0.3 to 1.5 us with 8192 hosts, the mean of 21 runs 0.71, docs/results.
CACHED_HOSTS = 1024
#: CPU of a message at flow level [s]. Measured: 0.6 to 65 us, there.
FLUID_MESSAGE_S = 30e-6
#: CPU of a run beside its packets [s]. Measured: 0.66 of 774 runs of a workflow, Snakemake
#: included, 0.23 and 0.48 of small ones.
START_S = 0.5

#: A run that may take longer is said not to go on where it was stopped [s].
LONG_S = 3 * 3600.0

#: What bounds the work of a run of which only rates are known [byte], [1].
SMALL_PACKET_BYTES, MOST_LINKS = 1000, 8

#: Engine, variant and maybe case: what runs that are alike have in common.
Kind = tuple[str, ...]


class Sweep(NamedTuple):
    """Runs of a sweep that are finished, and those that are not; each once."""

    finished: list[specs.Run]
    missing: list[specs.Run]


class Cost(NamedTuple):
    """What a run may take: its CPU [s], and whether that is known from a finished one like it."""

    cpu_s: float
    is_known: bool


def look(runs: Iterable[specs.Run], results: Path | str = "results") -> Sweep:
    """Return which runs of a sweep are finished, made by the code and libraries of now."""
    found = Sweep([], [])
    for run in {run.folder: run for run in runs}.values():
        found[not is_finished(run.spec, Path(results, run.folder))].append(run)
    return found


def costs(sweep: Sweep, results: Path | str = "results") -> dict[str, Cost]:
    """Return what each missing run may take, by its name ``scenario/run``.

    What its messages and their packets usually take, times what finished runs of its variant and
    case, else of its variant, have taken of that.
    """
    kinds = {kind for run in sweep.missing for kind in _kinds(run)}
    paces = _paces([run for run in sweep.finished if kinds.intersection(_kinds(run))], results)
    found = {}
    for run in sweep.missing:
        pace = next((paces[kind] for kind in _kinds(run) if kind in paces), None)
        cpu_s = START_S + _usual_s(run) * (1.0 if pace is None else pace)
        found[run.folder] = Cost(cpu_s, pace is not None)
    return found


def progress(sweep: Sweep, others: Mapping[str, int], cores: int | None) -> Progress:
    """Return how far the jobs of a workflow are that begins.

    Parameters
    ----------
    sweep : Sweep
        Runs that are asked for.
    others : mapping
        How many jobs of each other rule are due.
    cores : int, optional
        How many jobs at a time, at most; all cores by default.
    """
    its = costs(sweep)
    cores = cores or len(os.sched_getaffinity(0))
    return Progress(
        len(sweep.finished) + len(sweep.missing),
        work={name: cost.cpu_s for name, cost in its.items()},
        cores=cores,
        estimate=line(sweep, its, cores, others),
    )


def line(
    sweep: Sweep,
    its: Mapping[str, Cost],
    cores: int | None,
    others: Mapping[str, int] | None = None,
) -> str:
    """Return in one line how many runs are finished and how long the others may take.

    Parameters
    ----------
    sweep : Sweep
        From `look`.
    its : mapping
        From `costs`.
    cores : int, optional
        How many runs at a time, at most; all cores by default.
    others : mapping, optional
        How many tables and figures are made as well, by rule.
    """
    done, missing = len(sweep.finished), sweep.missing
    names = sorted({run.scenario for run in [*sweep.finished, *missing]})
    name = f"{names[0]}: " if len(names) == 1 else ""
    said = f"{name}{done} of {done + len(missing)} runs are finished"
    others = {rule: count for rule, count in (others or {}).items() if rule in OTHER_S and count}
    if not missing and not others:
        return f"{said}."
    cores = cores or len(os.sched_getaffinity(0))
    longest_s = max((its[run.folder].cpu_s / min(run.threads, cores) for run in missing), default=0)
    others_s = sum(OTHER_S[rule] * count for rule, count in others.items())
    wall_s = max(longest_s, (sum(cost.cpu_s for cost in its.values()) + others_s) / cores, 1)
    left = [f"the other {len(missing)}"] if missing else []
    left += [f"{sum(others.values())} tables and figures"] if others else []
    sources = (
        f" ({'; '.join(_sources(missing, its))}), without what is sent again" if missing else ""
    )
    last = of_long(missing, its)
    return (
        f"{said}; an estimate for {' and '.join(left)}: {duration_text(wall_s)} on {cores}"
        f" core{'s' * (cores > 1)}{sources}.{' ' * bool(last)}{last}"
    )


def of_long(runs: Iterable[specs.Run], its: Mapping[str, Cost]) -> str:
    """Return a sentence on runs that may take hours, for none can go on in the middle.

    Parameters
    ----------
    runs : iterable of Run
        That have to be made.
    its : mapping
        From `costs`.
    """
    wall_s = {run.folder: its[run.folder].cpu_s / run.threads for run in runs}
    long = {folder: one_s for folder, one_s in wall_s.items() if one_s > LONG_S}
    if not long:
        return ""
    longest = max(long, key=lambda folder: long[folder])
    others = f", and {len(long) - 1} more over {LONG_S / 3600:g} h" if len(long) > 1 else ""
    return (
        f"{longest} may take {duration_text(long[longest])}{others}: a run that is stopped begins"
        " again, because it cannot go on in the middle."
    )


def of_one_long(run: specs.Run) -> str:
    """Return `of_long` of one run, at once if it could not take hours with every host at its rate.

    An estimate needs flows and routes, whose packages take 0.2 s of CPU to load.
    """
    spec = run.spec
    sent_bytes = spec.topology.counts()["hosts"] * spec.link.rate_bps * spec.stop_ps / 8e12
    is_stock = any("SegmentBytes" in one.attributes for one in spec.transport)
    packet_link_s = STOCK_PACKET_LINK_S if is_stock else PACKET_LINK_S
    at_most_s = sent_bytes / SMALL_PACKET_BYTES * MOST_LINKS * packet_link_s
    if at_most_s < LONG_S and not _is_fluid(run):
        return ""
    return of_long([run], costs(Sweep([], [run])))


def _sources(missing: Sequence[specs.Run], its: Mapping[str, Cost]) -> Iterator[str]:
    """Yield what an estimate is made of, and for how many runs."""
    if known := sum(cost.is_known for cost in its.values()):
        yield f"{known} by finished runs like them"
    others = [run for run in missing if not its[run.folder].is_known]
    at_flow_level = sum(map(_is_fluid, others))
    stock = any(size_of(run.spec).stock_packet_links for run in others if not _is_fluid(run))
    tcp = f" (ns-3's TCP {STOCK_PACKET_LINK_S * 1e6:g})" if stock else ""
    if n_packets := len(others) - at_flow_level:
        yield (
            f"{n_packets} by packets x links at {PACKET_LINK_S * 1e6:g} us of CPU{tcp}, measured"
            f" 0.2 to 0.9 up to {CACHED_HOSTS} hosts"
        )
    if at_flow_level:
        yield f"{at_flow_level} by messages at {FLUID_MESSAGE_S * 1e6:g} us, measured 0.6 to 65"


def _usual_s(run: specs.Run) -> float:
    """Return the CPU that its messages and packets take, where no run like it is finished [s]."""
    size = size_of(run.spec)
    if _is_fluid(run):
        return size.messages * FLUID_MESSAGE_S
    slower = max(1.0, (run.spec.topology.counts()["hosts"] / CACHED_HOSTS) ** 0.25)
    packets_s = size.packet_links * PACKET_LINK_S + size.stock_packet_links * STOCK_PACKET_LINK_S
    return size.messages * MESSAGE_S + packets_s * slower


def _is_fluid(run: specs.Run) -> bool:
    return run.spec.engine.type == "fluid"


def _kinds(run: specs.Run) -> list[Kind]:
    """Return what it may have in common with others, the nearest first."""
    engine = run.spec.engine.type
    return [(engine, run.variant, run.case), (engine, run.variant)]


def _paces(runs: Sequence[specs.Run], results: Path | str) -> dict[Kind, float]:
    """Return how much of their usual CPU finished runs have taken, by what they have in common."""
    spent_s: dict[Kind, float] = {}
    usual_s: dict[Kind, float] = {}
    for run in runs:
        try:
            run_s = float(traces.read_provenance(Path(results, run.folder))["run_cpu_s"])
        except (PyorchError, KeyError, TypeError, ValueError):
            continue  # of another version, or damaged: nothing is known
        for kind in _kinds(run):
            spent_s[kind] = spent_s.get(kind, 0.0) + run_s
            usual_s[kind] = usual_s.get(kind, 0.0) + _usual_s(run)
    return {kind: spent_s[kind] / usual_s[kind] for kind in spent_s if usual_s[kind]}
