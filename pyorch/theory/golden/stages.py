# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [hotnets24] sections 4.1 and 5: volumes and times of each stage, dense and MoE."""

from pyorch.theory import architecture, memory, parallelism
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import GIGA, MEGA, MS, TERA
from pyorch.theory.golden.claims import printed


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _dense() | _moe_shape() | _moe_place() | _moe_times()


def _dense() -> dict[str, float]:
    setup = given.dense()
    times, where = parallelism.stage_times(setup), setup.placement
    return {
        "p.tp.bytes": parallelism.tensor_volume_bytes(setup) / GIGA,
        "p.tp.time": times.tensor_ps / MS,
        "p.pp.bytes": parallelism.pipeline_message_bytes(setup) / MEGA,
        "p.pp.time": times.pipeline_ps / MS,
        "p.dp.g_layer": parallelism.gradient_bytes(setup) / GIGA,
        "p.dp.stage1": times.dp1_ps / MS,
        "p.dp.chunk": parallelism.rack_chunk_bytes(setup) / GIGA,
        "p.dp.stage2": times.dp2_ps / MS,
        "p.dp.pair": times.wan_pair_bytes / MEGA,
        "p.dp.rtt": setup.network.wan_rtt_ps / MS,
        "p.dp.stage4": times.dp4_ps / MS,
        "p.dp.stage5": times.dp5_ps / MS,
        "p.dp.peers_rack": where.rack_members - 1,
        "p.dp.peers_dc": where.racks_per_stage_and_datacenter - 1,
        "p.dp.scaleout_literal": (times.dp2_ps + times.dp4_ps) / MS,
        # As a reduce-scatter, stage 2 sends half of what it does as an all-reduce.
        "p.dp.scaleout_rsag": (times.dp2_ps / 2 + times.dp4_ps) / MS,
    }


def _moe_shape() -> dict[str, float]:
    model = given.moe().model
    slice_parameters = printed("p.moe.base")
    slice_layer = model.attention_parameters + model.expert_parameters
    return {
        "p.moe.experts": model.experts,
        "p.moe.topk": model.active_experts,
        "p.moe.layers": model.layers,
        "p.moe.heads": model.heads,
        "p.moe.hidden": model.hidden,
        "p.moe.levine_depth": round(float(architecture.levine_depth(slice_parameters))),
        "p.moe.hidden_rule": architecture.hidden_for(slice_parameters, model.layers),
        "p.moe.base": model.layers * slice_layer,
        "p.moe.params": model.parameters,
        "p.moe.active": model.active_parameters,
    }


def _moe_place() -> dict[str, float]:
    setup = given.moe()
    model, precision, where = setup.model, setup.precision, setup.placement
    stage_bytes = memory.layer_bytes(model, precision, setup.job)

    def held_bytes(tensor: int) -> float:
        return float(stage_bytes / tensor)

    return {
        "p.moe.mem": precision.parameter_bytes * model.parameters / TERA,
        "p.moe.dev_per_layer": setup.tensor,
        "p.moe.t_rule": memory.smallest_tensor(held_bytes, setup.cluster),
        "p.moe.replicas": where.replicas,
        "p.moe.per_dev": memory.device_model_bytes(model, precision, setup.tensor) / GIGA,
        "p.moe.peers": where.racks_per_stage_and_datacenter,
    }


def _moe_times() -> dict[str, float]:
    setup = given.moe()
    times = parallelism.stage_times(setup)
    return {
        "p.moe.fwd": times.forward_ps / MS,
        "p.moe.fwd_round": times.forward_ps / MS,
        "p.moe.bwd_round": times.backward_ps / MS,
        "p.moe.tp_bytes": parallelism.activation_bytes(setup) / GIGA,
        "p.moe.tp": times.tensor_ps / MS,
        "p.moe.pp": times.pipeline_ps / MS,
        "p.moe.g_layer": parallelism.gradient_bytes(setup) / GIGA,
        "p.moe.stage1": times.dp1_ps / MS,
        "p.moe.stage2": times.dp2_ps / MS,
        "p.moe.pair": times.wan_pair_bytes / MEGA,
        "p.moe.stage4": times.dp4_ps / MS,
        "p.moe.stage5": times.dp5_ps / MS,
        "p.moe.network_bound": (times.backward_ps - times.dp2_ps) / MS,
    }
