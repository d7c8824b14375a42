# SPDX-License-Identifier: GPL-2.0-only
"""A step at its full size on one network, and which network to choose."""

import resource
import time
from typing import TYPE_CHECKING, Annotated

import typer

from pyorch import units
from pyorch.cli.theory import packets
from pyorch.cli.theory.print import (
    MS,
    Format,
    FormatOption,
    PresetOption,
    SetOption,
    assignments,
    emit,
    say_idle,
)
from pyorch.errors import TheoryError, counted, quoted

if TYPE_CHECKING:
    from pyorch.theory.design import Design
    from pyorch.theory.parallelism import Setup

_US = 1e6


def step(
    preset: PresetOption = "dense-100t",
    radix: Annotated[int, typer.Option(help="Ports of a chip at the rate of a whole NIC.")] = 64,
    planes: Annotated[int, typer.Option(help="Planes that a NIC is split over.")] = 4,
    rails: Annotated[
        int | None, typer.Option(help="Rails (default: one per GPU of a rack).")
    ] = None,
    oversubscription: Annotated[
        float, typer.Option(help="Rate of the hosts over that of the uplinks.")
    ] = 1.0,
    sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Every collective of a step with the message of every device: max-min fair rates."""
    from pyorch.theory import exposed, full_step, parallelism
    from pyorch.theory import preset as presets

    setup = presets.training(preset, assignments(sets)).setup
    rails = setup.cluster.rack_gpus if rails is None else rails
    fabric = full_step.Fabric(radix, planes, rails, oversubscription)
    full_step.check(setup, fabric)
    ideal = parallelism.stage_times(setup)
    rows, outcomes = [], []
    for phase in full_step.phases(setup):
        begin_s = time.process_time()
        found = full_step.solve(setup, fabric, phase)
        outcomes.append(found)
        closed_ps = full_step.closed_form_ps(setup, phase)
        rows.append(
            {
                "preset": preset, "collective": phase.name, "network": phase.network,
                "devices": len(phase.src), "messages": found.messages,
                "message_bytes": found.message_bytes, "rounds": found.rounds,
                "links": found.links, "exact": "yes" if found.is_exact else "at most",
                "shortest_us": found.shortest_ps / _US, "longest_us": found.longest_ps / _US,
                "time_ms": found.time_ps / MS,
                "closed_form_ms": closed_ps / MS,
                "over_closed_form": found.time_ps / closed_ps,
                "cpu_s": round(time.process_time() - begin_s, 1),
                "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
            }
        )  # fmt: skip
    emit(rows, form)
    if form is Format.table:
        shares = [exposed.expose(times).share
                  for times in (full_step.stage_times(setup, outcomes), ideal)]  # fmt: skip
        typer.echo(
            f"Exposed: {100 * float(shares[0]):.3f} % of the step; closed form"
            f" {100 * float(shares[1]):.3f} %."
        )


def choose(
    preset: Annotated[str, typer.Argument(metavar="MODEL", help="Preset, or path of a .yaml.")],
    exposed: Annotated[str, typer.Option(help="Most of a step that GPUs may wait.")] = "5%",
    radix: Annotated[int, typer.Option(help="Ports of a chip at the rate of a whole NIC.")] = 64,
    planes: Annotated[
        list[int] | None, typer.Option(help="Planes to try (default: 1 2 4 8).")
    ] = None,
    rails: Annotated[
        list[int] | None, typer.Option(help="Rails to try (default: 1, and one per GPU of a rack).")
    ] = None,
    oversubscription: Annotated[
        list[str] | None,
        typer.Option(
            help="Ratios to try, of the edge or of each tier from there on: 4, or 1,7 (default:"
            " 1 1.5 2 3 4 6 8, and 1,2 1,4 1,7 where there are three tiers)."
        ),
    ] = None,
    prices: Annotated[
        str | None, typer.Option(help="File of prices, kind: prices (default: 1000 USD optics).")
    ] = None,
    fluid: Annotated[
        bool,
        typer.Option(help="Solve the frontier at full size; minutes for large jobs."),
    ] = True,
    everything: Annotated[bool, typer.Option("--all", help="Show dominated designs too.")] = False,
    in_packets: Annotated[
        bool, typer.Option("--packets", help="Simulate a smaller step on the best three.")
    ] = False,
    transport: Annotated[
        list[str] | None,
        typer.Option(
            help="sprayed, roce, dcqcn, adaptive, nscc, fluid or a TypeId (default: sprayed);"
            " repeat it for several."
        ),
    ] = None,
    peers: Annotated[int, typer.Option(min=1, help="Racks of a stage in packets, at least.")] = 2,
    divide: Annotated[
        int | None, typer.Option(min=1, help="Bytes and times in packets are divided by this.")
    ] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time (default: all cores).")
    ] = None,
    sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Print the networks that a search finds; the help of the command is with its name."""
    from pyorch.theory import design
    from pyorch.theory import preset as presets

    most = most_share(exposed)
    setup = presets.training(preset, assignments(sets)).setup
    asked = packets.Asked(
        preset, setup, list(dict.fromkeys(transport or ["sprayed"])), peers, divide, cores
    )
    if in_packets and sets:
        raise TheoryError(
            "--packets: a run has a preset as its file says, so --set cannot change it. Write a"
            f" copy under another name (pyorch theory presets {preset} > changed.yaml), change it,"
            " and design changed.yaml."
        )
    if in_packets:
        asked.check()
    elif transport or divide or cores:
        raise TheoryError("--transport, --divide and --cores are for packets. Add --packets.")
    found = design.designs(
        setup, radix, planes or [1, 2, 4, 8], rails or [1, setup.cluster.rack_gpus],
        [_ratios(text) for text in oversubscription or DEFAULT_RATIOS],
        design.Prices() if prices is None else presets.prices(prices),
    )  # fmt: skip
    best = design.frontier(found)
    tried = design.shortlist(asked.simulated(found), most, BEST) if in_packets else []
    scored = [one for one in found if one in best or one in tried]
    scored = design.solved(setup, scored) if fluid else scored
    measured = packets.Measured()
    if in_packets:
        tried = design.shortlist(asked.simulated(scored), most, BEST)
        measured = packets.measure(asked, tried)
    looked_at = [one for one in scored if one.fabric in measured.shares] or scored
    chosen = next((one for one in looked_at if measured.share(one) <= most), None)
    shown = [*scored]
    if everything:
        fabrics = {one.fabric for one in scored}
        shown += [other for other in found if other.fabric not in fabrics]
    emit([_row(preset, one, one is chosen) | measured.columns(one) for one in shown], form)
    say_idle(preset, setup)
    if form is not Format.table:
        return
    typer.echo(
        f"{counted(len(found), 'network')}, {len(best)} that nothing beats. At most"
        f" {100 * most:g} %: " + ("none." if chosen is None else "the one marked yes.")
    )
    if in_packets:
        typer.echo(measured.words())
    if chosen is None:
        typer.echo(_advice(setup, min(map(measured.share, looked_at)), most))


#: Networks that are simulated.
BEST = 3


def _advice(setup: "Setup", least: float, most: float) -> str:
    """Return what of the step no scale-out network takes away, and what would."""
    from pyorch.theory import design, exposed

    step = exposed.expose_setup(setup)
    kinds = ("tensor", "expert", "context", "pipeline", "data")
    parts = {kind: float(getattr(step, f"{kind}_ps") / step.step_ps) for kind in kinds}
    shown = ", ".join(f"{kind} {100 * part:.1f} %" for kind, part in parts.items() if part > 5e-4)
    would = [
        f"{one.change} ({100 * one.share:.1f} %{'' if one.share <= most else ', not enough'})"
        for one in sorted(design.remedies(setup), key=lambda one: one.share)
        if one.share < float(step.share)
    ]
    return (
        f"The best of them exposes {100 * least:.1f} %. At full bisection, in closed form: {shown}."
        f" Would: {'; '.join(would) or 'none of what was tried'}."
    )


#: Edge alone; then the second tier too.
DEFAULT_RATIOS = ("1", "1.5", "2", "3", "4", "6", "8", "1,2", "1,4", "1,7")


def _ratios(text: str) -> tuple[float, ...]:
    """Return ratios of oversubscription from ``4`` or ``1,7``.

    Raises
    ------
    TheoryError
        They are no numbers.
    """
    try:
        return tuple(units.parse_float(part) for part in text.split(","))
    except ValueError:
        raise TheoryError(
            f"--oversubscription {quoted(text)[1:-1]}: write a ratio, or one of each tier from the"
            " edge on: 4, or 1,7."
        ) from None


def most_share(text: str) -> float:
    """Return a share of 0 to 1 from ``5%`` or ``0.05``.

    Raises
    ------
    TheoryError
        It is no share.
    """
    number, percent, rest = text.strip().partition("%")
    try:
        share = units.parse_float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest or not 0 < share < 1:
        raise TheoryError(f"--exposed {quoted(text)[1:-1]}: write a share of a step, 5% or 0.05.")
    return share


def _row(preset: str, one: "Design", is_chosen: bool) -> dict:
    fluid = one.fluid_share
    return {
        "preset": preset, "planes": one.fabric.planes, "rails": one.fabric.rails,
        "oversubscription": ",".join(
            f"{ratio:g}" for ratio in (one.fabric.oversubscription, *one.fabric.upper)
        ),
        "tiers": one.tiers, "chips": one.chips, "cables": one.cables,
        "million_usd": one.usd / 1e6, "megawatt": one.watt / 1e6,
        "exposed_percent": 100 * one.share,
        "fluid_percent": None if fluid is None else 100 * fluid,
        "fluid_is": "" if fluid is None else "at most" if one.is_bound else "exact",
        "chosen": "yes" if is_chosen else "",
    }  # fmt: skip
