# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [hotnets24] section 4: memory, tensor-parallel degree, replicas, compute per layer."""

import math
from dataclasses import replace
from typing import Any

from pyorch.theory import memory, parallelism
from pyorch.theory.architecture import Model
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import GIGA, MS, TERA
from pyorch.theory.golden.claims import printed
from pyorch.theory.parallelism import Setup

#: Layers of the 50T variant that one reading of the recomputation overhead needs.
LAYERS_50T = 128


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _memory() | _degree() | _copies() | _compute() | _recompute()


def _memory() -> dict[str, float]:
    setup = given.dense()
    n, precision = setup.model.parameters, setup.precision
    kept_bytes = memory.activation_layer_bytes(setup.model, precision, setup.job)
    parts = ("p.mem.model", "p.mem.grad", "p.mem.opt")
    return {
        "p.mem.total": precision.parameter_bytes * n / TERA,
        "p.mem.model": precision.model_bytes * n / TERA,
        "p.mem.grad": precision.gradient_bytes * n / TERA,
        "p.mem.opt": precision.optimizer_bytes * n / TERA,
        "p.mem.parts_sum": sum(printed(part) for part in parts),
        "p.mem.act_layer": kept_bytes / GIGA,
        "p.mem.act_dev": kept_bytes / setup.tensor / GIGA,
    }


def _degree() -> dict[str, float]:
    setup = given.dense()
    stage_bytes = memory.layer_bytes(setup.model, setup.precision, setup.job)

    def held_bytes(tensor: int) -> float:
        return float(stage_bytes / tensor)

    nine_tenths = replace(setup.cluster, usable_memory_share=0.9)
    return {
        "p.mem.t": setup.tensor,
        "p.mem.t_rule_plain": memory.smallest_tensor(held_bytes, setup.cluster),
        "p.mem.t_rule_div": memory.smallest_tensor(
            held_bytes, setup.cluster, must_divide_rack=True
        ),
        "p.mem.t_rule_90": memory.smallest_tensor(held_bytes, nine_tenths),
    }


def _copies() -> dict[str, float]:
    setup = given.dense()
    where = setup.placement
    per_device = memory.device_model_bytes(setup.model, setup.precision, setup.tensor)
    return {
        "p.mem.layers_per_rack": where.rack_members,
        "p.mem.per_dev": per_device / GIGA,
        "p.mem.replicas": where.replicas,
        "p.mem.replicas_dc": where.rack_members * where.racks_per_stage_and_datacenter,
        "p.mem.peers": where.racks_per_stage_and_datacenter,
        "p.mem.gpus_used": where.gpus_used,
    }


def _with_job(setup: Setup, **changes: Any) -> Setup:
    return replace(setup, job=replace(setup.job, **changes))


def _compute() -> dict[str, float]:
    setup = given.dense()
    rack = given.site().rack
    dense_rate = replace(setup.cluster, gpu_flop_per_s=rack.dense_flop_per_s / rack.n_gpus)
    ahead_ps = parallelism.forward_ps(setup)
    return {
        "p.comp.fwd": ahead_ps / MS,
        "p.comp.fwd_round": ahead_ps / MS,
        "p.comp.bwd": parallelism.stage_times(setup).backward_ps / MS,
        "p.comp.fwd_dense_rate": parallelism.forward_ps(replace(setup, cluster=dense_rate)) / MS,
        "p.comp.fwd_noact": parallelism.forward_ps(_with_job(setup, recompute="none")) / MS,
        "p.comp.fwd_32768": parallelism.forward_ps(_with_job(setup, sequence_tokens=32768)) / MS,
    }


def _recompute() -> dict[str, float]:
    setup = given.dense()
    tokens = setup.job.sequence_tokens
    plain_ps = parallelism.forward_ps(_with_job(setup, recompute="none"))
    moe = given.moe().model
    # Over the matrices alone, forward and backward.
    moe_extra = _attention_again_flop(moe, tokens)
    moe_matrices = 3 * (moe.forward_flop(tokens, 1, recompute=False) - moe_extra)
    half = _model_50t()
    return {
        "p.comp.recompute": 100 * (parallelism.forward_ps(setup) / plain_ps - 1),
        "p.comp.recompute_alt_moe": 100 * moe_extra / moe_matrices,
        "p.comp.recompute_alt_50T": 100
        * _attention_again_flop(half, tokens)
        / (3 * half.forward_flop(tokens, 1, recompute=False)),
    }


def _attention_again_flop(model: Model, tokens: float) -> float:
    """Return what recomputing the attention product adds [FLOP]: 4 s^2 h."""
    again = model.forward_flop(tokens, 1, recompute=True)
    return again - model.forward_flop(tokens, 1, recompute=False)


def _model_50t() -> Model:
    """Return the dense model scaled to 50T parameters without rounding its width."""
    hidden = math.sqrt(printed("p.scale.N_12mo") / 12 / LAYERS_50T)
    model = given.dense().model
    whole: Any = hidden  # it is not
    return replace(model, layers=LAYERS_50T, hidden=whole, feed_forward=4 * whole)
