# SPDX-License-Identifier: GPL-2.0-only
"""Takes a training set-up, returns the ideal time of everything one pipeline stage does per step.

Sources: [hotnets24] sections 4, 4.1 and 5; experts: [deepseek24] section 3.2; sequences that are
shared: [llama3] section 3.3.2. Bytes over rate: no latency, no headers.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pyorch.errors import TheoryError
from pyorch.theory._quantities import Real, compute_ps, others_share, transfer_ps
from pyorch.theory.architecture import Model
from pyorch.theory.memory import (
    Cluster,
    Degrees,
    Job,
    Placement,
    Precision,
    check_fit,
    check_tensor,
    device_bytes,
    place,
)
from pyorch.theory.schedules import STEADY, schedule

#: Backward over forward arithmetic: gradients of the input and of the weights.
BACKWARD_RATIO = 2
#: All-reduces of the activations per layer and pass: after attention and after feed-forward.
TENSOR_ALL_REDUCES = 2
#: Pieces in which a stage reduces its gradients as its last backward pass goes on.
PIECES = 16
#: Numbers that a message proposes, at most.
_MOST_SAID = 12


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
    degrees: Degrees = Degrees()

    @cached_property
    def placement(self) -> Placement:
        """Where the copies lie."""
        return place(self.model, self.cluster, self.tensor, self.layers_per_stage)

    @property
    def sequences(self) -> int:
        """Micro-batches that a step works on at one time: data parallelism."""
        return self.placement.working_replicas // self.degrees.context

    def idle(self) -> str:
        """Return which GPUs have no work, in words; nothing if all have."""
        cluster, where = self.cluster, self.placement
        total = cluster.n_racks * cluster.rack_gpus
        if total == where.gpus_working:
            return ""
        why = []
        racks = where.racks_per_stage_and_datacenter * cluster.datacenters * where.stages
        if racks != cluster.n_racks:
            why.append(f"{where.stages} stages leave {cluster.n_racks - racks:,} racks over")
        if left := cluster.rack_gpus % self.tensor:
            why.append(f"tensor {self.tensor} leaves {left} of the {cluster.rack_gpus} of a rack")
        return (
            f"{total - where.gpus_working:,} of {total:,} GPUs have no work: {', and '.join(why)}."
        )

    @property
    def held_bytes(self) -> float:
        """Return what one device holds [byte]."""
        where = self.placement
        return float(
            device_bytes(
                self.model, self.precision, self.job, self.tensor, self.layers_per_stage,
                self.degrees, where.site_replicas, where.stages,
            )
        )  # fmt: skip

    def check(self) -> None:
        """Raise TheoryError if the job contradicts itself or does not fit the machines."""
        check_tensor(self.cluster, self.tensor)
        if self.layers_per_stage > self.model.layers:
            raise TheoryError(
                f"{self.layers_per_stage} layers of a stage are more than the {self.model.layers}"
                f" of the model. Take 1 to {self.model.layers}."
            )
        where, degrees = self.placement, self.degrees
        for name in ("context", "experts", "shard"):
            Spread.of(where, getattr(degrees, name) or 1, name)
        if 0 < degrees.shard < where.rack_members:
            raise TheoryError(
                f"shard {degrees.shard}: fewer than the {where.rack_members} replicas of a rack."
                f" Take 0, for all, or a multiple of {where.rack_members}."
            )
        if degrees.data and degrees.data != self.sequences:
            raise TheoryError(
                f"tensor {self.tensor} x {where.stages} stages x context {degrees.context} x data"
                f" {degrees.data} are {where.gpus_per_replica * degrees.context * degrees.data:,}"
                f" GPUs; the {self.cluster.n_racks} racks hold {where.gpus_working:,} in whole"
                f" replicas. Take data {self.sequences}, or other racks."
            )
        check_experts(degrees.experts, self.model.experts)
        if degrees.schedule != STEADY:
            schedule(degrees.schedule, where.stages, self.job.micro_batches, degrees.virtual_stages)
        elif degrees.virtual_stages > 1:
            raise TheoryError("a steady step has one model chunk per stage. Take interleaved.")
        if self.layers_per_stage % degrees.virtual_stages:
            raise TheoryError(
                f"{self.layers_per_stage} layers of a stage are not {degrees.virtual_stages} equal"
                f" model chunks. Take a divisor: {_divisors(self.layers_per_stage)}."
            )
        try:
            self._check_memory()
        except TheoryError as error:
            raise TheoryError(f"{error}{self._would_fit()}") from None

    def _check_memory(self) -> None:
        check_fit(self.held_bytes, self.cluster, self.tensor, self.layers_per_stage)

    def _would_fit(self) -> str:
        """Return which single change of the job makes it fit, in words; nothing if none does."""
        more, fewer = 2 * self.tensor, self.layers_per_stage // 2
        free = replace(self.degrees, data=0)
        changes: dict[str, dict[str, Any]] = {
            "zero: 3": {"degrees": replace(self.degrees, zero=3)},
            f"tensor: {more}": {"tensor": more, "degrees": free},
            f"layers_per_stage: {fewer}": {"layers_per_stage": fewer, "degrees": free},
        }
        found = []
        for words, change in changes.items():
            other = replace(self, **change)
            with suppress(TheoryError):
                if other.tensor <= self.cluster.rack_gpus and other.layers_per_stage:
                    other._check_memory()
                    other.check()
                    found.append(f"{words} ({other.held_bytes / 1e9:,.1f} GB)")
        return f" Would fit: {'; '.join(found)}." if found else ""


def check_experts(replicas: int, experts: int) -> None:
    """Raise TheoryError unless each of `replicas` has whole ones of the experts of a layer."""
    if replicas > 1 and experts <= 1:
        raise TheoryError(f"experts {replicas}: the model has no experts. Take 1.")
    if replicas > 1 and experts % replicas:
        raise TheoryError(
            f"{experts} experts over {replicas} replicas: not whole experts."
            f" Take a divisor: {_divisors(experts)}."
        )


def _divisors(number: int) -> str:
    return ", ".join(str(n) for n in range(1, number + 1) if number % n == 0)


@dataclass(frozen=True)
class Spread:
    """Where neighbours among the replicas of a stage lie: so many in a rack, and in how many."""

    members: int
    racks: int

    @classmethod
    def of(cls, where: Placement, degree: int, name: str) -> "Spread":
        """Return where `degree` neighbours lie.

        Raises
        ------
        TheoryError
            They do not divide the replicas of a rack, or its racks.
        """
        found = cls.find(where, degree)
        if found is None:
            each, racks = where.rack_members, where.racks_per_stage_and_datacenter
            can = [n for n in range(1, each * racks + 1) if cls.find(where, n)]
            raise TheoryError(
                f"{name} {degree}: a stage has {racks} racks (all racks over {where.stages} stages,"
                f" rounded down) with {each} replicas each, which are not groups of {degree}. Take"
                f" {', '.join(map(str, can[:_MOST_SAID]))}{' ...' if can[_MOST_SAID:] else ''}, or"
                " another number of racks."
            )
        return found

    @classmethod
    def find(cls, where: Placement, degree: int) -> "Spread | None":
        """Return where `degree` neighbours lie; none if the replicas are no groups of so many."""
        members = min(degree, where.rack_members)
        racks = degree // members
        if (
            where.rack_members % members
            or degree % members
            or where.racks_per_stage_and_datacenter % racks
        ):
            return None
        return cls(members, racks)


@dataclass(frozen=True)
class Course:
    """In which order the passes of a step follow each other."""

    schedule: str = STEADY
    stages: int = 1
    micro_batches: int = 1
    virtual_stages: int = 1
    layers: int = 1  #: of a stage
    backward_waits: int = 1  #: how often the messages of a forward pass are sent in a backward one


@dataclass(frozen=True)
class StageTimes:
    """One pipeline stage and one micro-batch, each activity alone on its idle network [ps].

    The five stages of the hierarchical data-parallel all-reduce, once in a step: 1 all-reduce
    inside the rack, 2 all-reduce among the racks of the data centre, 3 exchange with the other
    data centre, 4 all-gather among the racks, 5 all-gather inside the rack.
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
    #: What uses both networks, in the rack and out of it, per pass: tokens to their experts and
    #: back, keys and values of shared sequences, weights that are sharded.
    expert_up_ps: Real = 0.0
    expert_out_ps: Real = 0.0
    context_up_ps: Real = 0.0
    context_out_ps: Real = 0.0
    gather_up_ps: Real = 0.0
    gather_out_ps: Real = 0.0
    course: Course = Course()

    @property
    def expert_ps(self) -> Real:
        """Tokens to their experts and back, per pass: over both networks at one time [ps]."""
        return np.maximum(self.expert_up_ps, self.expert_out_ps)

    @property
    def context_ps(self) -> Real:
        """Keys and values of shared sequences, per pass: over one network after the other [ps]."""
        return self.context_up_ps + self.context_out_ps

    @property
    def gather_ps(self) -> Real:
        """Weights that are sharded, per pass: over both networks, in pieces [ps]."""
        return np.maximum(self.gather_up_ps, self.gather_out_ps)


