# SPDX-License-Identifier: GPL-2.0-only
"""The commands of ``pyorch theory``: one question, one answer as a table, CSV or JSON."""

import csv
import io
import itertools
import json
import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pyorch import units
from pyorch.errors import TheoryError
from pyorch.spec.overrides import parse_assignment

app = typer.Typer(no_args_is_help=True, help="Ask the analytical model; no simulation is run.")

MS, GB, GBPS = 1e9, 1e9, 1e9

#: Up to so many rows are printed beside each other if they have more columns than that.
_FEW, _NARROW = 4, 6
#: Width where there is no terminal [character].
_FILE_WIDTH = 160


class Format(StrEnum):
    """How an answer is printed."""

    table = "table"
    csv = "csv"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
PresetOption = Annotated[str, typer.Option(help="Name of a preset, or path of a .yaml file.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Change a key of the preset: model.layers=96.")
]
RatesOption = list[str] | None


def emit(rows: list[dict], form: Format) -> None:
    """Print rows that all have the same keys."""
    match form:
        case Format.csv:
            typer.echo(to_csv(rows), nl=False)
        case Format.json:
            typer.echo(json.dumps([_plain(row) for row in rows], indent=2))
        case Format.table:
            _print_table(rows)


def to_csv(rows: list[dict]) -> str:
    """Return rows as CSV with ten significant digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value, 10) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: object, digits: int) -> str:
    """Return a value as text; what does not exist is empty, and no rate is enough is never."""
    if value is None:
        return ""
    if isinstance(value, int | str):
        return str(value)
    if math.isinf(value):
        return "never"
    return f"{value:.{digits}g}"


def _plain(row: dict) -> dict:
    """Return a row that JSON can hold: it has no infinity."""
    return {
        key: "never" if isinstance(value, float) and math.isinf(value) else value
        for key, value in row.items()
    }


def _print_table(rows: list[dict]) -> None:
    """Print rows below each other, or, where there are few of many columns, beside each other."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    table = Table(box=box.SIMPLE_HEAD, show_header=len(rows) > _FEW or len(rows[0]) <= _NARROW)
    if table.show_header:
        for key, value in rows[0].items():
            table.add_column(key, justify="left" if isinstance(value, str) else "right")
        for row in rows:
            table.add_row(*(_cell(value, 6) for value in row.values()))
    else:
        for key in rows[0]:
            table.add_row(key, *(_cell(row[key], 6) for row in rows))
    console.print(table)


def _sets(texts: list[str] | None) -> list[tuple[str, object]]:
    return [parse_assignment(text) for text in texts or []]


def _rates(texts: RatesOption) -> list[float | None]:
    """Return rates [bit/s]; one None, which keeps the preset's, if none is given."""
    return [float(units.parse_rate_bps(text)) for text in texts] if texts else [None]


@app.command()
def golden(form: FormatOption = Format.table) -> None:
    """Every number of the two documents: our value and its status."""
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
            {"id": row.claim.id, "computed_value": row.computed, "status": row.status}
            for row in rows
        ],
        form,
    )


@app.command()
def exposed(
    preset: PresetOption = "dense-100t",
    scale_up: Annotated[RatesOption, typer.Option(help="Rate; several make a sweep.")] = None,
    scale_out: Annotated[RatesOption, typer.Option(help="Rate; several make a sweep.")] = None,
    wan: Annotated[RatesOption, typer.Option(help="Rate per GPU between data centres.")] = None,
    wan_model: Annotated[str, typer.Option(help="W1, W2, W3, or none.")] = "none",
    retransmissions: Annotated[float, typer.Option(help="Round trips lost on the WAN.")] = 0,
    pooling: Annotated[str, typer.Option(help="max, shared, rs_ag or scale_out.")] = "max",
    inflate: Annotated[
        list[str] | None,
        typer.Option(help="Slowest over ideal transfer: pipeline=7, also tensor, scale_up, ..."),
    ] = None,
    sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """How much of a training step GPUs wait for the network."""
    from pyorch.theory import exposed as model
    from pyorch.theory import preset as presets

    if retransmissions < 0:
        raise TheoryError(f"--retransmissions {retransmissions:g}: 0 or more round trips are lost.")
    training = presets.training(preset, _sets(sets))
    chosen = None if wan_model == "none" else wan_model
    if wan and chosen is None:
        chosen = model.DEFAULT_WAN_MODEL
    inflation = model.Inflation(**_inflations(inflate or [], model.Inflation))
    rows = []
    for up, out, far in itertools.product(_rates(scale_up), _rates(scale_out), _rates(wan)):
        setup = model.with_rates(training.setup, scale_up_bps=up, scale_out_bps=out, wan_bps=far)
        step = model.expose_setup(
            setup, pooling=pooling, wan_model=chosen, retransmission_rtts=retransmissions,
            inflation=inflation,
        )  # fmt: skip
        rows.append(
            {
                "preset": preset,
                "scale_up_gbps": float(setup.network.scale_up_bps) / GBPS,
                "scale_out_gbps": float(setup.network.scale_out_bps) / GBPS,
                "wan_gbps": float(setup.network.wan_bps) / GBPS if chosen else None,
                "wan_model": chosen or "none",
                "pooling": pooling,
                "compute_ms": float(step.compute_ps) / MS,
                "tensor_ms": float(step.tensor_ps) / MS,
                "pipeline_ms": float(step.pipeline_ps) / MS,
                "data_ms": float(step.data_ps) / MS,
                "exposed_ms": float(step.exposed_ps) / MS,
                "exposed_percent": 100 * float(step.share),
            }
        )
    emit(rows, form)


def _inflations(texts: list[str], inflation: type) -> dict[str, float]:
    """Return ratios by kind of transfer from ``kind=ratio``.

    Raises
    ------
    TheoryError
        No such kind, or no number of 1 or more.
    """
    kinds = list(inflation.__dataclass_fields__)
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
    preset: PresetOption = "dense-100t", sets: SetOption = None, form: FormatOption = Format.table
) -> None:
    """Time of everything that one pipeline stage does in a step."""
    from dataclasses import asdict

    from pyorch.theory import parallelism
    from pyorch.theory import preset as presets

    times = asdict(parallelism.stage_times(presets.training(preset, _sets(sets)).setup))
    pair_bytes = times.pop("wan_pair_bytes")
    rows = [
        {"activity": key.removesuffix("_ps"), "value": float(value) / MS, "unit": "ms"}
        for key, value in times.items()
    ]
    emit([*rows, {"activity": "wan_pair", "value": float(pair_bytes) / 1e6, "unit": "MB"}], form)


