# SPDX-License-Identifier: GPL-2.0-only
"""Takes a model, its number formats and a cluster, returns who holds what and how often it fits.

Source: [hotnets24] section 4. One rack is one scale-up domain; a tensor-parallel group lies in
one rack, and every rack holds copies of the same pipeline stage.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pyorch.errors import TheoryError
from pyorch.theory._quantities import Real
from pyorch.theory.architecture import Model
from pyorch.theory.schedules import STEADY, schedule

#: Activation recomputation: nothing; the attention product ([korthikanti22], and [hotnets24],
#: which charges it to both passes); all of a layer in the backward pass.
RECOMPUTATIONS = ("none", "selective", "full")


@dataclass(frozen=True)
class Precision:
    """Bytes that one parameter, or one element of an activation, takes in each of its copies."""

    weight_bytes: float  #: working copy
    master_bytes: float
    gradient_bytes: float
    optimizer_bytes: float  #: all moments together
    activation_bytes: float  #: one element, as it is sent
    activation_bytes_per_element: float  #: kept per layer, token and hidden element
    dispatch_bytes: float | None = None  #: one element on its way to an expert; None: as sent
    combine_bytes: float | None = None  #: and on its way back

    @property
    def model_bytes(self) -> float:
        """Working and master copy [byte per parameter]."""
        return self.weight_bytes + self.master_bytes

    @property
    def parameter_bytes(self) -> float:
        """Everything that is kept for one parameter [byte per parameter]."""
        return self.model_bytes + self.gradient_bytes + self.optimizer_bytes


@dataclass(frozen=True)
class Job:
    """What a step works on."""

    sequence_tokens: Real
    micro_batch: Real = 1  #: sequences
    recompute: str = "selective"  #: one of `RECOMPUTATIONS`
    micro_batches: int = 1  #: of a replica in a step


@dataclass(frozen=True)
class Cluster:
    """The machines."""

    gpu_memory_bytes: Real
    gpu_flop_per_s: Real  #: peak
    rack_gpus: int
    n_racks: int
    datacenters: int = 1
    usable_memory_share: float = 1.0
    efficiency: float = 1.0  #: of the peak, what layers alone reach
    reserved_share: float = 0.0  #: of a GPU's units that move messages and do not compute
    layer_ps: tuple[int, int] | None = None  #: passes of a layer from a profile, in place of these

    @property
    def layer_flop_per_s(self) -> Real:
        """Rate at which layers are computed."""
        return self.gpu_flop_per_s * self.efficiency * (1 - self.reserved_share)


@dataclass(frozen=True)
class Degrees:
    """How a job is divided beside tensor parallelism and stages; 1 is not at all.

    Replicas of a stage are counted rack by rack. Neighbours in this order share the sequences
    (`context`) and the experts.
    """

    schedule: str = STEADY
    virtual_stages: int = 1  #: model chunks of a stage
    context: int = 1  #: replicas that share a sequence
    experts: int = 1  #: replicas that share the routed experts
    expert_racks: int = 0  #: racks that a token visits at most; 0: as many as it has experts
    zero: int = 0  #: what is sharded: 1 the optimiser, 2 the gradients too, 3 the weights too
    shard: int = 0  #: replicas that share a shard's whole; 0: all of them
    data: int = 0  #: replicas over `context`, as the preset says; 0: as many as fit


@dataclass(frozen=True)
class Placement:
    """Where the copies of a model lie.

    Identity: replicas = rack_members * racks_per_stage, and each pipeline stage owns
    `racks_per_stage` racks. Every data centre has as many of them at work; [hotnets24] counts those
    that are left over as well.
    """

    tensor: int  #: devices that share one layer
    layers_per_stage: int
    stages: int
    rack_members: int  #: replicas of one stage inside one rack
    racks_per_stage: int
    racks_per_stage_and_datacenter: int  #: the peers of the scale-out all-reduce
    datacenters: int = 1

    @property
    def replicas(self) -> int:
        """Data-parallel copies of the model for which there are racks, in all data centres."""
        return self.rack_members * self.racks_per_stage

    @property
    def site_replicas(self) -> int:
        """Data-parallel copies of the model that are at work in each data centre."""
        return self.rack_members * self.racks_per_stage_and_datacenter

    @property
    def working_replicas(self) -> int:
        """Data-parallel copies of the model that are at work, in all data centres."""
        return self.site_replicas * self.datacenters

    @property
    def gpus_working(self) -> int:
        """Devices of the copies that are at work."""
        return self.working_replicas * self.gpus_per_replica

    @property
    def gpus_per_replica(self) -> int:
        """Devices of one copy of the model."""
        return self.stages * self.tensor

    @property
    def gpus_used(self) -> int:
        """Devices of all copies for which there are racks."""
        return self.replicas * self.gpus_per_replica


def activation_layer_bytes(model: Model, precision: Precision, job: Job) -> Real:
    """Return what one layer keeps of one micro-batch for its backward pass [byte]: 10 s b h."""
    elements = np.multiply(job.sequence_tokens, job.micro_batch) * model.hidden
    return precision.activation_bytes_per_element * elements


def layer_bytes(model: Model, precision: Precision, job: Job) -> Real:
    """Return one layer with its training state and one micro-batch of activations [byte]."""
    return precision.parameter_bytes * model.layer_parameters + activation_layer_bytes(
        model, precision, job
    )


def device_bytes(
    model: Model, precision: Precision, job: Job, tensor: Real, layers: Real,
    degrees: Degrees = Degrees(), replicas: int = 1, stages: int = 1,
) -> Real:  # fmt: skip
    """Return what one device holds of `layers` layers, embeddings left out [byte].

    Parameters
    ----------
    replicas, stages : int
        Data-parallel copies of a stage in a data centre, over which ZeRO divides, and stages,
        which matter with a schedule.
    """
    copies, kept = 1, 1.0
    if degrees.schedule != STEADY:
        found = schedule(degrees.schedule, stages, job.micro_batches, degrees.virtual_stages)
        copies = 2 if found.mirrored else 1
        kept = found.kept() / (1 if found.mirrored else found.chunks)
    shards = degrees.shard or replicas
    parameters = model.common_parameters * _bytes_kept(precision, degrees.zero, shards)
    parameters += (
        model.routed_parameters / degrees.experts
        * _bytes_kept(precision, degrees.zero, max(1, shards // degrees.experts))
    )  # fmt: skip
    activations = activation_layer_bytes(model, precision, job) * kept / degrees.context
    return layers * (copies * parameters + activations) / np.asarray(tensor)


def _bytes_kept(precision: Precision, zero: int, shards: int) -> float:
    """Return what a device keeps for one parameter where ZeRO divides it by `shards` [byte]."""
    by_stage = (
        precision.master_bytes + precision.optimizer_bytes,
        precision.gradient_bytes,
        precision.weight_bytes,
    )
    return sum(kept / (shards if zero > stage else 1) for stage, kept in enumerate(by_stage))


def device_model_bytes(model: Model, precision: Precision, tensor: Real) -> Real:
    """Return 4 N / (L t): the source's memory per device, one layer, embeddings spread [byte]."""
    return precision.parameter_bytes * model.parameters / (model.layers * np.asarray(tensor))