def sequence_bytes(setup: Setup, element_bytes: float) -> Real:
    """Return one number for each token and hidden element of a replica's micro-batch [byte]."""
    elements = np.multiply(setup.job.sequence_tokens, setup.job.micro_batch) * setup.model.hidden
    return elements * element_bytes / setup.degrees.context


def activation_bytes(setup: Setup) -> Real:
    """Return the activations between two layers [byte]: X = s b h, as sent."""
    return sequence_bytes(setup, setup.precision.activation_bytes)


def gradient_bytes(setup: Setup) -> Real:
    """Return the gradients of one pipeline stage that a tensor group has [byte]: g."""
    return sum(_stage_parameters(setup)) * setup.precision.gradient_bytes


def _stage_parameters(setup: Setup) -> tuple[float, float]:
    """Return what a tensor group has of a stage: what all replicas have, and routed experts."""
    layers = setup.layers_per_stage
    return (
        setup.model.common_parameters * layers,
        setup.model.routed_parameters * layers / setup.degrees.experts,
    )


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
    """Return what a device exchanges with its twin in the other data centre [byte].

    Without experts spread over replicas g / (t m n); routed experts have fewer replicas.
    """
    return sum(one.gradient_bytes / (one.members * one.racks) for one in reductions(setup))


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
    """Return the forward arithmetic of one pipeline stage [ps].

    In a steady step that is a stage in the middle, as in [hotnets24]. Else it is the slowest one,
    which may be the last: it has the layers that are left, and the output embedding.
    """
    job, model = setup.job, setup.model
    attention_again = job.recompute == "selective"
    layer = model.forward_flop(job.sequence_tokens, job.micro_batch, recompute=attention_again)
    rate = np.multiply(setup.cluster.layer_flop_per_s, setup.tensor * setup.degrees.context)
    layer_ps = compute_ps(layer, rate)
    if setup.cluster.layer_ps is not None:
        layer_ps = setup.cluster.layer_ps[0]
    total_ps = layer_ps * setup.layers_per_stage
    if setup.degrees.schedule == STEADY:
        return total_ps
    left = model.layers - setup.layers_per_stage * (setup.placement.stages - 1)
    head_ps = compute_ps(model.head_flop(job.sequence_tokens, job.micro_batch), rate)
    return np.maximum(total_ps, left * layer_ps + head_ps)


