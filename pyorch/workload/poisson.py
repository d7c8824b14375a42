# SPDX-License-Identifier: GPL-2.0-only
"""Messages that arrive at random: Poisson in time, random pairs, sizes from a distribution.

Every host sends to every other with the same probability. The mean rate of payload that a host
sends is `load` times the rate of its links; with `counts: wire` that of all it sends for messages.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.draws import stream
from pyorch.spec.fields import Closed, FieldError, Number, TimePs, one_of, written_as
from pyorch.spec.files import InputFile, numbered_lines
from pyorch.spec.limits import MOST_FLOWS
from pyorch.spec.network import Network
from pyorch.units import TIME, format_exact
from pyorch.workload import _size_cdf
from pyorch.workload._hosts import access_rate_bps, hosts
from pyorch.workload._on_wire import Wire, wire_of

#: The mean of a function of sizes is taken over so many of them, evenly spread over messages.
_SIZES = 2**18


class Params(Closed):
    """`sizes` names a distribution that comes with pyorch, `sizes_file` one of the user's.

    Such a file has a line for each point: size in bytes, and percentage of messages not larger.
    `counts` says of what `load` is a share: of payload alone, or of all that a host sends for
    messages on its wires, frames of data with headers and framing and the acknowledgements of what
    it receives, but neither grants, credits and pulls nor anything sent twice.
    """

    load: Annotated[Number, Field(gt=0, le=1)]
    counts: Literal["payload", "wire"] = "payload"
    duration_ps: Annotated[TimePs, Field(ge=1)] = Field(alias="duration")
    sizes: Annotated[str | None, written_as(one_of(_size_cdf.known()))] = None
    sizes_file: InputFile | None = None
    points: list[list[float]] = Field(json_schema_extra={"derived": True})
    wire: Wire | None = Field(None, json_schema_extra={"derived": True})
    start_ps: TimePs = Field(0, alias="start")

    @model_validator(mode="before")
    @classmethod
    def _one_distribution(cls, given: object, info: ValidationInfo) -> object:
        """Put the points themselves into the spec, so that they are part of the run's name."""
        if not isinstance(given, dict):
            return given
        if "points" in given:
            raise FieldError("points", "the points come from sizes or sizes_file. Leave it out.")
        if "wire" in given:
            raise FieldError("wire", "it comes from the transport. Leave it out.")
        if ("sizes" in given) == ("sizes_file" in given):
            raise FieldError(
                "sizes", f"write either sizes ({', '.join(_size_cdf.known())}) or sizes_file."
            )
        if given.get("counts") == "wire" and "transport" in (info.context or {}):
            given = {**given, "wire": wire_of(info.context)}
        return {**given, "points": []}

    @model_validator(mode="after")
    def _read_points(self) -> "Params":
        if self.sizes_file:
            rows = [words for _, words in numbered_lines(self.sizes_file, "sizes_file")]
            found = _size_cdf.points(rows, self.sizes_file["path"], "sizes_file")
        else:
            found = _size_cdf.points(_size_cdf.shipped(self.sizes), self.sizes, "sizes")
        self.points.extend(found)
        return self


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the messages do not fit the network, or begin when the run has ended."""
    _check_counts(params, network.counts)
    _check_times(params, network.nodes, stop_ps)
    if (expected := _expected(params, network.nodes, network.links)) > MOST_FLOWS:
        raise FieldError("duration", f"{expected:.3g} messages; at most {MOST_FLOWS}. Shorten it.")


def _check_counts(params: Params, counts: dict[str, int]) -> None:
    """Raise FieldError if there is nobody to send to."""
    if counts["hosts"] < 2:
        raise FieldError("type", "random pairs need at least 2 hosts; the topology has 1.")


def _check_times(params: Params, nodes: dict[str, np.ndarray], stop_ps: int) -> None:
    """Raise FieldError if messages may begin after the run has ended."""
    if params.start_ps + params.duration_ps > stop_ps:
        last, stop = (
            format_exact(t, TIME) for t in (params.start_ps + params.duration_ps, stop_ps)
        )
        raise FieldError(
            "duration",
            f"messages begin until {last}, but the run stops at {stop}. Shorten duration, or raise"
            " stop.",
        )


def _expected(params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]) -> float:
    """Return the mean number of messages."""
    offered_bps = params.load * access_rate_bps(nodes, links).sum()
    mean_bits = 8 * _mean_bytes(params)
    return offered_bps * params.duration_ps / 1e12 / mean_bits


def _mean_bytes(params: Params) -> float:
    """Return what the mean message is of the load [byte]."""
    if params.wire is None:
        return _size_cdf.mean_bytes(params.points)
    sizes = _size_cdf.draw(params.points, (np.arange(_SIZES) + 0.5) / _SIZES)
    return float(params.wire.sent_bytes(sizes).mean())


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the messages in the order of their start."""
    ids, random = hosts(nodes), stream(seed, "poisson")
    n = int(random.poisson(_expected(params, nodes, links)))
    start = np.sort(random.integers(0, params.duration_ps, size=n))
    share = access_rate_bps(nodes, links) / access_rate_bps(nodes, links).sum()
    src = random.choice(len(ids), size=n, p=share)
    dst = (src + 1 + random.integers(0, len(ids) - 1, size=n)) % len(ids)
    return {
        "src": ids[src],
        "dst": ids[dst],
        "bytes": _size_cdf.draw(params.points, random.random(n)),
        "start_ps": params.start_ps + start,
    }
