# SPDX-License-Identifier: GPL-2.0-only
"""Reads and checks a file of sites, links and demands."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from pyorch.errors import did_you_mean, quoted
from pyorch.spec import messages
from pyorch.spec.fields import Closed, Count, FieldError, Number, RateBps, Share, TimePs
from pyorch.spec.scenario import read_scenario

MOST_TUNNELS = 64
MOST_QUANTA = 1024
_GBPS = 1e9


class Link(Closed):
    """A link between two sites: `rate` in each direction."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    rate_bps: RateBps = Field(alias="rate")
    delay_ps: TimePs = Field(0, alias="delay")


class Point(Closed):
    """A point of a bandwidth function: what is wanted at this fair share."""

    share: Annotated[Number, Field(gt=0)]
    rate_bps: RateBps = Field(alias="rate")


class Demand(Closed):
    """What one site wants to send to another: up to `demand`, `weight` Gb/s for a share of 1.

    Instead of these two `function` may hold the points of a bandwidth function, which begins at 0
    and is a straight line between them.
    """

    name: str
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    priority: Annotated[int, Field(strict=True, ge=0)] = 0
    demand_bps: RateBps | None = Field(None, alias="demand")
    weight: Annotated[Number, Field(gt=0)] = 1.0
    function: list[Point] = []
    paths: list[Annotated[list[str], Field(min_length=2)]] = []

    def points(self) -> list[tuple[float, float]]:
        """Return share and rate [bit/s] where the bandwidth function bends, (0, 0) first."""
        if self.demand_bps is not None:
            share = self.demand_bps / (self.weight * _GBPS)
            return [(0.0, 0.0), (share, float(self.demand_bps))]
        return [(0.0, 0.0), *((point.share, float(point.rate_bps)) for point in self.function)]


class Request(Closed):
    """Sites, links, demands, and how they are to be served.

    `tunnels` is how many paths a demand may use at most, `quanta` into how many equal parts it may
    be split over them, `headroom` what is left free of every link.
    """

    sites: Annotated[list[str], Field(min_length=2)]
    links: Annotated[list[Link], Field(min_length=1)]
    demands: Annotated[list[Demand], Field(min_length=1)]
    tunnels: Annotated[Count, Field(le=MOST_TUNNELS)] = 4
    quanta: Annotated[Count, Field(le=MOST_QUANTA)] = 4
    headroom: Annotated[Share, Field(lt=1)] = 0.0

    @model_validator(mode="after")
    def _fits_together(self) -> "Request":
        self.check()
        return self

    def check(self) -> None:
        """Raise FieldError for what does not fit together."""
        _unique("sites", self.sites)
        _unique("demands", [demand.name for demand in self.demands])
        pairs = []
        for index, link in enumerate(self.links):
            where = f"links.{index}.between"
            self._check_sites({f"{where}.{end}": name for end, name in enumerate(link.between)})
            pairs.append(tuple(sorted(link.between)))
            if pairs[-1] in pairs[:-1]:
                raise FieldError(
                    f"links.{index}.between", f"{' and '.join(map(quoted, link.between))} have a"
                    " link already. Write one with the sum of their rates.",
                )  # fmt: skip
        for index, demand in enumerate(self.demands):
            where = f"demands.{index}"
            self._check_sites({f"{where}.from": demand.source, f"{where}.to": demand.target})
            _check_function(f"demands.{index}", demand)
            _check_paths(f"demands.{index}", demand, set(pairs))

    def _check_sites(self, ends: dict[str, str]) -> None:
        for key, name in ends.items():
            if name not in self.sites:
                raise FieldError(
                    key, f"no site is called {quoted(name)}. There are"
                    f" {', '.join(self.sites)}.{did_you_mean(name, self.sites)}",
                )  # fmt: skip
        if len(set(ends.values())) == 1:
            raise FieldError(key, f"both ends are {quoted(name)}. Name two sites.")


def _unique(key: str, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise FieldError(f"{key}.{index}", f"{quoted(name)} is there twice. Name it once.")


def _check_function(where: str, demand: Demand) -> None:
    if (demand.demand_bps is None) != bool(demand.function):
        raise FieldError(where, "write either demand, maybe with a weight, or function.")
    for index, (low, high) in enumerate(pairwise(demand.points())):
        if high[0] <= low[0] or high[1] < low[1]:
            raise FieldError(
                f"{where}.function.{index}",
                "share does not grow, or rate falls, from the point before. Sort the points.",
            )


def _check_paths(where: str, demand: Demand, links: set[tuple[str, ...]]) -> None:
    if len(demand.paths) > MOST_TUNNELS:
        raise FieldError(f"{where}.paths", f"{len(demand.paths)} paths; at most {MOST_TUNNELS}.")
    for index, path in enumerate(demand.paths):
        key, text = f"{where}.paths.{index}", " - ".join(path)
        if (path[0], path[-1]) != (demand.source, demand.target):
            raise FieldError(
                key, f"{text} does not lead from {demand.source} to {demand.target}. Write all"
                " sites that it passes, both ends among them.",
            )  # fmt: skip
        if len(set(path)) < len(path) or path in demand.paths[:index]:
            raise FieldError(key, f"{text}: a site, or the whole path, is there twice.")
        for pair in pairwise(path):
            if tuple(sorted(pair)) not in links:
                known = ", ".join(" - ".join(link) for link in sorted(links))
                raise FieldError(
                    key, f"{text}: no link joins {pair[0]} and {pair[1]}. There are {known}."
                )


def read_request(path: Path | str) -> Request:
    """Return what a YAML file asks for.

    Raises
    ------
    SpecError
        With file, line and key: it cannot be used as it stands.
    """
    file = read_scenario(path)
    values: dict[str, Any] = file.values
    try:
        return Request.model_validate(values)
    except ValidationError as error:
        raise file.error(*messages.first(error, Request)) from None
    except FieldError as error:
        where = tuple(int(p) if p.isdigit() else p for p in error.field.split("."))
        raise file.error(where, str(error)) from None