def backward_ps(setup: Setup) -> Real:
    """Return the backward arithmetic of one pipeline stage [ps]."""
    ratio: float = BACKWARD_RATIO + (setup.job.recompute == "full")
    if (profile := setup.cluster.layer_ps) is not None:
        ratio = profile[1] / profile[0]
    return ratio * forward_ps(setup)


def visited_racks(setup: Setup, racks: int) -> int:
    """Return how many racks a token is sent to, if it is copied there; 0 if each copy is sent.

    Parameters
    ----------
    racks : int
        Over which the experts are spread.
    """
    visited = setup.degrees.expert_racks
    is_copied = 0 < visited < setup.model.active_experts and racks > 1
    return min(visited, racks) if is_copied else 0


def expert_bytes(setup: Setup) -> tuple[Real, Real]:
    """Return what one device sends in one layer and pass to experts and gets back [byte].

    Every token of the device goes to `active_experts` of them, a copy each, or once to each rack
    that holds some and from there to each.

    Returns
    -------
    tuple
        Through the scale-up and through the scale-out network.
    """
    degrees, precision = setup.degrees, setup.precision
    if degrees.experts == 1:
        return 0.0, 0.0
    spread = Spread.of(setup.placement, degrees.experts, "experts")
    element = (precision.dispatch_bytes or precision.activation_bytes) + (
        precision.combine_bytes or precision.activation_bytes
    )
    each = sequence_bytes(setup, element) / setup.tensor
    copies = setup.model.active_experts
    visited = visited_racks(setup, spread.racks) or copies
    return (
        each * copies * others_share(spread.members),
        each * visited * others_share(spread.racks),
    )


