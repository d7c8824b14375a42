# SPDX-License-Identifier: GPL-2.0-only
"""Takes a preset and how much smaller the step is to be, returns what each device does and sends.

A reduction divides all times of computing and all bytes by one number, and takes fewer devices. A
device still sends its share through each network: what it sends in a collective of fewer members
is what it sends in the whole one, divided by that number. Delays of links are for the scenario to
divide.
"""

import math
from typing import NamedTuple

from pyorch.errors import SpecError
from pyorch.theory import parallelism
from pyorch.theory.fct import Framing
from pyorch.theory.parallelism import Setup

#: Packets that the mean message of a smaller step has at least, and the payload of one [byte].
PACKETS, PACKET_BYTES = 20, Framing().mtu_bytes


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
    sites : int
        Datacenters, each with the whole of the above; devices with the same place in them are
        twins.
    """

    stages: int
    peers: int
    members: int
    tensor: int
    sites: int = 1

    @property
    def devices(self) -> int:
        """All of them."""
        return math.prod(self)


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
        Gradients of a model chunk that a device reduces with the members of its rack.
    rail_bytes : int
        What of these it then reduces with its peers.
    expert_bytes, combine_bytes : int
        Tokens that a device sends to experts, those that stay included; and gets back.
    expert_rail_bytes, combine_rail_bytes : int
        The same once for each rack, where a token is copied in the rack; 1: it is not.
    weight_rack_bytes, weight_rail_bytes : int
        Weights of a model chunk that a device gathers with the members of its rack, and before that
        with its peers, where ZeRO divides something.
    routed_bytes, weight_routed_bytes : int
        Gradients, and weights, of routed experts that it reduces with the replicas of these.
    context_bytes : int
        Keys and values of a whole sequence in a layer.
    site_bytes : int
        Gradients that a device sends to each of its twins.
    backward_turns : int
        How often a backward pass sends what a forward pass does: 2 where it computes all again.
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
    combine_bytes: int = 1
    routed_bytes: int = 1
    weight_routed_bytes: int = 1
    context_bytes: int = 1
    site_bytes: int = 1
    backward_turns: int = 1
    expert_rail_bytes: int = 1
    combine_rail_bytes: int = 1

    def reduced_bytes(self, where: str, operation: str, zero: int) -> int:
        """Return the buffer of a ring of gradients, or of what is gathered after it [byte].

        Parameters
        ----------
        where : str
            ``rack``, ``rail``, ``routed`` or ``site``.
        operation : str
            ``reduce_scatter``, ``all_gather`` or ``exchange``.
        zero : int
            Stage of ZeRO; 0 gathers gradients, the others weights.
        """
        of_weights = "weight_" if zero and operation == "all_gather" else ""
        return getattr(self, f"{of_weights}{where}_bytes")


def amounts(setup: Setup, shape: Shape, divide: int, layers: int = 1, chunks: int = 1) -> Amounts:
    """Return what a device of `shape` does in the step of `setup`, `divide` times smaller.

    Parameters
    ----------
    layers : int
        Of a model chunk.
    chunks : int
        Parts in which gradients are reduced; buffers are whole multiples of what these need.

    Raises
    ------
    SpecError
        So small that nothing is left of something.
    """
    times = parallelism.stage_times(setup)
    placement, degrees, precision = setup.placement, setup.degrees, setup.precision
    common, *routed = parallelism.reductions(setup)
    part = layers / setup.layers_per_stage

    def rack(bytes_: float) -> int:
        return _buffer(bytes_ * part, common.members, shape.members, divide, chunks * shape.peers)

    def rail(bytes_: float) -> int:
        return _buffer(bytes_ * part / common.members, common.racks, shape.peers, divide, chunks)

    def replicas(bytes_: float) -> int:
        own = sum(one.members * one.racks for one in routed)
        fewer = shape.members * shape.peers // degrees.experts
        return _buffer(bytes_ * part, own, fewer, divide, chunks)

    sent = precision.activation_bytes
    formats = [precision.dispatch_bytes or sent, precision.combine_bytes or sent]
    tokens = parallelism.sequence_bytes(setup, 1) / setup.tensor / divide
    visited = parallelism.visited_racks(setup, max(1, degrees.experts // shape.members))
    experts = [round(tokens * setup.model.active_experts * each) for each in formats]
    by_rack = [round(tokens * visited * each) if visited else 1 for each in formats]
    gathers = [common.gradient_bytes * precision.weight_bytes / precision.gradient_bytes]
    gathers += [one.gradient_bytes * precision.weight_bytes / precision.gradient_bytes
                for one in routed]  # fmt: skip
    held = sum(one.gradient_bytes / (one.members * one.racks) for one in (common, *routed)) * part
    found = Amounts(
        forward_ps=round(times.forward_ps / setup.layers_per_stage / divide),
        backward_ps=round(times.backward_ps / setup.layers_per_stage / divide),
        tensor_bytes=_buffer(
            parallelism.activation_bytes(setup), placement.tensor, shape.tensor, divide
        ),
        pipeline_bytes=round(parallelism.pipeline_message_bytes(setup) / divide),
        rack_bytes=rack(common.gradient_bytes),
        rail_bytes=rail(common.gradient_bytes),
        expert_bytes=experts[0],
        combine_bytes=experts[1],
        expert_rail_bytes=by_rack[0],
        combine_rail_bytes=by_rack[1],
        weight_rack_bytes=rack(gathers[0]),
        weight_rail_bytes=rail(gathers[0]),
        routed_bytes=replicas(sum(one.gradient_bytes for one in routed)),
        weight_routed_bytes=replicas(sum(gathers[1:])),
        context_bytes=_buffer(
            parallelism.context_bytes(setup), degrees.context, degrees.context, divide
        ),
        site_bytes=chunks * round(held / divide / chunks) if shape.sites > 1 else chunks,
        backward_turns=parallelism.course(setup).backward_waits,
    )  # fmt: skip
    if min(found) < 1:
        name = found._fields[found.index(min(found))]
        raise SpecError(f"{divide} times smaller nothing is left of {name}. Divide by less.")
    return found


def _buffer(whole_bytes: float, members: int, fewer: int, divide: int, parts: int = 1) -> int:
    """Return the buffer of a ring of `fewer`, in which each sends what it sends among `members`.

    A ring sends (n-1)/n of the buffer once or twice. The buffer is `fewer * parts` equal parts.
    """
    if fewer == 1 or not whole_bytes:
        return fewer * parts
    sent_bytes = whole_bytes * (members - 1) / members / divide
    return fewer * parts * round(sent_bytes / (fewer - 1) / parts)
