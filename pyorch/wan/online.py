# SPDX-License-Identifier: GPL-2.0-only
"""Takes what a run has counted when it pauses, returns rates and paths: a controller in the loop.

Sources make data at the rate that their demand asks for, which may change, and send it at that rate
or, when some waits, at their limit. At each epoch the controller sees what has been sent, what
waits and which links are up; some time later its limits and paths are told, in the three steps of
`pyorch.wan.control`. What happens at a time comes before all else of that instant of the run.
"""

import heapq
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from pyorch.errors import PluginError
from pyorch.units import TIME, format_exact
from pyorch.wan.control import Control
from pyorch.wan.paths import Cables, Columns, NoPathError
from pyorch.wan.plan import Plan
from pyorch.wan.request import Request
from pyorch.wan.traffic import Stream, Traffic, re_engineered

#: Rates that differ by less are the same [1].
_SAME = 1e-6
#: Less than this waits at any time, because packets are whole [packet].
_WHOLE_PACKETS = 2
#: What comes into force is known to who looks at that time.
_TOLD, _LOOK = 0, 1
NEVER_PS = 2**63 - 1


@dataclass(frozen=True)
class Seen:
    """What a controller sees at an epoch; rates on the wire, parity left out.

    Attributes
    ----------
    now_ps, interval_ps : int
        When, and the length of the epoch that is over.
    sent_bps : dict
        By demand: what its sources have sent in that epoch, copies left out.
    waiting_bits : dict
        By demand: what they have and have not sent.
    limits_bps : dict
        By demand: what it is admitted to now.
    tunnels_bps : dict
        By demand and path through sites: parts of `sent_bps`.
    links_bps : dict
        By sites, from and to: what the links between them have sent in that epoch, all frames.
    """

    now_ps: int
    interval_ps: int
    sent_bps: dict[str, float]
    waiting_bits: dict[str, float]
    limits_bps: dict[str, float]
    tunnels_bps: dict[str, dict[tuple[str, ...], float]]
    links_bps: dict[tuple[str, str], float]


@dataclass(frozen=True)
class Counted:
    """What a run has counted since its start.

    Attributes
    ----------
    sent_bits : float64, n_flows
        On the wire, parity included and copies left out.
    whole_bits : float64, n_flows
        The same when all is sent, without parity.
    frame_bits : float64, n_flows
        Of a full packet.
    link_rate_bps : int64, n_links
        Rate of each row of the table of links, 0 = cut.
    port_bits : dict
        By nodes, from and to: what the cables between them have sent.
    """

    sent_bits: np.ndarray
    whole_bits: np.ndarray
    frame_bits: np.ndarray
    link_rate_bps: np.ndarray
    port_bits: dict[tuple[int, int], float]


@dataclass(frozen=True)
class Orders:
    """What changes at an instant: the rate of flows [bit/s], and the paths of others."""

    rates_bps: list[tuple[int, int]]
    moved: list[tuple[int, Stream]]


@dataclass(frozen=True)
class Decision:
    """What was seen of a demand at an epoch, and decided.

    Nothing is decided, None, while the controller is away (`is_infeasible` is None too), and for no
    demand if one has no path at all.
    """

    time_ps: int
    demand: int
    sent_bytes: int
    waiting_bytes: int
    limit_bps: int
    granted_bps: int | None
    moved_flows: int | None
    is_infeasible: bool | None


