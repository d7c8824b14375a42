# SPDX-License-Identifier: GPL-2.0-only
"""The commands of ``pyorch theory``: one question, one answer as a table, CSV or JSON."""

import itertools
import math
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from pyorch import units
from pyorch.cli.help import PLAIN
from pyorch.cli.theory import design, operation, site, traffic
from pyorch.cli.theory import wan as sites
from pyorch.cli.theory.print import (
    GB,
    GBPS,
    MS,
    Format,
    FormatOption,
    PresetOption,
    PresetsOption,
    SetOption,
    assignments,
    emit,
    say_idle,
)
from pyorch.errors import TheoryError

app = typer.Typer(**PLAIN, no_args_is_help=True)
for command in (
    site.scaling,
    site.site,
    site.topology,
    site.permutation,
    site.collisions,
    design.step,
    operation.goodput,
    traffic.traffic,
    traffic.inference,
    sites.wan_te,
    sites.fec,
):
    app.command()(command)

_MODELS_OF_THE_PAPER = ("dense-100t", "moe-100t")
#: Times of a stage, in the order in which they are printed.
_ACTIVITIES = (
    "forward", "backward", "tensor", "pipeline", "dp1", "dp2", "dp4", "dp5", "expert", "context",
    "gather",
)  # fmt: skip
_MOST_RETRANSMISSIONS = 1e6
RatesOption = list[str] | None


def _rates(texts: RatesOption) -> list[float | None]:
    """Return rates [bit/s]; one None, which keeps the preset's, if none is given."""
    return [float(units.parse_rate_bps(text)) for text in texts] if texts else [None]


