# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [asterfusion24] on training, storage and switches."""

import math
from dataclasses import replace

from pyorch.theory import traffic
from pyorch.theory._quantities import BITS_PER_BYTE, SECONDS_PER_DAY
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import EXA, GIGA, PETA, TERA
from pyorch.theory.golden.claims import printed

#: Samples of the English C4, exactly; its mini-batches are in one of the printed numbers.
C4_SAMPLES = 364_613_570
#: Traffic of the Internet in a day [byte], [sandvine24].
INTERNET_BYTES_PER_DAY = 33 * EXA
#: From the first Transformer (mid 2017) to GPT-4 (March 2023) [year].
GROWTH_YEARS = 2023.2 - 2017.5
GPT3_PARAMETERS = 175e9


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _given() | _intro() | _volumes() | _three_d() | _table() | _storage() | _conclusion()


def _given() -> dict[str, float]:
    job = given.blog_job()
    return {
        "b.in.P": job.parameters,
        "b.in.L": job.layers,
        "b.in.H": job.hidden,
        "b.in.G": job.group,
        "b.c4.tokens": job.tokens,
        "b.c4.size": job.dataset_bytes / TERA,
    }


def _intro() -> dict[str, float]:
    job, setup = given.blog_job(), given.blog_setup()
    kept_bytes = GPT3_PARAMETERS * setup.precision.parameter_bytes
    return {
        "b.growth.double": traffic.doubling_months(
            printed("b.growth.first"), printed("b.growth.gpt4"), 12 * GROWTH_YEARS
        ),
        "b.gpt3.gpus": math.ceil(kept_bytes / setup.cluster.gpu_memory_bytes),
        "b.3d.gpus": job.gpus,
        "b.N": traffic.mini_batches(printed("b.c4.samples"), printed("b.in.B")),
    }


def _volumes() -> dict[str, float]:
    job = given.blog_job()
    exact = replace(job, mini_batches=round(traffic.mini_batches(C4_SAMPLES, printed("b.in.B"))))
    sharded, tensor = traffic.fully_sharded(job), traffic.tensor_parallel(job)
    stages_bytes = traffic.pipeline_parallel(job).total_bytes
    return {
        "b.dp.batch": traffic.data_parallel_batch_bytes(job) / GIGA,
        "b.dp.flows": 2 * traffic.pairs(job.group),
        "b.dp.epoch": traffic.data_parallel(job).total_bytes / PETA,
        "b.dp.ring": traffic.data_parallel_batch_bytes(job, "ring") / GIGA,
        "b.fsdp.ag": sharded.forward_bytes / PETA,
        "b.fsdp.epoch": sharded.total_bytes / PETA,
        "b.tp.fwd": tensor.forward_bytes / GIGA,
        "b.tp.bwd178000": tensor.backward_bytes / GIGA,
        "b.tp.bwd": traffic.tensor_parallel(exact).backward_bytes / GIGA,
        "b.tp.epoch": traffic.tensor_parallel(exact).total_bytes / PETA,
        "b.pp.epoch": stages_bytes / PETA,
        "b.pp.epoch8": 2 * stages_bytes / PETA,
    }


def _three_d() -> dict[str, float]:
    job = given.blog_job()
    total_bytes = traffic.three_d(job).total_bytes
    switch_bps = printed("b.sw.cap") * TERA
    days = total_bytes * BITS_PER_BYTE / switch_bps / SECONDS_PER_DAY
    days_if_bytes = total_bytes / switch_bps / SECONDS_PER_DAY  # the document's slip of unit
    epochs_per_day = printed("b.3d.epochs") / printed("b.3d.days")
    return {
        "b.3d.grad": traffic.three_d_gradient_bytes(job) / EXA,
        "b.3d.pp": traffic.pipeline_parallel(job, job.pipeline).forward_bytes / EXA,
        "b.3d.tpfwd": traffic.tensor_parallel(job, job.tensor).forward_bytes / EXA,
        "b.3d.epoch": total_bytes / EXA,
        "b.3d.internet": total_bytes / INTERNET_BYTES_PER_DAY,
        "b.3d.days20": days,
        "b.3d.days_bytes": days_if_bytes,
        "b.3d.switches": math.ceil(days * epochs_per_day),
        "b.3d.switches_bytes": math.ceil(days_if_bytes * epochs_per_day),
    }


def _table() -> dict[str, float]:
    job = given.blog_job()
    times = traffic.communication_times(job)
    found = {
        "b.table.fsdp.times": times["FSDP"].backward,
        "b.table.pp.times": times["PP"].backward,
    }
    for kind in ("DP", "FSDP", "TP", "PP"):
        volume = traffic.volumes(job)[kind]
        found[f"b.table.{kind.lower()}.bwd"] = volume.backward_bytes / PETA
        found[f"b.table.{kind.lower()}.fwd"] = volume.forward_bytes / PETA
    for kind in ("DP", "TP"):
        found[f"b.table.{kind.lower()}.bwd_times"] = times[kind].backward
        found[f"b.table.{kind.lower()}.fwd_times"] = times[kind].forward
    return found


def _storage() -> dict[str, float]:
    job = given.blog_job()
    loaded = traffic.dataset_loading_bytes(job)
    return {
        **{f"b.data.{kind.lower()}": size / TERA for kind, size in loaded.items()},
        "b.ckpt": traffic.checkpoint_bytes(job.parameters) / GIGA,
    }


def _conclusion() -> dict[str, float]:
    chip, wanted = given.site().chip, given.site().topology
    ports, port_bps = chip.ports(wanted.port_bps), wanted.port_bps
    total_bytes = traffic.three_d(given.blog_job()).total_bytes
    burst_bps = printed("b.c.sample") * GIGA * BITS_PER_BYTE / (printed("b.inf.tok_ms") / 1e3)
    return {
        "b.c.sample": total_bytes / printed("b.c4.samples") / GIGA,
        "b.c.ports": burst_bps / port_bps,
        "b.c.pairs": traffic.pairs(20_000),
        "b.sw.ports": ports * port_bps / TERA,
        "b.sw.cap": chip.capacity_bps / TERA,
    }