def expert_ps(setup: Setup) -> tuple[Real, Real]:
    """Return what one layer and pass sends to experts and back, over each network [ps]."""
    inside, outside = expert_bytes(setup)
    return (
        transfer_ps(inside, setup.network.scale_up_bps),
        transfer_ps(outside, setup.network.scale_out_bps),
    )


def context_bytes(setup: Setup) -> Real:
    """Return the keys and values of a whole sequence in one layer of one device [byte]."""
    tokens = np.multiply(setup.job.sequence_tokens, setup.job.micro_batch)
    shards = min(setup.tensor, setup.model.key_value_shards)
    elements = tokens * setup.model.key_value_elements / shards
    return elements * setup.precision.activation_bytes


def context_ps(setup: Setup) -> tuple[Real, Real]:
    """Return the all-gather of keys and values in one layer and pass, over each network [ps]."""
    degrees, network = setup.degrees, setup.network
    spread = Spread.of(setup.placement, degrees.context, "context")
    size_bytes = context_bytes(setup)
    return (
        ring_ps(size_bytes, spread.members, network.scale_up_bps, passes=1),
        ring_ps(size_bytes / spread.members, spread.racks, network.scale_out_bps, passes=1),
    )


@dataclass(frozen=True)
class Reduction:
    """A part of the parameters of a stage, and the replicas that reduce its gradients [byte].

    Attributes
    ----------
    gradient_bytes, weight_bytes : float
        Of one device.
    members, racks : int
        Replicas that have the same part: in a rack, and racks with one.
    shard_racks : int
        Of these, the racks that share a whole.
    """

    gradient_bytes: float
    weight_bytes: float
    members: int
    racks: int
    shard_racks: int