class Loop:
    """The sources of some demands, and the controller that limits them while a run goes on.

    Parameters
    ----------
    control : Control
        When it acts; `epoch_ps` is above 0.
    decide : callable
        Takes a request on the links that are up, and what was seen; returns a plan.
    request, first, overhead
        What was asked at the start, and what `engineered` has made of it.
    offers : sequence of (int, float) pairs, one sequence for each demand
        From when on a demand makes data at which rate [ps, bit/s].
    network : nodes, links, sites
        As `Cables` takes them.
    who : str
        File of the controller, for messages.
    """

    def __init__(
        self,
        control: Control,
        decide: Callable[[Request, Seen], Plan],
        request: Request,
        first: Traffic,
        offers: Sequence[Sequence[tuple[int, float]]],
        network: tuple[Columns, Columns, Sequence[tuple[str, int]]],
        overhead: float = 0.0,
        who: str = "controller",
    ):
        self.decisions: list[Decision] = []
        self._control, self._decide, self._request = control, decide, request
        self._in_force, self._network = first, network
        self._whole, self._overhead, self._who = 1.0 + overhead, overhead, who
        self._of = np.array([stream.demand for stream in first.streams])
        self._n_flows = np.bincount(self._of, minlength=len(offers))
        self._offers = [[*offer, (NEVER_PS, 0.0)] for offer in offers]
        self._limit_bps = self._of_flows(first.granted_bps)
        self._rate_bps = np.maximum(1, np.floor(self._limit_bps))
        self._site_of = Cables(*network).site_of
        self._before: Counted | None = None
        self._serial = count()
        self._agenda: list[tuple] = []
        for offer in offers:
            for time_ps, _ in offer:
                self._plan_for(time_ps, _TOLD, lambda: None)
        self._plan_for(control.epoch_ps, _LOOK, None)

    @property
    def rates_bps(self) -> list[int]:
        """Rate of each flow now."""
        return [int(rate_bps) for rate_bps in self._rate_bps]

    @property
    def next_ps(self) -> int:
        """When the run has to pause next."""
        return self._agenda[0][0]

    def step(self, counted: Counted) -> Orders:
        """Return what changes at `next_ps`, of what has been counted before it."""
        now_ps, paths = self.next_ps, dict(enumerate(self._in_force.streams))
        if self._before is None:
            self._before = _nothing_of(counted)
        while self.next_ps == now_ps:
            _, _, _, told = heapq.heappop(self._agenda)
            if told is None:
                self._look(now_ps, counted)
            else:
                told()
        moved = [
            (flow, stream) for flow, stream in enumerate(self._in_force.streams)
            if stream.path != paths[flow].path
        ]  # fmt: skip
        return Orders(self._new_rates(now_ps, counted), moved)

    # ---- sources

    def _of_flows(self, demand_bps: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return what each flow has of the rates of demands, parity included [bit/s]."""
        return (np.asarray(demand_bps) / self._n_flows)[self._of] * self._whole

    def _offered(self, now_ps: int, counted: Counted) -> tuple[np.ndarray, np.ndarray]:
        """Return what each source has made [bit], and the rate at which it goes on [bit/s]."""
        bits, rates_bps = np.zeros(len(self._offers)), np.zeros(len(self._offers))
        for demand, offer in enumerate(self._offers):
            for (start_ps, bps), (end_ps, _) in zip(offer, offer[1:], strict=False):
                bits[demand] += bps * max(0, min(now_ps, end_ps) - start_ps) / 1e12
                if start_ps <= now_ps < end_ps:
                    rates_bps[demand] = bps
        made, going = self._of_flows(bits), self._of_flows(rates_bps)
        whole = counted.whole_bits * self._whole
        return np.minimum(made, whole), np.where(made < whole, going, 0.0)

    def _waiting(self, now_ps: int, counted: Counted) -> np.ndarray:
        return np.maximum(0.0, self._offered(now_ps, counted)[0] - counted.sent_bits)

    def _new_rates(self, now_ps: int, counted: Counted) -> list[tuple[int, int]]:
        """Return the rates of sources that change, and plan for the moment when nothing waits."""
        _, offered_bps = self._offered(now_ps, counted)
        waiting = self._waiting(now_ps, counted)
        waits = (waiting > _WHOLE_PACKETS * counted.frame_bits) | (offered_bps == 0)
        rate_bps = np.where(waits, self._limit_bps, np.minimum(self._limit_bps, offered_bps))
        rate_bps = np.maximum(1, np.floor(rate_bps))
        changed = np.flatnonzero(np.abs(rate_bps - self._rate_bps) > _SAME * self._rate_bps)
        self._rate_bps[changed] = rate_bps[changed]
        drains = waits & (offered_bps > 0) & (self._limit_bps > offered_bps * (1 + _SAME))
        if drains.any():
            left = waiting[drains] / (self._limit_bps - offered_bps)[drains]
            least = (counted.frame_bits / self._limit_bps)[drains]
            empty_ps = now_ps + max(1, int(np.maximum(left, least).min() * 1e12))
            if empty_ps < self._control.epoch_ps * (now_ps // self._control.epoch_ps + 1):
                self._plan_for(empty_ps, _TOLD, lambda: None)
        return [(int(flow), int(rate_bps[flow])) for flow in changed]

    # ---- controller

    def _plan_for(self, time_ps: int, order: int, told: Callable[[], None] | None) -> None:
        heapq.heappush(self._agenda, (time_ps, order, next(self._serial), told))

    def _look(self, now_ps: int, counted: Counted) -> None:
        """Count what the epoch has brought; if the controller is there, let it decide."""
        seen, before = self._seen(now_ps, counted), self._in_force
        self._before = counted
        self._plan_for(now_ps + self._control.epoch_ps, _LOOK, None)
        made, cut_off = None, None
        if self._control.looks_ps(now_ps) == now_ps:
            made, cut_off = self._decided(seen, counted.link_rate_bps)
        if made is not None:
            self._tell(now_ps + self._control.delay_ps, made)
        for index, demand in enumerate(self._request.demands):
            moved = (
                None
                if made is None
                else sum(
                    old.path != new.path
                    for old, new in zip(before.streams, made.streams, strict=True)
                    if old.demand == index
                )
            )
            self.decisions.append(Decision(
                now_ps, index,
                round(seen.sent_bps[demand.name] * seen.interval_ps / 8e12),
                round(seen.waiting_bits[demand.name] / 8),
                round(seen.limits_bps[demand.name]),
                None if made is None else round(made.granted_bps[index]),
                moved,
                None if cut_off is None else index in cut_off,
            ))  # fmt: skip

    def _decided(
        self, seen: Seen, link_rate_bps: np.ndarray
    ) -> tuple[Traffic | None, tuple[int, ...]]:
        """Return what the plan of the controller is in flows, or None and who has no path."""
        nodes, links, sites = self._network
        up = link_rate_bps > 0
        left = {name: column[up] for name, column in links.items()}
        left["rate_bps"] = link_rate_bps[up]
        try:
            made = re_engineered(
                self._request, self._in_force, Cables(nodes, left, sites), self._overhead,
                lambda request: self._asked(request, seen),
            )  # fmt: skip
        except NoPathError as error:
            return None, error.demands
        except PluginError as error:
            now = format_exact(seen.now_ps, TIME)
            raise PluginError(f"{self._who}: plan, at the epoch until {now}: {error}") from error
        return made, ()

    def _asked(self, request: Request, seen: Seen) -> Plan:
        """Return the plan of the controller; whatever it raises says in which line of its file."""
        try:
            return self._decide(request, seen)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename.endswith(self._who)]
            where = f"line {lines[-1]}: " if lines else ""
            words = " ".join(str(error).split())
            raise PluginError(f"{where}{type(error).__name__}: {words}") from error

    def _tell(self, lower_ps: int, made: Traffic) -> None:
        goal_bps, step_ps = self._of_flows(made.granted_bps), self._control.step_ps

        def lower() -> None:
            self._limit_bps = np.minimum(self._limit_bps, goal_bps)

        def move() -> None:
            self._in_force = made

        def rise() -> None:
            self._limit_bps = goal_bps

        for index, told in enumerate((lower, move, rise)):
            self._plan_for(lower_ps + index * step_ps, _TOLD, told)

    def _seen(self, now_ps: int, counted: Counted) -> Seen:
        interval_ps = self._control.epoch_ps
        per_s = 1e12 / interval_ps
        sent = (counted.sent_bits - self._before.sent_bits) / self._whole * per_s
        waiting = self._waiting(now_ps, counted) / self._whole
        names = [demand.name for demand in self._request.demands]
        n = len(names)
        tunnels: dict[str, dict[tuple[str, ...], float]] = {name: {} for name in names}
        for stream, bps in zip(self._in_force.streams, sent.tolist(), strict=True):
            nodes = [stream.path[0][0], *(cable[1] for cable in stream.path)]
            path = tuple(dict.fromkeys(self._site_of[node] for node in nodes))
            own = tunnels[names[stream.demand]]
            own[path] = own.get(path, 0.0) + bps
        links: dict[tuple[str, str], float] = {}
        for (a, b), bits in counted.port_bits.items():
            pair = (self._site_of[a], self._site_of[b])
            if pair[0] != pair[1]:
                more = (bits - self._before.port_bits.get((a, b), 0.0)) * per_s
                links[pair] = links.get(pair, 0.0) + more

        def by_name(of_flows: np.ndarray) -> dict[str, float]:
            sums = np.bincount(self._of, weights=of_flows, minlength=n)
            return dict(zip(names, sums.tolist(), strict=True))

        return Seen(
            now_ps, interval_ps, by_name(sent), by_name(waiting),
            by_name(self._limit_bps / self._whole), tunnels, links,
        )  # fmt: skip


def _nothing_of(counted: Counted) -> Counted:
    """Return the counters of a run that has not begun."""
    nothing = np.zeros_like(counted.sent_bits)
    whole, frame = counted.whole_bits, counted.frame_bits
    return Counted(nothing, whole, frame, counted.link_rate_bps, {})