@app.command()
def exposed(
    preset: PresetsOption = None,
    scale_up: Annotated[RatesOption, typer.Option(help="Rate; repeat it for a sweep.")] = None,
    scale_out: Annotated[RatesOption, typer.Option(help="Rate; repeat it for a sweep.")] = None,
    wan: Annotated[RatesOption, typer.Option(help="Rate per GPU between data centres.")] = None,
    wan_model: Annotated[
        str, typer.Option(help="once-rtt, once-one-way, twice-one-way, or none.")
    ] = "none",
    retransmissions: Annotated[float, typer.Option(help="Round trips lost on the WAN.")] = 0,
    exchange_every: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Data centres exchange in one of so many steps; may be repeated."),
    ] = None,
    pooling: Annotated[str, typer.Option(help="max, shared, rs_ag or scale_out.")] = "max",
    inflate: Annotated[
        list[str] | None,
        typer.Option(help="Slowest over ideal transfer: pipeline=7, also tensor, scale_up, ..."),
    ] = None,
    sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Exposed networking: the share of a training step in which GPUs wait for the network.

    Without --preset of dense-100t.
    """
    from pyorch.theory import exposed as model
    from pyorch.theory import parallelism
    from pyorch.theory import preset as presets

    if not 0 <= retransmissions <= _MOST_RETRANSMISSIONS:
        raise TheoryError(
            f"--retransmissions {retransmissions:g}: 0 to {_MOST_RETRANSMISSIONS:g} round trips are"
            " lost."
        )
    names = preset or ["dense-100t"]
    setups = {name: presets.training(name, assignments(sets)).setup for name in names}
    chosen = None if wan_model == "none" else wan_model
    if wan and chosen is None:
        chosen = model.DEFAULT_WAN_MODEL
    if exchange_every and chosen is None:
        raise TheoryError(
            "--exchange-every: nothing is exchanged without --wan RATE or --wan-model NAME."
        )
    inflation = model.Inflation(**_inflations(inflate or [], model.Inflation))
    rows = []
    for name, up, out, far, every in itertools.product(
        setups, _rates(scale_up), _rates(scale_out), _rates(wan), exchange_every or [1]
    ):
        setup = model.with_rates(setups[name], scale_up_bps=up, scale_out_bps=out, wan_bps=far)
        shared: dict[str, Any] = {"pooling": pooling, "inflation": inflation}
        step = model.local_steps(
            model.expose_setup(setup, **shared),
            model.expose_setup(
                setup, wan_model=chosen, retransmission_rtts=retransmissions, **shared
            ),
            every,
        )
        rows.append(
            {
                "preset": name,
                "scale_up_gbps": float(setup.network.scale_up_bps) / GBPS,
                "scale_out_gbps": float(setup.network.scale_out_bps) / GBPS,
                "wan_gbps": float(setup.network.wan_bps) / GBPS if chosen else None,
                "wan_model": chosen or "none",
                "exchange_every": every if chosen else None,
                "pooling": pooling,
                "compute_ms": float(step.compute_ps) / MS,
                "tensor_ms": float(step.tensor_ps) / MS,
                "pipeline_ms": float(step.pipeline_ps) / MS,
                "expert_ms": float(step.expert_ps) / MS,
                "context_ms": float(step.context_ps) / MS,
                "data_ms": float(step.data_ps) / MS,
                "exposed_ms": float(step.exposed_ps) / MS,
                "step_ms": float(step.step_ps) / MS,
                "exposed_percent": 100 * float(step.share),
                "bubble_percent": 100 * float(step.bubble_share),
                "mfu_percent": 100 * float(parallelism.mfu(setup, step.step_ps)),
            }
        )
    emit(rows, form)
    for name, setup in setups.items():
        say_idle(name, setup)


def _inflations(texts: list[str], inflation: type) -> dict[str, float]:
    """Return ratios by kind of transfer from ``kind=ratio``.

    Raises
    ------
    TheoryError
        No such kind, or no number of 1 or more.
    """
    kinds = [field.name for field in fields(inflation)]
    found = {}
    for text in texts:
        kind, _, ratio = text.partition("=")
        number = _number(ratio)
        if kind not in kinds or number is None or not 1 <= number < math.inf:
            raise TheoryError(
                f"--inflate {text}: write kind=ratio with a ratio of 1 (ideal) or more, for"
                f" example pipeline=7. Kinds: {', '.join(kinds)}."
            )
        found[kind] = number
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@app.command()
def stages(
    preset: PresetsOption = None, sets: SetOption = None, form: FormatOption = Format.table
) -> None:
    """Times of compute and communication of one pipeline stage in a step.

    Without --preset of both models of the paper, dense-100t and moe-100t.
    """
    from pyorch.theory import parallelism
    from pyorch.theory import preset as presets

    rows = []
    for name in preset or _MODELS_OF_THE_PAPER:
        setup = presets.training(name, assignments(sets)).setup
        times = parallelism.stage_times(setup)
        found = [(key, float(getattr(times, f"{key}_ps")) / MS, "ms") for key in _ACTIVITIES]
        if setup.cluster.datacenters > 1:
            found.append(("wan_pair", float(times.wan_pair_bytes) / 1e6, "MB"))
        for activity, value, unit in found:
            rows.append({"preset": name, "activity": activity, "value": value, "unit": unit})
    emit(rows, form)


@app.command()
def memory(
    preset: PresetOption = "dense-100t", sets: SetOption = None, form: FormatOption = Format.table
) -> None:
    """Parameters and memory per device, and how many copies of the model fit."""
    from pyorch.theory import preset as presets

    setup = presets.training(preset, assignments(sets)).setup
    where, kept = setup.placement, setup.precision
    emit(
        [
            {
                "preset": preset,
                "parameters": float(setup.model.parameters),
                "active_parameters": float(setup.model.active_parameters),
                "total_gb": kept.parameter_bytes * setup.model.parameters / GB,
                "device_gb": setup.held_bytes / GB,
                "tensor": where.tensor,
                "stages": where.stages,
                "replicas": where.working_replicas,
                "gpus_per_replica": where.gpus_per_replica,
                "gpus_used": where.gpus_working,
            }
        ],
        form,
    )


@app.command()
def golden(form: FormatOption = Format.table) -> None:
    """Every number of the two source documents, our value, and a status."""
    from pyorch.theory import golden as table

    rows = table.rows()
    if form is Format.table:
        emit(
            [
                {
                    "id": row.claim.id, "unit": row.claim.unit,
                    "document": row.claim.document_value, "computed": row.computed,
                    "status": row.status,
                }
                for row in rows
            ],
            form,
        )  # fmt: skip
        return
    emit(
        [
            {
                "id": row.claim.id, "quantity": row.claim.quantity, "unit": row.claim.unit,
                "document_value": row.claim.document_value, "computed_value": row.computed,
                "status": row.status, "source": row.claim.source_section,
            }
            for row in rows
        ],
        form,
    )  # fmt: skip


@app.command()
def presets(
    name: Annotated[str, typer.Argument(help="Preset to print (default: list them).")] = "",
) -> None:
    """List the presets, or print one."""
    from pyorch.theory import preset

    typer.echo(preset.find(name).read_text(encoding="utf-8") if name else "\n".join(preset.names()))


@app.command()
def report(
    out: Annotated[Path, typer.Option(help="Folder with the figures, to write to.")] = Path(
        "figures/laptop"
    ),
) -> None:
    """Write the reproduction report as reproduction.html and reproduction.md."""
    from pyorch.report import reproduction

    for path in reproduction.write(out):
        typer.echo(path)
