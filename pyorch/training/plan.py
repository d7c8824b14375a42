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
from pyorch.theory.parallelism import Reduction, Setup, Spread

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

    def spread(self, degree: int) -> Spread:
        """Return where so many neighbours among the replicas lie: in part of a rack, or in racks.

        Raises
        ------
        SpecError
            They are neither whole racks nor an equal part of one.
        """
        members = min(degree, self.members)
        found = Spread(members, degree // members)
        if self.members % members or degree % members or self.peers % found.racks:
            raise SpecError(
                f"{self.peers} racks of {self.members} members are no groups of {degree}, each an"
                " equal part of a rack or whole racks."
            )
        return found


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
        What of these it then reduces with its peers, or with those of them that share a whole.
    copies, copies_bytes : int
        Groups of peers of which each shares a whole, 1 if all peers do; and what of the gradients a
        device then reduces with those of the other groups.
    expert_bytes, combine_bytes : int
        Tokens that a device sends to experts, those that stay included; and gets back.
    expert_rail_bytes, combine_rail_bytes : int
        The same once for each rack, where a token is copied in the rack; 1: it is not.
    weight_rack_bytes, weight_rail_bytes : int
        Weights of a model chunk that a device gathers with the members of its rack, and before that
        with its peers, where ZeRO divides something.
    routed_rack_bytes, weight_routed_rack_bytes : int
        Gradients, and weights, of routed experts that it reduces with the replicas of these in its
        rack.
    routed_bytes, weight_routed_bytes : int
        What of these it then reduces with the replicas in other racks.
    routed_copies, routed_copies_bytes : int
        As `copies` and `copies_bytes`, of these.
    context_bytes, context_rail_bytes : int
        Keys and values of a layer that the devices of a rack gather: of a whole sequence; and
        before that the part of each, with those that share the sequence in other racks.
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
    copies: int = 1
    copies_bytes: int = 1
    routed_rack_bytes: int = 1
    weight_routed_rack_bytes: int = 1
    routed_copies: int = 1
    routed_copies_bytes: int = 1
    context_rail_bytes: int = 1

    def plain(self) -> dict[str, int]:
        """Return those that a spec has: of `SELDOM` those that are not 1."""
        return {
            name: value for name, value in self._asdict().items()
            if name not in SELDOM or value != 1
        }  # fmt: skip

    def reduced_bytes(self, where: str, operation: str, zero: int) -> int:
        """Return the buffer of a ring of gradients, or of what is gathered after it [byte].

        Parameters
        ----------
        where : str
            ``rack``, ``rail``, ``copies``, these of routed experts, ``routed_rack``, ``routed`` and
            ``routed_copies``, or ``site``.
        operation : str
            ``reduce_scatter``, ``all_gather`` or ``exchange``.
        zero : int
            Stage of ZeRO; 0 gathers gradients, the others weights. Copies gather gradients always.
        """
        gathers_weights = zero and operation == "all_gather" and not where.endswith("copies")
        return getattr(self, f"{'weight_' if gathers_weights else ''}{where}_bytes")


#: Amounts that most steps do not have. A spec leaves them out then, so that its name stays.
SELDOM = (
    "copies", "copies_bytes", "routed_rack_bytes", "weight_routed_rack_bytes", "routed_copies",
    "routed_copies_bytes", "context_rail_bytes",
)  # fmt: skip


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
    reductions = parallelism.reductions(setup)
    part = layers / setup.layers_per_stage
    sent = precision.activation_bytes
    formats = [precision.dispatch_bytes or sent, precision.combine_bytes or sent]
    tokens = parallelism.sequence_bytes(setup, 1) / setup.tensor / divide
    visited = parallelism.visited_racks(setup, max(1, degrees.experts // shape.members))
    experts = [round(tokens * setup.model.active_experts * each) for each in formats]
    by_rack = [round(tokens * visited * each) if visited else 1 for each in formats]
    held = sum(one.gradient_bytes / (one.members * one.racks) for one in reductions) * part
    found = Amounts(
        forward_ps=round(times.forward_ps / setup.layers_per_stage / divide),
        backward_ps=round(times.backward_ps / setup.layers_per_stage / divide),
        tensor_bytes=_buffer(
            parallelism.activation_bytes(setup), placement.tensor, shape.tensor, divide
        ),
        pipeline_bytes=round(parallelism.pipeline_message_bytes(setup) / divide),
        expert_bytes=experts[0],
        combine_bytes=experts[1],
        expert_rail_bytes=by_rack[0],
        combine_rail_bytes=by_rack[1],
        site_bytes=chunks * round(held / divide / chunks) if shape.sites > 1 else chunks,
        backward_turns=parallelism.course(setup).backward_waits,
        **_gradients(setup, shape, part, divide, chunks),
        **_context(setup, shape, divide),
    )  # fmt: skip
    if min(found) < 1:
        name = found._fields[found.index(min(found))]
        raise SpecError(f"{divide} times smaller nothing is left of {name}. Divide by less.")
    return found


def holders(setup: Setup, shape: Shape) -> list[tuple[Reduction, int, int]]:
    """Return each part of the parameters, and its replicas in a smaller step.

    Returns
    -------
    list of (Reduction, int, int)
        As `parallelism.reductions`; replicas in a rack, and racks with one.
    """
    spreads = [Spread(1, 1), shape.spread(setup.degrees.experts)]
    return [
        (one, shape.members // spread.members, shape.peers // spread.racks)
        for one, spread in zip(parallelism.reductions(setup), spreads, strict=False)
    ]


def copies(one: Reduction, racks: int) -> int:
    """Return how many groups of some racks share a whole each, as in the preset.

    There is one group if there is one in the preset, and each rack is one if each is one there.
    Else there are several groups of several racks, as close to those of the preset as can be.

    Raises
    ------
    SpecError
        There are no such groups.
    """
    if racks == 1 or one.racks // one.shard_racks == 1:
        return 1
    if one.shard_racks == 1:
        return racks
    can = [n for n in range(2, racks) if racks % n == 0]
    if not can:
        raise SpecError(
            f"{racks} racks with the same weights are not several groups of several racks, of which"
            f" each shares a whole, as {one.racks // one.shard_racks} groups of {one.shard_racks}"
            " do in the preset. Take twice as many."
        )
    return min(can, key=lambda n: abs(racks // n - one.shard_racks))


def _gradients(
    setup: Setup, shape: Shape, part: float, divide: int, chunks: int
) -> dict[str, int]:  # fmt: skip
    """Return the buffers in which gradients are reduced and weights are gathered, by name."""
    weight_bytes, gradient_bytes = setup.precision.weight_bytes, setup.precision.gradient_bytes
    # Of a device that has no other one to send to.
    found = dict.fromkeys(("rack_bytes", "weight_rack_bytes"), chunks * shape.peers)
    found |= dict.fromkeys(
        ("routed_bytes", "weight_routed_bytes"), chunks * shape.peers * shape.members
    )
    names = (("rack", "rail", "copies"), ("routed_rack", "routed", "routed_copies"))
    for own, (one, members, racks) in zip(names, holders(setup, shape), strict=False):
        in_rack, on_rail, of_groups = own
        groups = copies(one, racks)
        weights = one.gradient_bytes * weight_bytes / gradient_bytes
        for kind, bytes_ in (("", one.gradient_bytes), ("weight_", weights)):
            whole = bytes_ * part
            if members > 1:
                found[f"{kind}{in_rack}_bytes"] = _buffer(
                    whole, one.members, members, divide, chunks * racks
                )
            found[f"{kind}{on_rail}_bytes"] = _buffer(
                whole / one.members, one.shard_racks, racks // groups, divide, chunks
            )
        if groups > 1:
            shared = one.gradient_bytes * part / one.members / one.shard_racks
            found[of_groups] = groups
            found[f"{of_groups}_bytes"] = _buffer(
                shared, one.racks // one.shard_racks, groups, divide, chunks
            )
    return found


def _context(setup: Setup, shape: Shape, divide: int) -> dict[str, int]:
    """Return the buffers in which keys and values are gathered, by name."""
    degree = setup.degrees.context
    whole, fewer = Spread.of(setup.placement, degree, "context"), shape.spread(degree)
    size_bytes = parallelism.context_bytes(setup)
    found = {"context_bytes": _buffer(size_bytes, whole.members, fewer.members, divide)}
    if fewer.racks > 1:
        found["context_rail_bytes"] = _buffer(
            size_bytes / whole.members, whole.racks, fewer.racks, divide
        )
    return found


def _buffer(whole_bytes: float, members: int, fewer: int, divide: int, parts: int = 1) -> int:
    """Return the buffer of a ring of `fewer`, in which each sends what it sends among `members`.

    A ring sends (n-1)/n of the buffer once or twice. The buffer is `fewer * parts` equal parts.
    """
    if fewer == 1 or not whole_bytes:
        return fewer * parts
    sent_bytes = whole_bytes * (members - 1) / members / divide
    return fewer * parts * round(sent_bytes / (fewer - 1) / parts)
