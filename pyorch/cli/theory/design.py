# SPDX-License-Identifier: GPL-2.0-only
"""A step at its full size on one network, and which network to choose."""

import resource
import time
from typing import TYPE_CHECKING, Annotated

import typer

from pyorch import units
from pyorch.cli.theory.print import (
    MS,
    Format,
    FormatOption,
    PresetOption,
    SetOption,
    assignments,
    emit,
)
from pyorch.errors import TheoryError, quoted

if TYPE_CHECKING:
    from pyorch.theory.design import Design

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
        closed_ps = getattr(ideal, f"{phase.name}_ps", None)
        rows.append(
            {
                "preset": preset, "collective": phase.name, "network": phase.network,
                "devices": len(phase.src), "messages": found.messages,
                "message_bytes": found.message_bytes, "rounds": found.rounds,
                "links": found.links, "exact": "yes" if found.is_exact else "at most",
                "shortest_us": found.shortest_ps / _US, "longest_us": found.longest_ps / _US,
                "time_ms": found.time_ps / MS,
                "closed_form_ms": None if closed_ps is None else float(closed_ps) / MS,
                "over_closed_form": None if closed_ps is None else found.time_ps / float(closed_ps),
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
        list[float] | None, typer.Option(help="Ratios to try (default: 1 1.5 2 3 4 6 8).")
    ] = None,
    transceiver_usd: Annotated[float, typer.Option(help="Price of one transceiver.")] = 1000,
    chip_usd: Annotated[float, typer.Option(help="Price of one switch chip.")] = 0,
    fluid: Annotated[
        bool, typer.Option(help="Solve the frontier at full size; takes minutes.")
    ] = True,
    everything: Annotated[bool, typer.Option("--all", help="Show dominated designs too.")] = False,
    sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Choose planes, rails and oversubscription: what a network costs and how long GPUs wait."""
    from pyorch.theory import design
    from pyorch.theory import preset as presets

    most = most_share(exposed)
    setup = presets.training(preset, assignments(sets)).setup
    found = design.designs(
        setup, radix, planes or [1, 2, 4, 8], rails or [1, setup.cluster.rack_gpus],
        oversubscription or [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0],
        design.Prices(transceiver_usd, chip_usd),
    )  # fmt: skip
    best = design.frontier(found)
    scored = design.solved(setup, best) if fluid else best
    chosen = design.cheapest(scored, most)
    others = [other for other in found if other not in best] if everything else []
    emit([_row(preset, one, one is chosen) for one in [*scored, *others]], form)
    if form is Format.table:
        typer.echo(
            f"{len(found)} networks, {len(best)} that nothing beats. At most {100 * most:g} %: "
            + ("none; add planes, rails or rate." if chosen is None else "the one marked yes.")
        )


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
        "oversubscription": float(one.fabric.oversubscription), "tiers": one.tiers,
        "chips": one.chips, "cables": one.cables, "million_usd": one.usd / 1e6,
        "exposed_percent": 100 * one.share,
        "fluid_percent": None if fluid is None else 100 * fluid,
        "fluid_is": "" if fluid is None else "at most" if one.is_bound else "exact",
        "chosen": "yes" if is_chosen else "",
    }  # fmt: skip
