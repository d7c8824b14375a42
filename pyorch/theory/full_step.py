# SPDX-License-Identifier: GPL-2.0-only
"""Takes a training set-up and a network, returns each collective of a step at its full size.

Every device is there, with its links and the message that it sends in one round of a collective;
rates are max-min fair over all of them, so nothing is taken for symmetrical that is not. Where all
messages of a round turn out alike, in rate and in latency, the round ends at one moment and the
next one is the same again: then all rounds are one class that is carried once, which is exact.
Where they are not, the times of the shortest and of the longest message bound the collective.

Messages are split evenly over planes and shortest paths, as `engine: fluid` does with sprayed ones;
a test holds one against the other. Racks are numbered peer by peer: those of one pipeline follow
each other. Source of the collectives: [hotnets24] sections 4.1 and 6.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pyorch.errors import TheoryError
from pyorch.theory import ecmp, fct, parallelism
from pyorch.theory.parallelism import Setup, StageTimes
from pyorch.theory.topology_cost import smallest_tiers

_PS_BITS = 8e12
#: Rates and times that differ by less than this part are alike: rounding.
_ALIKE = 1e-9
NONE = -1


@dataclass(frozen=True)
class Fabric:
    """The networks that join the devices of a data centre.

    Attributes
    ----------
    radix : int
        Ports of a switch chip at the rate of a whole NIC.
    planes, rails : int
        As in `topology_cost.Clos`; rails divide the devices of a rack.
    oversubscription : float
        Ports of an edge switch to hosts over those up, at full radix; 1 is full bisection.
    upper : tuple of float
        The same of the tiers above the edge, from below; those that are not said have 1.
    delay_ps : int
        Of each link [ps].
    framing : Framing
        How messages become frames.
    """

    radix: int
    planes: int = 1
    rails: int = 1
    oversubscription: float = 1.0
    delay_ps: int = 500_000
    framing: fct.Framing = fct.Framing(first_header_bytes=0)
    upper: tuple[float, ...] = ()

    def thinned(self, level: int) -> float:
        """Return the rate of hosts over that of the links out of all of so many tiers."""
        return self.oversubscription * float(np.prod(self.upper[: level - 1]))

    @property
    def half(self) -> int:
        """Hosts below one edge switch of a plane."""
        return self.radix * self.planes // 2


@dataclass(frozen=True)
class Phase:
    """One collective: what every device sends in a round, and how many rounds follow each other."""

    name: str
    network: str  #: scale_up, scale_out or wan
    src: np.ndarray
    dst: np.ndarray
    message_bytes: int
    rounds: int


@dataclass(frozen=True)
class Outcome:
    """How long a collective takes, and of how many messages [ps].

    `shortest_ps` and `longest_ps` are those of a message; alike means exact.
    """

    name: str
    network: str
    messages: int
    message_bytes: int
    rounds: int
    shortest_ps: float
    longest_ps: float
    links: int

    @property
    def is_exact(self) -> bool:
        """Whether all messages of a round are alike, or nothing waits for any of them."""
        return self.rounds == 1 or self.longest_ps <= self.shortest_ps * (1 + _ALIKE)

    @property
    def time_ps(self) -> float:
        """Until the last message of the last round [ps]; at most that if it is not exact."""
        return self.rounds * self.longest_ps

    @property
    def least_ps(self) -> float:
        """The same if all messages were as short as the shortest [ps]."""
        return self.rounds * self.shortest_ps


def phases(setup: Setup) -> Iterator[Phase]:
    """Yield the collectives of one pipeline stage, each with the messages of all devices.

    Those that nobody takes part in are left out.
    """
    yield from (phase for phase in _phases(setup) if phase.rounds and len(phase.src))


def _phases(setup: Setup) -> Iterator[Phase]:
    place, devices, degrees = setup.placement, setup.cluster.rack_gpus, setup.degrees
    tensor, members = place.tensor, place.rack_members
    peers, stages = place.racks_per_stage_and_datacenter, place.stages
    sites, layers = setup.cluster.datacenters, setup.layers_per_stage
    rack = np.arange(sites * peers * stages, dtype=np.int64)
    all_devices = (rack[:, None] * devices + np.arange(tensor * members)).ravel()
    slot, of = all_devices % devices, all_devices // devices
    stage, peer, site = of % stages, of // stages % peers, of // (stages * peers)
    lane, member = slot % tensor, slot // tensor

    def at(
        new_site: np.ndarray, new_peer: np.ndarray, new_stage: np.ndarray, new_slot: np.ndarray
    ) -> np.ndarray:
        return ((new_site * peers + new_peer) * stages + new_stage) * devices + new_slot

    def along(place_of: np.ndarray, number: int, stride: int, step: int = 1) -> np.ndarray:
        """Return the next one of `number` whose places are `stride` apart."""
        block, within = np.divmod(place_of, number * stride)
        turn, rest = np.divmod(within, stride)
        return block * number * stride + (turn + step) % number * stride + rest

    def inside(number: int, stride: int, step: int = 1) -> np.ndarray:
        return at(site, peer, stage, along(member, number, stride, step) * tensor + lane)

    def among(number: int, stride: int, step: int = 1) -> np.ndarray:
        return at(site, along(peer, number, stride, step), stage, slot)

    def phase(name: str, network: str, to: np.ndarray, size: float, rounds: int) -> Phase:
        whole = max(1, int(np.ceil(float(size))))
        return Phase(name, network, all_devices, to, whole, rounds)

    activations = parallelism.activation_bytes(setup)
    passes = 2 * parallelism.TENSOR_ALL_REDUCES * layers
    in_group = at(site, peer, stage, member * tensor + (lane + 1) % tensor)
    yield phase("tensor", "scale_up", in_group, activations / tensor, passes * (tensor - 1))
    context = parallelism.Spread.of(place, degrees.context, "context")
    kept = parallelism.context_bytes(setup) / degrees.context
    yield phase(
        "context", "scale_up", inside(context.members, 1), kept * context.racks,
        layers * (context.members - 1),
    )  # fmt: skip
    yield phase("context", "scale_out", among(context.racks, 1), kept, layers * (context.racks - 1))
    experts = parallelism.Spread.of(place, degrees.experts, "experts")
    near, far = parallelism.expert_bytes(setup)
    for number, network, size, to in (
        (experts.members, "scale_up", near, inside), (experts.racks, "scale_out", far, among),
    ):  # fmt: skip
        for step in range(1, number):
            yield phase("expert", network, to(number, 1, step), size / (number - 1), layers)
    ahead = stage + 1 < stages
    yield Phase(
        "pipeline", "scale_out", all_devices[ahead], at(site, peer, stage + 1, slot)[ahead],
        max(1, int(np.ceil(float(activations / tensor)))), 1,
    )  # fmt: skip
    scatters_again = degrees.zero == 0
    for one in parallelism.reductions(setup):
        shard, weight = one.gradient_bytes / one.members, one.weight_bytes / one.members
        apart, stride = members // one.members, peers // one.racks
        turns = one.members - 1
        to_member = inside(one.members, apart)
        yield phase("dp1", "scale_up", to_member, shard, turns * (1 + scatters_again))
        to_peer, others = among(one.shard_racks, stride), one.shard_racks - 1
        chunk = shard / one.shard_racks
        yield phase("dp2", "scale_out", to_peer, chunk, others * (1 + scatters_again))
        groups = one.racks // one.shard_racks
        yield phase(
            "dp2", "scale_out", among(groups, stride * one.shard_racks), chunk / groups,
            2 * (groups - 1),
        )  # fmt: skip
        yield phase("dp4", "scale_out", to_peer, weight / one.shard_racks, others)
        yield phase("dp5", "scale_up", to_member, weight, turns)
    if sites == 2:
        pair = parallelism.wan_pair_bytes(setup)
        yield phase("dp3", "wan", at(1 - site, peer, stage, slot), pair, 1)


def check(setup: Setup, fabric: Fabric) -> None:
    """Raise TheoryError unless there can be such a network for these devices."""
    devices = setup.cluster.rack_gpus
    if fabric.rails < 1 or devices % fabric.rails:
        raise TheoryError(f"{fabric.rails} rails do not divide the {devices} devices of a rack.")
    if fabric.planes < 1 or fabric.radix * fabric.planes < 4:
        raise TheoryError(
            f"{fabric.planes} planes of chips with {fabric.radix} ports: at least 1 plane, and 4"
            " ports in each."
        )
    for ratio in (fabric.oversubscription, *fabric.upper):
        if not 1 <= ratio <= fabric.half:
            raise TheoryError(
                f"oversubscription {ratio:g}: 1 to {fabric.half}, the ports of a switch to those"
                " below."
            )


def solve(setup: Setup, fabric: Fabric, phase: Phase) -> Outcome:
    """Return how long a collective takes alone on its network."""
    check(setup, fabric)
    n_devices = int(max(phase.src.max(), phase.dst.max())) + 1
    routes, rates, hops, ports = _paths(setup, fabric, phase, n_devices)
    wire = fabric.framing.message_wire_bytes(phase.message_bytes)
    fair = ecmp.max_min_rates(routes, rates)
    sent_ps = wire * _PS_BITS / fair
    nic_bps = float(rates[routes[0, 0]])
    beyond = np.zeros(int(hops.max()) + 1)
    for n_hops in np.unique(hops).tolist():
        beyond[n_hops] = _beyond_ps(setup, fabric, phase, wire, nic_bps, n_hops, ports)
    took_ps = sent_ps + beyond[hops]
    return Outcome(
        phase.name, phase.network, len(phase.src) * phase.rounds, phase.message_bytes, phase.rounds,
        float(took_ps.min()), float(took_ps.max()), len(np.unique(routes[routes >= 0])),
    )  # fmt: skip


def _beyond_ps(
    setup: Setup, fabric: Fabric, phase: Phase, wire: int, nic_bps: float, hops: int, ports: int
) -> float:
    """Return what a message alone takes beyond its bytes over the rate of its NIC [ps]."""
    packets = fabric.framing.n_packets(phase.message_bytes)
    busiest = min(phase.message_bytes, -(-packets // ports) * fabric.framing.mtu_bytes)
    rate = int(nic_bps) // ports
    delays = [fabric.delay_ps] * hops
    if phase.network == "wan":
        delays = [int(setup.network.wan_rtt_ps) // 2]
    alone_ps = fct.unloaded_fct_ps(busiest, [rate] * hops, delays, fabric.framing)
    return max(0.0, alone_ps - wire * _PS_BITS / nic_bps)


def nic_bps(setup: Setup, phase: Phase) -> float:
    """Return the rate of a device in the network of a collective [bit/s]."""
    return float(getattr(setup.network, f"{phase.network}_bps"))


def closed_form_ps(setup: Setup, phase: Phase) -> float:
    """Return the time of a collective without latency and headers: bytes over rate [ps]."""
    return phase.rounds * phase.message_bytes * _PS_BITS / nic_bps(setup, phase)


def _paths(
    setup: Setup, fabric: Fabric, phase: Phase, n_devices: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return links of each message, rates of the links [bit/s], hops, and ports of a device.

    Links 0 to n - 1 lead out of the devices, n to 2 n - 1 into them; what leads out of, and into,
    a group of hosts below the same switches is one link each, because all share it evenly.
    """
    nic = nic_bps(setup, phase)
    paths = [phase.src, n_devices + phase.dst]
    rates = [np.full(2 * n_devices, float(nic))]
    if phase.network == "wan":
        return np.stack(paths, axis=1), rates[0], np.ones(len(phase.src), int), 1
    hops = np.full(len(phase.src), 2)
    if phase.network == "scale_up":
        return np.stack(paths, axis=1), rates[0], hops, 1
    devices = setup.cluster.rack_gpus
    per_rail = devices // fabric.rails
    place = setup.placement
    racks = place.racks_per_stage_and_datacenter * place.stages
    tiers = smallest_tiers(fabric.radix * fabric.planes, racks * per_rail)
    first = 2 * n_devices
    for level in range(1, tiers):
        size = fabric.half**level
        groups = -(-racks * per_rail // size)
        ends = []
        for device in (phase.src, phase.dst):
            rack, slot = np.divmod(device, devices)
            site, rack = np.divmod(rack, racks)
            rail, place_in_rack = np.divmod(slot, per_rail)
            group = (rack * per_rail + place_in_rack) // size
            ends.append((site * fabric.rails + rail) * groups + group)
        n_groups = int(max(end.max() for end in ends)) + 1
        leaves = ends[0] != ends[1]
        paths += [np.where(leaves, first + ends[0], NONE),
                 np.where(leaves, first + n_groups + ends[1], NONE)]  # fmt: skip
        rates.append(np.full(2 * n_groups, size * float(nic) / fabric.thinned(level)))
        first += 2 * n_groups
        hops = hops + 2 * leaves
    return np.stack(paths, axis=1), np.concatenate(rates), hops, fabric.planes


def stage_times(setup: Setup, outcomes: Iterable[Outcome]) -> StageTimes:
    """Return the times of a stage with what was solved in place of bytes over rate.

    Messages of one collective that are sent one after the other add up; those to experts share a
    network, and the slower network counts.
    """
    took = defaultdict(float)
    for outcome in outcomes:
        took[outcome.name, outcome.network] += outcome.time_ps

    def total(name: str) -> float:
        return took[name, "scale_up"] + took[name, "scale_out"]

    zero = setup.degrees.zero
    gathers = {"rack": total("dp5"), "fabric": total("dp4")}
    with_gather = 1 if 0 < zero < 3 else 0
    return replace(
        parallelism.stage_times(setup),
        tensor_ps=total("tensor"),
        pipeline_ps=total("pipeline"),
        expert_up_ps=took["expert", "scale_up"],
        expert_out_ps=took["expert", "scale_out"],
        context_up_ps=took["context", "scale_up"],
        context_out_ps=took["context", "scale_out"],
        dp1_ps=total("dp1") + with_gather * gathers["rack"],
        dp2_ps=total("dp2") + with_gather * gathers["fabric"],
        dp4_ps=gathers["fabric"] if zero < 3 else 0.0,
        dp5_ps=gathers["rack"] if zero < 3 else 0.0,
        gather_up_ps=gathers["rack"] if zero == 3 else 0.0,
        gather_out_ps=gathers["fabric"] if zero == 3 else 0.0,
    )
