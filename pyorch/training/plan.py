# SPDX-License-Identifier: GPL-2.0-only
"""Takes a preset and how much smaller the step is to be, leaves what each device does and sends.

A reduction divides all times of computing and all bytes by one number, and takes fewer devices. A
device still sends its share through each network: what it sends in a collective of fewer members
is what it sends in the whole one, divided by that number. Delays of links, if they matter, are for
the scenario to divide.
"""

from typing import NamedTuple

from pyorch.errors import SpecError
from pyorch.theory import parallelism
from pyorch.theory.parallelism import Setup


class Shape(NamedTuple):
    """How many devices take part, and who they are.

    Attributes
    ----------
    stages : int
        Of the pipeline.
    peers : int
        Racks of each stage; devices with the same place in them are peers.
    members : int
        Tensor-parallel groups of a rack; devices with the same place in them are members.
    tensor : int
        Devices of such a group.
    """

    stages: int
    peers: int
    members: int
    tensor: int

    @property
    def devices(self) -> int:
        """All of them."""
        return self.stages * self.peers * self.members * self.tensor


class Amounts(NamedTuple):
    """What one device does in one layer and sends; int [ps] and [byte].

    Attributes
    ----------
    forward_ps, backward_ps : int
        Arithmetic of a layer in each pass, of one micro-batch.
    tensor_bytes : int
        Buffer of one all-reduce of activations; there are two in each layer and pass.
    pipeline_bytes : int
        Activations for the next stage, or their gradients for the one before.
    rack_bytes : int
        Gradients of a stage that a device reduces with the members of its rack.
    rail_bytes : int
        What of these it then reduces with its peers.
    expert_bytes : int
        Tokens that a device sends to experts, those that stay included; and gets back.
    weight_rack_bytes, weight_rail_bytes : int
        Weights of a stage that a device gathers with the members of its rack, and before that with
        its peers, where they are sharded.
    """

    forward_ps: int
    backward_ps: int
    tensor_bytes: int
    pipeline_bytes: int
    rack_bytes: int
    rail_bytes: int
    expert_bytes: int
    weight_rack_bytes: int = 1
    weight_rail_bytes: int = 1


def amounts(setup: Setup, shape: Shape, divide: int, layers: int = 1, chunks: int = 1) -> Amounts:
    """Return what a device of `shape` does in the step of `setup`, `divide` times smaller.

    Parameters
    ----------
    layers : int
        Whose gradients a device reduces.
    chunks : int
        Parts in which gradients are reduced; buffers are whole multiples of what these need.

    Raises
    ------
    SpecError
        So small that nothing is left of something.
    """
    times = parallelism.stage_times(setup)
    per_stage, placement = setup.layers_per_stage, setup.placement
    gradients = parallelism.gradient_bytes(setup) / setup.tensor * layers / per_stage
    weights = gradients * setup.precision.weight_bytes / setup.precision.gradient_bytes

    def rack(bytes_: float) -> int:
        return _buffer(bytes_, placement.rack_members, shape.members, divide, chunks * shape.peers)

    def rail(bytes_: float) -> int:
        return _buffer(
            bytes_ / placement.rack_members, placement.racks_per_stage_and_datacenter, shape.peers,
            divide, chunks,
        )  # fmt: skip

    found = Amounts(
        forward_ps=round(times.forward_ps / per_stage / divide),
        backward_ps=round(times.backward_ps / per_stage / divide),
        tensor_bytes=_buffer(
            parallelism.activation_bytes(setup), placement.tensor, shape.tensor, divide
        ),
        pipeline_bytes=round(parallelism.pipeline_message_bytes(setup) / divide),
        rack_bytes=rack(gradients),
        rail_bytes=rail(gradients),
        expert_bytes=round(
            parallelism.pipeline_message_bytes(setup) * setup.model.active_experts / divide
        ),
        weight_rack_bytes=rack(weights),
        weight_rail_bytes=rail(weights),
    )  # fmt: skip
    if min(found) < 1:
        name = found._fields[found.index(min(found))]
        raise SpecError(f"{divide} times smaller nothing is left of {name}. Divide by less.")
    return found


def _buffer(whole_bytes: float, members: int, fewer: int, divide: int, parts: int = 1) -> int:
    """Return the buffer of a ring of `fewer`, in which each sends what it sends among `members`.

    A ring sends (n-1)/n of the buffer once or twice. The buffer is `fewer * parts` equal parts.
    """
    if fewer == 1:
        return parts
    sent_bytes = whole_bytes * (members - 1) / members / divide
    return fewer * parts * round(sent_bytes / (fewer - 1) / parts)