@app.command()
def memory(
    preset: PresetOption = "dense-100t", sets: SetOption = None, form: FormatOption = Format.table
) -> None:
    """Parameters, memory per device, and how often the model fits."""
    from pyorch.theory import memory as model
    from pyorch.theory import preset as presets

    setup = presets.training(preset, _sets(sets)).setup
    where, kept = setup.placement, setup.precision
    held_bytes = model.device_bytes(
        setup.model, kept, setup.job, setup.tensor, setup.layers_per_stage
    )
    emit(
        [
            {
                "preset": preset,
                "parameters": float(setup.model.parameters),
                "active_parameters": float(setup.model.active_parameters),
                "total_gb": kept.parameter_bytes * setup.model.parameters / GB,
                "device_gb": float(held_bytes) / GB,
                "tensor": where.tensor,
                "stages": where.stages,
                "replicas": where.replicas,
                "gpus_per_replica": where.gpus_per_replica,
                "gpus_used": where.gpus_used,
            }
        ],
        form,
    )


@app.command()
def scaling(
    preset: PresetOption = "site-100b-usd",
    days: Annotated[list[float] | None, typer.Option(help="Training time; may be several.")] = None,
    form: FormatOption = Format.table,
) -> None:
    """Loss-optimal size and tokens for the compute of a site, by each scaling law."""
    from pyorch.theory import infrastructure
    from pyorch.theory import preset as presets
    from pyorch.theory import scaling as laws

    design = presets.site(preset)
    rate = infrastructure.build_site(design.budget, design.rack).dense_flop_per_s
    rows = []
    for time in days or [laws.INFERRED_TRAINING_DAYS]:
        if time <= 0:
            raise TheoryError(f"--days {time:g}: a training time is more than 0 days.")
        work_flop = laws.training_flop(rate, time)
        for name, law in laws.LAWS.items():
            size = law().parameters(work_flop)
            tokens = laws.optimal_tokens(work_flop, size)
            rows.append(
                {
                    "days": float(time), "compute_flop": float(work_flop), "law": name,
                    "parameters": float(size), "tokens": float(tokens),
                }
            )  # fmt: skip
    emit(rows, form)