def smallest_tensor(
    held_bytes: Callable[[int], float], cluster: Cluster, *, must_divide_rack: bool = False
) -> int:
    """Return the smallest tensor-parallel degree with which a stage fits its devices.

    Parameters
    ----------
    held_bytes : callable
        What one device holds with a degree [byte].
    must_divide_rack : bool
        Only degrees that leave no device of a rack idle. The printed 18 of the dense 100T model
        needs this; the plain rule gives 16 (docs/theory.md).

    Raises
    ------
    TheoryError
        Not even a whole rack holds the stage.
    """
    usable_bytes = cluster.gpu_memory_bytes * cluster.usable_memory_share
    devices = cluster.rack_gpus
    for tensor in range(1, devices + 1):
        divides = devices % tensor == 0
        if (divides or not must_divide_rack) and held_bytes(tensor) <= usable_bytes:
            return tensor
    stage_gb, rack_gb = (devices * each / 1e9 for each in (held_bytes(devices), usable_bytes))
    raise TheoryError(
        f"the model does not fit: one pipeline stage takes {stage_gb:,.1f} GB and a rack of"
        f" {devices} GPUs offers {rack_gb:,.1f} GB. Take fewer layers per stage, GPUs with more"
        " memory, or narrower number formats."
    )


def check_tensor(cluster: Cluster, tensor: int) -> None:
    """Raise TheoryError if a tensor group of this size does not exist."""
    if tensor > cluster.rack_gpus:
        raise TheoryError(
            f"tensor-parallel degree {tensor} is larger than the rack of {cluster.rack_gpus} GPUs;"
            f" a tensor group lies in one rack. Take 1 to {cluster.rack_gpus}."
        )


def check_fit(held_bytes: float, cluster: Cluster, tensor: int, layers: int) -> None:
    """Raise TheoryError if what a device holds does not fit it."""
    usable_bytes = cluster.gpu_memory_bytes * cluster.usable_memory_share
    if held_bytes > usable_bytes:
        raise TheoryError(
            f"the model does not fit: {layers} layer(s) over {tensor} devices take"
            f" {held_bytes / 1e9:,.1f} GB per device, of which {usable_bytes / 1e9:,.1f} GB are"
            " usable. Raise the tensor degree, take fewer layers per stage, recompute, or shard."
        )


def place(model: Model, cluster: Cluster, tensor: int, layers_per_stage: int = 1) -> Placement:
    """Return how often the model fits the cluster.

    Raises
    ------
    TheoryError
        Fewer racks than one copy per data centre needs: a fraction of a replica trains nothing.
    """
    stages = -(-model.layers // layers_per_stage)
    racks_per_stage = cluster.n_racks // stages
    if racks_per_stage < cluster.datacenters:
        raise TheoryError(
            f"{cluster.n_racks} racks in {cluster.datacenters} data centre(s) hold no whole copy"
            f" per data centre: {stages} pipeline stages need {stages * cluster.datacenters}"
            " racks. Add racks, or put more layers on a stage."
        )
    return Placement(
        tensor=tensor,
        layers_per_stage=layers_per_stage,
        stages=stages,
        rack_members=cluster.rack_gpus // tensor,
        racks_per_stage=racks_per_stage,
        racks_per_stage_and_datacenter=racks_per_stage // cluster.datacenters,
        datacenters=cluster.datacenters,
    )
