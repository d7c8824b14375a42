# SPDX-License-Identifier: GPL-2.0-only
"""Commands of ``pyorch theory`` about traffic: of training and of inference."""

from typing import Annotated

import typer

from pyorch import units
from pyorch.cli.theory.print import (
    GB,
    MS,
    Format,
    FormatOption,
    PresetOption,
    SetOption,
    assignments,
    emit,
)
from pyorch.errors import TheoryError


def traffic(
    preset: PresetOption = "llama3-70b",
    all_reduce: Annotated[str, typer.Option(help="Of DP: direct, ring or tree.")] = "direct",
    sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Bytes that each kind of parallelism sends in an epoch, and how often it communicates.

    Times are per mini-batch, but those of the TP forward pass are per epoch, as in the blog; its
    conventions are in the last column.
    """
    from pyorch.theory import preset as presets
    from pyorch.theory import traffic as model

    job = presets.training(preset, assignments(sets)).traffic
    if job is None:
        raise TheoryError(f"{preset}: has no section traffic; add one as in llama3-70b.")
    volumes = model.volumes(job) | {"DP": model.data_parallel(job, all_reduce)}
    said = model.conventions(all_reduce)
    loaded, times = model.dataset_loading_bytes(job), model.communication_times(job)
    emit(
        [
            {
                "parallelism": kind,
                "backward_pb": float(volume.backward_bytes) / 1e15,
                "forward_pb": float(volume.forward_bytes) / 1e15,
                "total_pb": float(volume.total_bytes) / 1e15,
                "backward_times": float(times[kind].backward) if kind in times else None,
                "forward_times": float(times[kind].forward) if kind in times else None,
                "dataset_tb": float(loaded[kind]) / 1e12 if kind in loaded else None,
                "convention": said[kind],
            }
            for kind, volume in volumes.items()
        ],
        form,
    )


def inference(
    preset: PresetOption = "inference-120b", sets: SetOption = None,
    port: Annotated[str, typer.Option(help="Rate of one port.")] = "800 Gb/s",
    form: FormatOption = Format.table,
) -> None:  # fmt: skip
    """Traffic of an inference service: prefill, decode, KV cache."""
    from pyorch.theory import inference as model
    from pyorch.theory import preset as presets

    service = presets.inference(preset, assignments(sets))
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
