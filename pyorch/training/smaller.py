# SPDX-License-Identifier: GPL-2.0-only
"""Takes a training set-up and a network for it, returns a smaller step with the same shares.

Kept is all that a schedule waits for: passes, stages, replicas in a rack, what each device computes
and sends through each of its ports. Fewer are the racks of a stage, the devices of a tensor group,
and, of a steady step, the stages, which do all the same. Layers and micro-batches are fewer where
there would be too many messages; the closed form of the smaller step says what that changes. A
network keeps, in every tier, the links out of a group of switches for each message that leaves it,
and the racks below it of those that share experts: their messages do not leave it.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil, floor, log10, prod

from pyorch.errors import SpecError, TheoryError
from pyorch.theory import exposed, parallelism
from pyorch.theory.full_step import Fabric
from pyorch.theory.parallelism import Setup
from pyorch.theory.schedules import STEADY, schedule
from pyorch.training.plan import (
    PACKET_BYTES,
    PACKETS,
    Amounts,
    Shape,
    amounts,
    copies,
    holders,
)
from pyorch.training.step import HALVES, SHARDED

#: Messages of a run at most.
MOST_MESSAGES = 2_000_000
#: Data packets in a plane, at least, of a message that leaves its rack.
PACKETS_OF_A_PLANE = 8
#: The exposed share of a smaller step is this close to that of the whole one; closer is as good.
CLOSE, ALIKE = 0.01, 0.001
#: Parts in which gradients are reduced, as in the closed form.
CHUNKS = parallelism.PIECES
#: Whole links instead of parts of one may change the rate out of a switch by so much.
ROUNDED = 0.01
#: Stages of a smaller steady step at most.
MOST_STAGES = 32


@dataclass(frozen=True)
class Smaller:
    """A step that stands for a whole one.

    Attributes
    ----------
    shape : Shape
        Its devices.
    layers : int
        Of a model chunk.
    micro_batches : int
        Of the step.
    divide : int
        All times of computing and all bytes are so many times smaller.
    messages : int
        In all.
    share : float
        What is exposed of it, in closed form [1].
    bare_ps : float
        The step without messages: arithmetic, and the bubble of the pipeline [ps].
    """

    shape: Shape
    layers: int
    micro_batches: int
    divide: int
    messages: int
    share: float
    bare_ps: float

    def exposed_share(self, step_ps: float) -> float:
        """Return what messages add to a step of this length, over the step [1]."""
        return 1 - self.bare_ps / step_ps


def smaller(
    setup: Setup, peers: int = 2, divide: int | None = None, stages: int | None = None,
    planes: int = 1, tensor: int = 2,
) -> Smaller:  # fmt: skip
    """Return a step of so many racks of a stage, at least, and devices of a tensor group, at most.

    Parameters
    ----------
    divide : int, optional
        Found if it is left out: a message has enough packets then, the mean of all, for each of
        `planes`.
    stages : int, optional
        Of a steady step, whose stages do all the same: two by default. Else those of the job.

    Raises
    ------
    TheoryError
        No step with few enough messages has the shares of the whole one.
    """
    all_stages = setup.placement.stages
    stages = min(stages or 2, all_stages) if setup.degrees.schedule == STEADY else all_stages
    members, tensor = setup.placement.rack_members, min(tensor, setup.tensor)
    *others, last = [Shape(stages, racks, members, tensor) for racks in _peers(setup, peers)]
    best = None
    for shape in others:
        with suppress(TheoryError):
            best = _closest(setup, shape)
    best = best or _closest(setup, last)
    if divide is None:
        divide = _divided(setup, best, planes)
    return replace(best, divide=divide, bare_ps=best.bare_ps / divide)


def given(
    setup: Setup, shape: Shape, divide: int, layers: int = 1, micro_batches: int | None = None
) -> Smaller:
    """Return a step that is described in a scenario; by default with all micro-batches."""
    micro_batches = micro_batches or setup.job.micro_batches
    messages = _messages(setup, shape, layers, micro_batches)
    one = _step(setup, shape, layers, micro_batches, messages)
    return replace(one, divide=divide, bare_ps=one.bare_ps / divide)


def stages_for(setup: Setup, networks: Iterable[tuple[Fabric, int]]) -> int:
    """Return stages of a smaller steady step with which whole links are what parts of them were.

    Parameters
    ----------
    networks : iterable of (Fabric, int)
        With their tiers.
    """
    networks = list(networks)

    def off(stages: int) -> float:
        ups = [_uplinks(setup, *network, stages) for network in networks]
        return max((abs(_whole(up) / up - 1) for found in ups for up in found), default=0.0)

    tried = range(min(2, setup.placement.stages), min(setup.placement.stages, MOST_STAGES) + 1)
    return next((n for n in tried if off(n) <= ROUNDED), min(tried, key=off))


def _whole(links: float) -> int:
    return max(1, round(links))


def _closest(setup: Setup, shape: Shape) -> Smaller:
    """Return the step of some devices whose share is closest to that of the whole one, undivided.

    Raises
    ------
    TheoryError
        None with few enough messages is close enough.
    """
    whole = float(exposed.expose_setup(setup).share)
    few, least = [], 0
    for layers in range(1, setup.layers_per_stage // setup.degrees.virtual_stages + 1):
        for micro_batches in _micro_batches(setup):
            messages = _messages(setup, shape, layers, micro_batches)
            if messages <= MOST_MESSAGES:
                few.append(_step(setup, shape, layers, micro_batches, messages))
                break
            least = min(least or messages, messages)
    if not few:
        raise TheoryError(
            f"the smallest step has {least:,} messages on {shape.devices:,} devices; at most"
            f" {MOST_MESSAGES:,} are simulated. Take fewer stages, or experts in fewer racks."
        )
    best = min(few, key=lambda one: (max(ALIKE, abs(one.share - whole)), one.messages))
    if abs(best.share - whole) > CLOSE:
        raise TheoryError(
            f"of the steps with at most {MOST_MESSAGES:,} messages the closest has"
            f" {best.micro_batches} micro-batches and {best.layers} layers in a model chunk, and"
            f" exposes {100 * best.share:.1f} % in place of {100 * whole:.1f} %. Take fewer"
            " micro-batches or stages."
        )
    return best


def _peers(setup: Setup, peers: int) -> list[int]:
    """Return racks of a stage that a step may have, the best first.

    They are whole groups that share a sequence or experts, and groups that share weights if those
    of the job are. Of those that share experts there are two, which exchange the gradients of
    these, or one if no step with two is found.
    """
    where, degrees = setup.placement, setup.degrees
    available = where.racks_per_stage_and_datacenter
    experts, group = _group(setup), parallelism.Spread.of(where, degrees.context, "context").racks
    group = max(group, experts)
    least = group * ceil(peers / group)
    two = max(least, 2 * group) if experts > 1 else least
    first = (_first(setup, range(racks, available, group), available) for racks in (two, least))
    return [*dict.fromkeys(first)]


def _first(setup: Setup, some: Iterable[int], available: int) -> int:
    """Return the first of some numbers of racks of which groups share weights as in the job."""
    for racks in some:
        shape = Shape(1, racks, setup.placement.rack_members, 1)
        with suppress(SpecError):
            for one, _, holding in holders(setup, shape):
                copies(one, holding)
            return racks
    return available


def _micro_batches(setup: Setup) -> Iterator[int]:
    """Yield the micro-batches that the schedule takes, the most first."""
    most, degrees, stages = setup.job.micro_batches, setup.degrees, setup.placement.stages
    if degrees.schedule == STEADY:
        yield 1
        return
    yield most
    for number in range((most - 1) // stages * stages, 0, -stages):
        with suppress(TheoryError):
            schedule(degrees.schedule, stages, number, degrees.virtual_stages)
            yield number


def _messages(setup: Setup, shape: Shape, layers: int, micro_batches: int) -> int:
    return sum(n for n, _, _ in _sent(setup, shape, layers, micro_batches)) * shape.devices


def _step(setup: Setup, shape: Shape, layers: int, micro_batches: int, messages: int) -> Smaller:
    """Return a step that is not divided."""
    times, chunks = parallelism.stage_times(setup), setup.degrees.virtual_stages
    part = layers * chunks / setup.layers_per_stage
    names = (
        "forward_ps", "backward_ps", "tensor_ps", "dp1_ps", "dp2_ps", "dp4_ps", "dp5_ps",
        "expert_up_ps", "expert_out_ps", "context_up_ps", "context_out_ps", "gather_up_ps",
        "gather_out_ps",
    )  # fmt: skip
    course = replace(
        times.course, stages=shape.stages, micro_batches=micro_batches, layers=layers * chunks
    )
    fewer = {name: part * getattr(times, name) for name in names}
    step = exposed.expose(replace(times, course=course, **fewer))
    return Smaller(
        shape, layers, micro_batches, 1, messages, float(step.share),
        float(step.compute_ps + step.bubble_ps),
    )  # fmt: skip


def _sent(
    setup: Setup, shape: Shape, layers: int, micro_batches: int
) -> list[tuple[int, int, bool]]:
    """Return what a device sends: how many messages, of how many bytes, and if they leave racks."""
    degrees, chunks = setup.degrees, setup.degrees.virtual_stages
    each = _amounts(setup, shape, layers)
    halves = HALVES * layers * chunks * micro_batches
    passes = 1 + each.backward_turns
    members, experts, context = shape.members, degrees.experts, shape.spread(degrees.context)
    shares = halves // 2 * (passes + 1)
    to_experts = [(experts - 1, each.expert_bytes // experts, experts > members)]
    if (racks := experts // members) > 1 and each.expert_rail_bytes > 1:
        to_experts = [
            (racks - 1, each.expert_rail_bytes // racks, True),
            (racks * (members - 1), each.expert_bytes // experts, False),
        ]
    sent = [
        (2 * (shape.tensor - 1) * halves * passes, each.tensor_bytes // shape.tensor, False),
        *((halves * passes * n, size, leaves) for n, size, leaves in to_experts),
        (shares * (context.members - 1), each.context_bytes // context.members, False),
        (shares * (context.racks - 1), each.context_rail_bytes // context.racks, True),
        (2 * chunks * micro_batches * (shape.stages > 1), each.pipeline_bytes, True),
        *_reduced(setup, shape, each, micro_batches),
    ]  # fmt: skip
    return [one for one in sent if one[0] > 0]


def _reduced(
    setup: Setup, shape: Shape, each: Amounts, micro_batches: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield what a device sends to reduce gradients and to gather them or weights."""
    chunks = CHUNKS * setup.degrees.virtual_stages
    often = chunks * (1 + (2 * micro_batches if setup.degrees.zero == SHARDED else 1))
    buffers = (
        (each.rack_bytes, each.rail_bytes, each.copies, each.copies_bytes),
        (each.routed_rack_bytes, each.routed_bytes, each.routed_copies, each.routed_copies_bytes),
    )
    held = zip(holders(setup, shape), buffers, strict=False)
    for (_, members, racks), (in_rack, on_rail, groups, among) in held:
        peers = racks // groups
        yield (members - 1) * often, in_rack // CHUNKS // members, False
        yield (peers - 1) * often, on_rail // CHUNKS // peers, True
        yield 2 * (groups - 1) * chunks, among // CHUNKS // groups, True


