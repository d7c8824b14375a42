# SPDX-License-Identifier: GPL-2.0-only
"""Takes a training set-up, leaves the ideal time of everything one pipeline stage does per step.

Source: [hotnets24] sections 4, 4.1 and 5. Bytes over rate: no latency, no headers.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pyorch.theory._quantities import Real, compute_ps, others_share, transfer_ps
from pyorch.theory.architecture import Model
from pyorch.theory.memory import Cluster, Job, Placement, Precision, check_fit, place

#: Backward over forward arithmetic: gradients of the input and of the weights.
BACKWARD_RATIO = 2
#: All-reduces of the activations per layer and pass: after attention and after feed-forward.
TENSOR_ALL_REDUCES = 2


@dataclass(frozen=True)
class Network:
    """Rates of one GPU."""

    scale_up_bps: Real
    scale_out_bps: Real
    wan_bps: Real  #: between data centres
    wan_rtt_ps: Real


@dataclass(frozen=True)
class Setup:
    """Everything that decides the times: who trains what, where, and over which network."""

    model: Model
    precision: Precision
    job: Job
    cluster: Cluster
    network: Network
    tensor: int
    layers_per_stage: int = 1

    @cached_property
    def placement(self) -> Placement:
        """Where the copies lie."""
        return place(self.model, self.cluster, self.tensor, self.layers_per_stage)

    def check(self) -> None:
        """Raise TheoryError if the model does not fit as it is placed."""
        check_fit(
            self.model, self.precision, self.job, self.cluster, self.tensor, self.layers_per_stage
        )
        self.placement  # noqa: B018  a property that raises


@dataclass(frozen=True)
class StageTimes:
    """One pipeline stage in one step, each activity alone on its idle network [ps].

    The five stages of the hierarchical data-parallel all-reduce: 1 all-reduce inside the rack,
    2 all-reduce among the racks of the data centre, 3 exchange with the other data centre,
    4 all-gather among the racks, 5 all-gather inside the rack.
    """

    forward_ps: Real
    backward_ps: Real
    tensor_ps: Real  #: tensor and sequence parallelism, per pass
    pipeline_ps: Real  #: activations to the next stage, per pass
    dp1_ps: Real
    dp2_ps: Real
    wan_pair_bytes: Real  #: stage 3, per device
    dp4_ps: Real
    dp5_ps: Real


def activation_bytes(setup: Setup) -> Real:
    """Return the activations between two layers [byte]: X = s b h, as sent."""
    elements = np.multiply(setup.job.sequence_tokens, setup.job.micro_batch) * setup.model.hidden
    return elements * setup.precision.activation_bytes


def gradient_bytes(setup: Setup) -> Real:
    """Return the gradients of one pipeline stage [byte]: g."""
    layers = setup.layers_per_stage
    return setup.precision.gradient_bytes * setup.model.layer_parameters * layers


def rack_chunk_bytes(setup: Setup) -> Real:
    """Return the gradients that one member of a rack reduces with other racks [byte]: g / m."""
    return gradient_bytes(setup) / setup.placement.rack_members


def pipeline_message_bytes(setup: Setup) -> Real:
    """Return what one device sends to the next stage [byte]: X / t."""
    return activation_bytes(setup) / setup.tensor


def tensor_volume_bytes(setup: Setup) -> Real:
    """Return the activations that tensor parallelism reduces in one layer and pass [byte]: 2 X."""
    return TENSOR_ALL_REDUCES * activation_bytes(setup)


def wan_pair_bytes(setup: Setup) -> Real:
    """Return what a device exchanges with its twin in the other data centre [byte]: g / (t m n)."""
    placement = setup.placement
    per_device = gradient_bytes(setup) / (placement.tensor * placement.rack_members)
    return per_device / placement.racks_per_stage_and_datacenter


def ring_ps(size_bytes: Real, members: Real, rate_bps: Real, passes: int) -> Real:
    """Return the time of a ring collective [ps].

    Parameters
    ----------
    size_bytes : float or array
        The whole buffer that each of the `members` ends with.
    passes : int
        1 for all-gather or reduce-scatter, 2 for all-reduce: (n-1)/n of the buffer each.
    """
    return passes * transfer_ps(others_share(members) * size_bytes, rate_bps)


def forward_ps(setup: Setup) -> Real:
    """Return the forward arithmetic of one pipeline stage [ps]."""
    job = setup.job
    flop = setup.model.forward_flop(job.sequence_tokens, job.micro_batch, recompute=job.recompute)
    rate = np.multiply(setup.cluster.gpu_flop_per_s, setup.tensor)
    return compute_ps(flop * setup.layers_per_stage, rate)


def stage_times(setup: Setup) -> StageTimes:
    """Return the ideal times of one pipeline stage; rates may be arrays, and broadcast."""
    network, placement = setup.network, setup.placement
    up_bps, out_bps = network.scale_up_bps, network.scale_out_bps
    device_bytes = gradient_bytes(setup) / placement.tensor
    chunk_bytes = device_bytes / placement.rack_members
    members, peers = placement.rack_members, placement.racks_per_stage_and_datacenter
    ahead_ps = forward_ps(setup)
    layer_tensor_ps = TENSOR_ALL_REDUCES * ring_ps(
        activation_bytes(setup), placement.tensor, up_bps, passes=2
    )
    return StageTimes(
        forward_ps=ahead_ps,
        backward_ps=BACKWARD_RATIO * ahead_ps,
        tensor_ps=setup.layers_per_stage * layer_tensor_ps,
        pipeline_ps=transfer_ps(pipeline_message_bytes(setup), out_bps),
        dp1_ps=ring_ps(device_bytes, members, up_bps, passes=2),
        dp2_ps=ring_ps(chunk_bytes, peers, out_bps, passes=2),
        wan_pair_bytes=wan_pair_bytes(setup),
        dp4_ps=ring_ps(chunk_bytes, peers, out_bps, passes=1),
        dp5_ps=ring_ps(device_bytes, members, up_bps, passes=1),
    )
