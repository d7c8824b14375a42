# SPDX-License-Identifier: GPL-2.0-only
"""Takes a training job, returns the bytes each kind of parallelism sends, and how often.

Source: [asterfusion24], training and storage sections. Parameters, gradients and activations take
2 bytes each; an epoch is every sample once. The formulas are the source's, with the oddities that
docs/theory.md lists: a direct instead of a ring all-reduce, and all parameters charged to every
layer of tensor parallelism.
"""

import math
from dataclasses import dataclass

from pyorch.theory._quantities import Real
from pyorch.theory.collectives import all_reduce

#: bfloat16.
ELEMENT_BYTES = 2
#: Checkpoint: weights and three more copies of the same width (master, two moments).
CHECKPOINT_COPIES = 4


@dataclass(frozen=True)
class TrainingJob:
    """Model, data and group sizes of a training job.

    Attributes
    ----------
    parameters, layers, hidden : float
        P, L, H.
    tokens, mini_batches : float
        T and N of one epoch.
    group : float
        G, the devices along a single kind of parallelism.
    tensor, pipeline, data : float
        Gtp, Gpp, Gdp of the three kinds together.
    dataset_bytes : float
        D, all samples [byte].
    """

    parameters: Real
    layers: Real
    hidden: Real
    tokens: Real
    mini_batches: Real
    group: Real
    tensor: Real
    pipeline: Real
    data: Real
    dataset_bytes: Real

    @property
    def buffer_bytes(self) -> Real:
        """All parameters, or all gradients, once [byte]: 2 P."""
        return ELEMENT_BYTES * self.parameters

    @property
    def gpus(self) -> Real:
        """Devices of the job with three kinds of parallelism."""
        return self.tensor * self.pipeline * self.data


@dataclass(frozen=True)
class Volume:
    """Bytes of one epoch over the whole job, by pass."""

    backward_bytes: Real
    forward_bytes: Real

    @property
    def total_bytes(self) -> Real:
        """Both passes [byte]."""
        return self.backward_bytes + self.forward_bytes


@dataclass(frozen=True)
class Times:
    """How often each pass communicates, in the unit that the source uses for its kind."""

    backward: Real
    forward: Real


def mini_batches(samples: Real, batch_samples: Real) -> Real:
    """Return the mini-batches of an epoch, not rounded."""
    return samples / batch_samples


def data_parallel_batch_bytes(job: TrainingJob, algorithm: str = "direct") -> Real:
    """Return what one mini-batch of data parallelism sends [byte]; the source's way is direct."""
    return all_reduce(algorithm, job.buffer_bytes, job.group).sent_bytes


def data_parallel(job: TrainingJob, algorithm: str = "direct") -> Volume:
    """Return the gradients of an epoch: 2 N P G (G-1) if all-reduced directly."""
    return Volume(job.mini_batches * data_parallel_batch_bytes(job, algorithm), 0.0)


def fully_sharded(job: TrainingJob) -> Volume:
    """Return an all-gather of the parameters in each pass: 2 N P (G-1) each way."""
    each_bytes = job.mini_batches * job.buffer_bytes * (job.group - 1)
    return Volume(each_bytes, each_bytes)


def tensor_parallel(job: TrainingJob, group: Real | None = None) -> Volume:
    """Return gradients 4 N L P (G-1) and activations 4 T L H G (G-1).

    The source charges all P parameters to each layer, L times too many.
    """
    group = job.group if group is None else group
    gradients_bytes = 2 * job.mini_batches * job.layers * job.buffer_bytes * (group - 1)
    activations_bytes = (
        2 * ELEMENT_BYTES * job.tokens * job.layers * job.hidden * group * (group - 1)
    )
    return Volume(gradients_bytes, activations_bytes)


def pipeline_parallel(job: TrainingJob, group: Real | None = None) -> Volume:
    """Return activations forward and their gradients backward: 2 T H (G-1) each way."""
    group = job.group if group is None else group
    each_bytes = ELEMENT_BYTES * job.tokens * job.hidden * (group - 1)
    return Volume(each_bytes, each_bytes)


def three_d_gradient_bytes(job: TrainingJob) -> Real:
    """Return the gradients of an epoch: 2 N P Gdp [2 L (Gtp-1) / Gpp + (Gdp-1)]."""
    per_replica = 2 * job.layers * (job.tensor - 1) / job.pipeline + (job.data - 1)
    return job.mini_batches * job.buffer_bytes * job.data * per_replica


def three_d(job: TrainingJob) -> Volume:
    """Return tensor, pipeline and data parallelism together."""
    stages = pipeline_parallel(job, job.pipeline)
    activations_bytes = tensor_parallel(job, job.tensor).forward_bytes
    return Volume(
        three_d_gradient_bytes(job) + stages.backward_bytes,
        activations_bytes + stages.forward_bytes,
    )


def communication_times(job: TrainingJob) -> dict[str, Times]:
    """Return how often each kind communicates: per mini-batch, but TP forward per epoch.

    The mixed units are the source's.
    """
    return {
        "DP": Times(1, 0),
        "FSDP": Times(job.layers, job.layers),
        "TP": Times(2 * job.layers, 2 * job.layers * job.tokens),
        "PP": Times(job.group - 1, job.group - 1),
    }


def conventions(all_reduce_of_dp: str = "direct") -> dict[str, str]:
    """Return how each kind is taken to exchange what it sends."""
    return {
        "DP": f"all-reduce, {all_reduce_of_dp}",
        "FSDP": "all-gather in each pass",
        "TP": "all-reduce, direct; gradients of all parameters in each layer",
        "PP": "point to point",
        "3D": "DP and TP all-reduce, direct",
    }


def volumes(job: TrainingJob) -> dict[str, Volume]:
    """Return the volume of every kind, in the order of the source's table."""
    return {
        "DP": data_parallel(job),
        "FSDP": fully_sharded(job),
        "TP": tensor_parallel(job),
        "PP": pipeline_parallel(job),
        "3D": three_d(job),
    }


def dataset_loading_bytes(job: TrainingJob) -> dict[str, Real]:
    """Return what each kind reads from storage in an epoch [byte].

    Every member of a tensor-parallel group reads every sample.
    """
    once = job.dataset_bytes
    return {"DP": once, "TP": once * job.group, "PP": once, "3D": once * job.tensor}


def checkpoint_bytes(parameters: Real) -> Real:
    """Return one checkpoint: 2 P of weights and 3 * 2 P of optimizer state [byte]."""
    return CHECKPOINT_COPIES * ELEMENT_BYTES * parameters


def pairs(endpoints: Real) -> Real:
    """Return the pairs among `endpoints`: n (n-1) / 2."""
    return endpoints * (endpoints - 1) / 2


def doubling_months(first: float, last: float, months: float) -> float:
    """Return the doubling time of a quantity that grows from `first` to `last` [month]."""
    return months / math.log2(last / first)