def _amounts(setup: Setup, shape: Shape, layers: int) -> Amounts:
    return amounts(setup, shape, 1, layers, CHUNKS)


def _divided(setup: Setup, one: Smaller, planes: int) -> int:
    """Return by what a step is divided so that messages have enough packets: two digits."""
    sent = _sent(setup, one.shape, one.layers, one.micro_batches)
    if not sent:
        return 1
    mean = sum(n * size for n, size, _ in sent) / sum(n for n, _, _ in sent)
    far = min((size for _, size, leaves_rack in sent if leaves_rack), default=mean)
    each = min(mean / PACKETS, far / max(PACKETS, PACKETS_OF_A_PLANE * planes))
    divide = max(1.0, each / PACKET_BYTES)
    digit = 10 ** max(0, floor(log10(divide)) - 1)
    return int(divide / digit) * digit


def is_simulated(setup: Setup, fabric: Fabric, tiers: int) -> bool:
    """Return whether packets find one network between two devices.

    Those of a rack have scale-up, and no rail in common; switches of one tier are crossbars, so
    that one for all rails does what one for each does.
    """
    return tiers == 1 or fabric.rails == setup.cluster.rack_gpus


def topology(setup: Setup, fabric: Fabric, tiers: int, one: Smaller) -> dict:
    """Return the network of a smaller step, as a scenario has it.

    Each rail has the tiers and the planes of the whole network, and of every tier the links up for
    each message that leaves a group of its switches. Of a ring of peers these are as many as the
    group has hosts, or as lie between two peers: stages. A group is smaller than a pipeline, or has
    a whole one, or as many as it had of those that share experts.

    Raises
    ------
    TheoryError
        Several devices of a rack are on one rail.
    """
    devices = setup.cluster.rack_gpus
    if not is_simulated(setup, fabric, tiers):
        raise TheoryError(
            f"{fabric.rails} rails for racks of {devices} devices: two networks would join devices"
            f" of a rack, and packets take either. Take --rails {devices}."
        )
    children, parents, left, below = [], [], one.shape.stages, 1
    for level, up in enumerate(_uplinks(setup, fabric, tiers, one.shape.stages), 1):
        parents.append(_whole(up / prod(parents)))
        child, left = min(fabric.half, left), ceil(left / fabric.half)
        whole = fabric.half**level // setup.placement.stages if left == 1 else 1
        peers = _peers_below(_group(setup), min(whole, one.shape.peers - 1), below)
        children.append(child * (peers // below))
        below = peers
    children.append(left * one.shape.peers // below)
    rail = {"type": "clos", "children": children, "parents": parents, "planes": fabric.planes}
    return {
        "type": "rails",
        "devices": one.shape.members * one.shape.tensor,
        "rail": rail,
        "scale_up": {
            "rate": f"{round(setup.network.scale_up_bps)} bit/s", "delay": delay(fabric, one),
        },
    }  # fmt: skip


def _group(setup: Setup) -> int:
    """Return the racks over which experts are spread."""
    return parallelism.Spread.of(setup.placement, setup.degrees.experts, "experts").racks


def _peers_below(group: int, most: int, least: int) -> int:
    """Return how many of the racks that share experts lie below the same switches: a whole part.

    Parameters
    ----------
    group : int
        These racks.
    most : int
        That lie there in the whole network, but fewer than there are.
    least : int
        That lie below one of these switches already, of which it is a whole number.
    """
    parts = [n for n in range(least, most + 1, least) if group % n == 0]
    return max(parts, default=least)


def peers_for(setup: Setup, networks: Iterable[tuple[Fabric, int]], peers: int = 2) -> int:
    """Return racks of a stage of a smaller step: more than lie below the switches of one tier."""
    group = _group(setup)
    inner = [fabric.half ** (tiers - 1) for fabric, tiers in networks if tiers > 1]
    if group > 1 and inner and max(inner) >= group * setup.placement.stages:
        return max(peers, 2 * group)
    return peers


def _uplinks(setup: Setup, fabric: Fabric, tiers: int, stages: int) -> list[float]:
    """Return the links out of a group of switches of each tier but the top, in one plane."""
    found = []
    for level in range(1, tiers):
        hosts = fabric.half**level
        leave = min(hosts, stages) / min(hosts, setup.placement.stages)
        found.append(hosts / fabric.thinned(level) * leave)
    return found


def delay(fabric: Fabric, one: Smaller) -> str:
    """Return the delay of every link of a smaller step."""
    return f"{max(1, round(fabric.delay_ps / one.divide))} ps"


def workload(preset: str, setup: Setup, one: Smaller) -> dict:
    """Return the workload of a smaller step, as a scenario has it."""
    found = {
        "type": "training", "preset": preset, **one.shape._asdict(), "layers": one.layers,
        "divide": one.divide, "chunks": CHUNKS,
    }  # fmt: skip
    if setup.degrees.schedule != STEADY:
        found["micro_batches"] = one.micro_batches
    return found