def reductions(setup: Setup) -> list[Reduction]:
    """Return what all replicas have, and the routed experts if they are shared."""
    where, degrees, precision = setup.placement, setup.degrees, setup.precision
    common, routed = _stage_parameters(setup)
    if degrees.experts == 1:
        parts = [(common + routed, Spread(1, 1))]
    else:
        parts = [(common, Spread(1, 1)), (routed, Spread.of(where, degrees.experts, "experts"))]
    shard = degrees.shard or where.rack_members * where.racks_per_stage_and_datacenter
    found = []
    for parameters, spread in parts:
        racks = where.racks_per_stage_and_datacenter // spread.racks
        shard_racks = max(1, shard // where.rack_members // spread.racks)
        each = parameters / where.tensor
        weight = precision.weight_bytes if degrees.zero else precision.gradient_bytes
        found.append(
            Reduction(
                each * precision.gradient_bytes, each * weight,
                where.rack_members // spread.members, racks, min(racks, shard_racks),
            )
        )  # fmt: skip
    return found


def stage_times(setup: Setup) -> StageTimes:
    """Return the ideal times of one pipeline stage; rates may be arrays, and broadcast."""
    network, degrees = setup.network, setup.degrees
    up_bps, out_bps = network.scale_up_bps, network.scale_out_bps
    scatter_up = scatter_out = gather_up = gather_out = 0.0
    for one in reductions(setup):
        chunk = one.gradient_bytes / one.members
        weight = one.weight_bytes / one.members
        scatter_up = scatter_up + ring_ps(one.gradient_bytes, one.members, up_bps, passes=1)
        gather_up = gather_up + ring_ps(one.weight_bytes, one.members, up_bps, passes=1)
        scatter_out = (
            scatter_out
            + ring_ps(chunk, one.shard_racks, out_bps, passes=1)
            + ring_ps(chunk / one.shard_racks, one.racks // one.shard_racks, out_bps, passes=2)
        )
        gather_out = gather_out + ring_ps(weight, one.shard_racks, out_bps, passes=1)
    layer_tensor_ps = TENSOR_ALL_REDUCES * ring_ps(
        activation_bytes(setup), setup.tensor, up_bps, passes=2
    )
    layers, whole = setup.layers_per_stage, degrees.zero < 3
    (expert_up, expert_out), (context_up, context_out) = expert_ps(setup), context_ps(setup)
    hands_on = setup.placement.stages > 1
    return StageTimes(
        forward_ps=forward_ps(setup),
        backward_ps=backward_ps(setup),
        tensor_ps=layers * layer_tensor_ps,
        pipeline_ps=hands_on * transfer_ps(pipeline_message_bytes(setup), out_bps),
        dp1_ps=scatter_up + gather_up * whole,
        dp2_ps=scatter_out + gather_out * whole,
        wan_pair_bytes=wan_pair_bytes(setup),
        dp4_ps=gather_out * whole,
        dp5_ps=gather_up * whole,
        expert_up_ps=layers * expert_up,
        expert_out_ps=layers * expert_out,
        context_up_ps=layers * context_up,
        context_out_ps=layers * context_out,
        gather_up_ps=gather_up * (not whole),
        gather_out_ps=gather_out * (not whole),
        course=course(setup),
    )


def course(setup: Setup) -> Course:
    """Return in which order the passes of a step follow each other."""
    return Course(
        setup.degrees.schedule, setup.placement.stages, setup.job.micro_batches,
        setup.degrees.virtual_stages, setup.layers_per_stage, 1 + (setup.job.recompute == "full"),
    )  # fmt: skip


def step_tokens(setup: Setup) -> Real:
    """Return the tokens of one step [token]."""
    job = setup.job
    return setup.sequences * job.micro_batches * np.multiply(job.sequence_tokens, job.micro_batch)


def mfu(setup: Setup, step_ps: Real) -> Real:
    """Return model FLOPs over what the GPUs could do at their peak in a step [1].

    A steady step is that of a stage in the middle, which has no output embedding: none is counted.
    """
    flop = setup.model.model_flop(setup.job.sequence_tokens)
    if setup.degrees.schedule == STEADY:
        flop = flop - 3 * setup.model.head_flop(1, 1)
    flop = flop * step_tokens(setup)
    peak = setup.placement.gpus_working * np.asarray(setup.cluster.gpu_flop_per_s)
    return compute_ps(flop, peak) / step_ps