@app.command()
def site(
    preset: PresetOption = "site-100b-usd", sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:  # fmt: skip
    """What a budget buys, and who in the grid can feed it."""
    from pyorch.theory import infrastructure
    from pyorch.theory import preset as presets

    design = presets.site(preset, _sets(sets))
    built = infrastructure.build_site(design.budget, design.rack)
    emit(
        [
            {
                "preset": preset,
                "racks": float(built.n_racks),
                "gpus": float(built.n_gpus),
                "dense_eflops": built.dense_flop_per_s / 1e18,
                "it_gw": built.it_w / 1e9,
                "site_low_gw": built.low_w / 1e9,
                "site_high_gw": built.high_w / 1e9,
                "authorities_whole": int(infrastructure.count_hosts(design.grid, built.low_w)),
                "authorities_half": int(infrastructure.count_hosts(design.grid, built.low_w / 2)),
            }
        ],
        form,
    )


@app.command()
def topology(
    hosts: Annotated[int, typer.Option(help="Hosts of the network.")] = 800_000,
    radix: Annotated[int, typer.Option(help="Ports of a chip at the rate of a whole NIC.")] = 64,
    planes: Annotated[int, typer.Option(help="Planes that a NIC is split over.")] = 1,
    rails: Annotated[int, typer.Option(help="Networks that the hosts are split over.")] = 1,
    transceiver_usd: Annotated[float, typer.Option(help="Price of one transceiver.")] = 1000,
    form: FormatOption = Format.table,
) -> None:
    """Tiers, chips, cables and optics of a folded Clos of full bisection."""
    from pyorch.theory.topology_cost import Clos, optics_usd

    if planes < 1 or rails < 1:
        raise TheoryError(f"{planes} planes, {rails} rails: there is at least 1 of each.")
    clos = Clos(hosts, radix, planes, rails)
    emit(
        [
            {
                "hosts": hosts, "radix": radix, "planes": planes, "rails": rails,
                "tiers": clos.tiers, "chips": float(clos.chips), "whole_chips": clos.whole_chips,
                "boxes": float(clos.boxes), "cables": float(clos.cables),
                "optics": float(clos.optics), "optics_usd": optics_usd(clos, transceiver_usd),
            }
        ],
        form,
    )  # fmt: skip


@app.command()
def traffic(
    preset: PresetOption = "llama3-70b", sets: SetOption = None, form: FormatOption = Format.table
) -> None:
    """Bytes that each kind of parallelism sends in an epoch."""
    from pyorch.theory import preset as presets
    from pyorch.theory import traffic as model

    job = presets.training(preset, _sets(sets)).traffic
    if job is None:
        raise TheoryError(f"{preset}: has no section traffic; add one as in llama3-70b.")
    loaded = model.dataset_loading_bytes(job)
    emit(
        [
            {
                "parallelism": kind,
                "backward_pb": float(volume.backward_bytes) / 1e15,
                "forward_pb": float(volume.forward_bytes) / 1e15,
                "total_pb": float(volume.total_bytes) / 1e15,
                "dataset_tb": float(loaded[kind]) / 1e12 if kind in loaded else None,
            }
            for kind, volume in model.volumes(job).items()
        ],
        form,
    )


@app.command()
def inference(
    preset: PresetOption = "inference-120b", sets: SetOption = None,
    port: Annotated[str, typer.Option(help="Rate of one port.")] = "800 Gb/s",
    form: FormatOption = Format.table,
) -> None:  # fmt: skip
    """Traffic of an inference service: prefill, decode, KV cache."""
    from pyorch.theory import inference as model
    from pyorch.theory import preset as presets

    service = presets.inference(preset, _sets(sets))
    port_bps = units.parse_rate_bps(port)
    if not port_bps:
        raise TheoryError(f"--port {port}: a rate must be more than 0.")
    emit(
        [
            {
                "preset": preset,
                "prefill_tb": model.prefill_bytes(service) / 1e12,
                "decode_tb": model.decode_bytes(service) / 1e12,
                "kv_cache_gb_per_user": model.kv_cache_bytes(service) / GB,
                "kv_transfer_ms": float(model.kv_transfer_ps(service, port_bps)) / MS,
                "total_tb": model.total_bytes(service) / 1e12,
                "throughput_tbps": model.throughput_bps(service) / 1e12,
            }
        ],
        form,
    )


@app.command()
def permutation(
    hosts: Annotated[int, typer.Option(help="2 k^2 hosts in two tiers.")] = 8192,
    seeds: Annotated[int, typer.Option(help="Draws.")] = 20,
    form: FormatOption = Format.csv,
) -> None:
    """Max-min fluid slowdown of a hashed permutation, one row per draw."""
    import numpy as np

    from pyorch.theory import fluid

    if seeds < 1:
        raise TheoryError(f"--seeds {seeds}: draw at least 1.")
    rows = []
    for seed in range(1, seeds + 1):
        slowdown = fluid.slowdown_of_permutation(hosts, seed)
        quantiles = np.quantile(slowdown, [0.5, 0.99])
        rows.append(
            {
                "hosts": hosts, "seed": seed, "slowdown_p50": float(quantiles[0]),
                "slowdown_p99": float(quantiles[1]), "slowdown_p100": float(slowdown.max()),
                "slowdown_mean": float(slowdown.mean()),
            }
        )  # fmt: skip
    emit(rows, form)


@app.command()
def presets(
    name: Annotated[str, typer.Argument(help="Print this one, to copy and change.")] = "",
) -> None:
    """List the presets, or print one."""
    from pyorch.theory import preset

    typer.echo(preset.find(name).read_text(encoding="utf-8") if name else "\n".join(preset.names()))


@app.command()
def report(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("figures"),
) -> None:
    """Write the reproduction report as reproduction.html and reproduction.md."""
    from pyorch.theory import reproduction

    for path in reproduction.write(out):
        typer.echo(path)
