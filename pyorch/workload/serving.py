# SPDX-License-Identifier: GPL-2.0-only
"""Requests to a model of a preset: prefill, keys and values on their way, and decoding in batches.

Batches are made while the run goes on, so how many requests are in one depends on the network.
`divide` makes all times and bytes smaller, and `layers` all that the others of the model add; the
times between requests become as much smaller, so that instances are as busy.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.draws import stream
from pyorch.serving import Costs, Pool, Routing, Scheduler, Service
from pyorch.serving import costs as amounts
from pyorch.serving.routing import zipf
from pyorch.spec.fields import FOUND, Closed, Count, FieldError, Number, RateBps, TimePs
from pyorch.spec.files import InputFile, columns
from pyorch.spec.limits import LONGEST_PS, LONGEST_TEXT, MOST_FLOWS
from pyorch.spec.network import Columns, Network
from pyorch.theory._quantities import PS_PER_S
from pyorch.training.graph import BARRIER
from pyorch.units import TIME, format_exact
from pyorch.workload import _preset
from pyorch.workload._hosts import hosts
from pyorch.workload._placement import check_placement, placed

MOST_TOKENS = 2**30
Tokens = Annotated[int, Field(strict=True, ge=1, le=MOST_TOKENS)]
Positive = Annotated[Number, Field(gt=0)]
_FILE = {"arrival_s": float, "prompt_tokens": int, "answer_tokens": int}
_SHARES, _LAYER = {"expert": int, "share": float}, {"layer": int}


class Sizes(Closed):
    """A log-normal distribution: its mean, and its standard deviation over that."""

    mean: Tokens
    spread: Annotated[Number, Field(ge=0, le=10)] = 0.0


class Requests(Closed):
    """Either a `file`, or `number` of them at random times with `rate_per_s` in the mean.

    The file is CSV or Parquet with ``arrival_s``, ``prompt_tokens`` and ``answer_tokens``.
    """

    file: InputFile | None = None
    number: Annotated[int, Field(strict=True, ge=1, le=10**6)] | None = None
    rate_per_s: Positive | None = None
    prompt_tokens: Tokens | Sizes | None = None
    answer_tokens: Tokens | Sizes | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> "Requests":
        drawn = ("number", "rate_per_s", "prompt_tokens", "answer_tokens")
        given = [name for name in drawn if getattr(self, name) is not None]
        if (self.file is None) == (len(given) < len(drawn)) or self.file and given:
            raise FieldError(
                "requests", f"write a file, or {', '.join(drawn[:-1])} and {drawn[-1]}."
            )
        return self


class Instances(Closed):
    """Copies of the model: how many, and the devices of each.

    `tensor` devices share a layer; `experts` such groups share the experts, and each has sequences
    of its own.
    """

    instances: Count = 1
    tensor: Count = 1
    experts: Count = 1

    @property
    def pool(self) -> Pool:
        """The same in words of `pyorch.serving`."""
        return Pool(self.instances, self.tensor, self.experts)


class Shares(Closed):
    """Which experts tokens go to: `zipf`, an exponent, 0 is balanced; or a `file` of shares.

    The file has ``expert`` and ``share``, and maybe ``layer``, from 0.
    """

    zipf: Annotated[Number, Field(ge=0, le=10)] | None = None
    file: InputFile | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> "Shares":
        if (self.zipf is None) == (self.file is None):
            raise FieldError("routing", "write zipf or file.")
        return self


class Params(Closed):
    """Who serves which model to whom.

    `prefill` and `decode` are devices of their own, or `together` the same ones. An instance
    decodes at most `sequences` requests; a batch of prefills has at most `batch_tokens`.
    `memory_rate` is that of a device. Devices are hosts in their order from `first_host` on, or at
    random: first those of prefill. `costs` are found when the preset is read; a scenario does not
    give them.
    """

    preset: Annotated[str, Field(max_length=LONGEST_TEXT)]
    requests: Requests
    prefill: Instances | None = None
    decode: Instances | None = None
    together: Instances | None = None
    sequences: Count = 64
    batch_tokens: Tokens = 8192
    routing: Shares = Shares(zipf=0.0)
    memory_bps: RateBps = Field(alias="memory_rate")
    layers: Count = 1
    divide: Count = 1
    placement: Literal["packed", "random"] = "packed"
    first_host: Annotated[int, Field(strict=True, ge=0)] = 0
    start_ps: TimePs = Field(0, alias="start")
    costs: dict[str, Number] = Field(json_schema_extra=FOUND)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any, info: ValidationInfo) -> Any:
        """Find what the preset says, unless this is a spec from disk."""
        context = info.context or {}
        if not isinstance(given, dict) or context.get("stored"):
            return given
        if "costs" in given:
            raise FieldError("costs", "follow from the preset. Leave it out; copy the preset.")
        name, memory = given.get("preset"), given.get("memory_rate")
        if not isinstance(name, str) or memory is None:
            return given | {"costs": {}}  # the fields say what is missing
        setup = _preset.read(name, context.get("folder", Path())).setup
        found = amounts.costs(setup, 1)._asdict()
        usable = setup.cluster.gpu_memory_bytes * setup.cluster.usable_memory_share
        return given | {"costs": found | {"usable_bytes": float(usable)}}

    @model_validator(mode="after")
    def _fits(self) -> "Params":
        """Refuse what contradicts itself."""
        if set(self.costs) != {*Costs._fields, "usable_bytes"}:
            raise FieldError("costs", f"are {', '.join(Costs._fields)}, usable_bytes.")
        apart = self.prefill is not None and self.decode is not None and not self.together
        if not apart and (self.together is None or self.prefill or self.decode):
            raise FieldError("prefill", "write prefill and decode, or together alone.")
        for key in ("prefill", "decode", "together"):
            if (instances := getattr(self, key)) is not None:
                self._check_instances(key, instances)
        if apart:
            here, there = self.prefill.tensor, self.decode.tensor
            if max(here, there) % min(here, there):
                raise FieldError(
                    "decode.tensor", f"{there}: the parts of keys and values of {here} devices are"
                    " not whole parts of these. Write a multiple or a divisor.",
                )  # fmt: skip
        if self.layers > self._costs.layers:
            raise FieldError("layers", f"{self.layers}; the model has {self._costs.layers}.")
        check_placement(self.placement, 0, self.first_host)
        _check_requests(self.requests)
        _shares(self)
        return self

    def _check_instances(self, key: str, instances: Instances) -> None:
        """Raise FieldError if experts or keys and values cannot be cut so."""
        model, pool = self._costs, instances.pool
        if pool.groups > 1 and model.experts == 1:
            raise FieldError(f"{key}.experts", f"{self.preset} has none. Leave it out.")
        if model.experts % pool.groups:
            raise FieldError(
                f"{key}.experts", f"{model.experts} experts are not {pool.groups} equal parts."
                " Write a divisor.",
            )  # fmt: skip
        if model.kv_shards > 1 and model.kv_shards % pool.tensor:
            raise FieldError(
                f"{key}.tensor", f"{model.kv_shards} heads of keys and values are not"
                f" {pool.tensor} equal parts. Write a divisor.",
            )  # fmt: skip

    @property
    def _costs(self) -> Costs:
        """What a layer costs."""
        named: dict[str, Any] = {name: self.costs[name] for name in Costs._fields}
        whole = ("kv_shards", "experts", "active_experts", "layers")
        named |= {name: int(named[name]) for name in whole}
        return Costs(**named | {"memory_bps": float(self.memory_bps)})


def _check_requests(given: Requests) -> None:
    """Raise FieldError if a row of the file is no request."""
    if given.file is None:
        return
    where, table = given.file["path"], columns(given.file, "requests.file", _FILE, {})
    if not len(table["arrival_s"]):
        raise FieldError("requests.file", f"{where}: there is no request in it.")
    wrong = {
        "arrival_s is not 0 to 10^6": ~_may_arrive(table["arrival_s"]),
        "prompt_tokens is not 1 to 2^30": ~_may_be(table["prompt_tokens"]),
        "answer_tokens is not 1 to 2^30": ~_may_be(table["answer_tokens"]),
    }
    for what, rows in wrong.items():
        if rows.any():
            raise FieldError("requests.file", f"{where}: row {int(rows.argmax()) + 1}: {what}.")


def _may_arrive(times_s: np.ndarray) -> np.ndarray:
    return (times_s >= 0) & (times_s <= LONGEST_PS / PS_PER_S)


def _may_be(tokens: np.ndarray) -> np.ndarray:
    return (tokens >= 1) & (tokens <= MOST_TOKENS)


def _listed(given: Requests, seed: int) -> dict[str, np.ndarray]:
    """Return the requests in the order of their arrival, with times as they are given [s]."""
    if given.file:
        found = columns(given.file, "requests.file", _FILE, {})
    else:
        random = stream(seed, "requests")
        gaps_s = random.exponential(1 / given.rate_per_s, given.number)
        found = {"arrival_s": np.cumsum(gaps_s)}
        for name in ("prompt_tokens", "answer_tokens"):
            found[name] = _drawn(getattr(given, name), given.number, random)
    order = np.argsort(found["arrival_s"], kind="stable")
    return {name: column[order] for name, column in found.items()}


def _drawn(sizes: int | Sizes, number: int, random: np.random.Generator) -> np.ndarray:
    if isinstance(sizes, int):
        return np.full(number, sizes)
    deviation = np.sqrt(np.log1p(sizes.spread**2))
    drawn = random.lognormal(np.log(sizes.mean) - deviation**2 / 2, deviation, number)
    return np.maximum(1, np.rint(drawn)).astype(np.int64)


def _shares(params: Params) -> np.ndarray:
    """Return the shares of the experts, one row for each layer that has its own."""
    experts, given = params._costs.experts, params.routing
    if given.file is None:
        return zipf(experts, given.zipf)[None]
    where = given.file["path"]
    table = columns(given.file, "routing.file", _SHARES, _LAYER)
    layer = table.get("layer", np.zeros_like(table["expert"]))
    rows, count = np.unique(layer, return_counts=True)
    cells = np.unique(np.stack([layer, table["expert"]]), axis=1).shape[1]
    if (
        len(rows) == 0 or (rows != np.arange(len(rows))).any() or (count != experts).any()
        or cells != len(layer) or not ((table["expert"] >= 0) & (table["expert"] < experts)).all()
    ):  # fmt: skip
        raise FieldError(
            "routing.file", f"{where}: each layer, from 0, has each of the {experts} experts of"
            f" {params.preset} once, from 0.",
        )  # fmt: skip
    shares = np.zeros((len(rows), experts))
    shares[layer, table["expert"]] = table["share"]
    if (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1, atol=1e-6):
        raise FieldError("routing.file", f"{where}: shares of a layer sum up to 1, none below 0.")
    wide = (shares > 0).sum(axis=1).min()
    if wide < params._costs.active_experts:
        raise FieldError(
            "routing.file", f"{where}: a layer uses {wide} experts; a token visits"
            f" {params._costs.active_experts} different ones.",
        )  # fmt: skip
    return shares / shares.sum(axis=1, keepdims=True)


def service(params: Params) -> Service:
    """Return who serves which model."""
    apart = params.together is None
    pools = [x.pool for x in (params.prefill, params.decode, params.together) if x is not None]
    routing = Routing(_shares(params), params._costs.active_experts)
    return Service(params._costs, routing, pools[0], pools[-1], apart, params.layers, params.divide)


def scheduler(params: Params, prompt_tokens: np.ndarray, answer_tokens: np.ndarray) -> Scheduler:
    """Return who makes batches of requests."""
    who = service(params)
    decode = (who.decode.instances, who.decode.groups) if who.apart else None
    return Scheduler(
        prompt_tokens.tolist(), answer_tokens.tolist(),
        (who.prefill.instances, who.prefill.groups), decode, params.sequences, params.batch_tokens,
    )  # fmt: skip


def served(params: Params, nodes: Columns, links: Columns, seed: int) -> dict[str, Columns]:
    """Return the tables of who asks and who answers.

    Returns
    -------
    dict
        ``requests``: arrival_ps, prompt_tokens, answer_tokens; ``servers``: host of each device.
    """
    found = _listed(params.requests, seed)
    smaller = params.divide * params._costs.layers / params.layers
    arrival_ps = np.rint(found.pop("arrival_s") * PS_PER_S / smaller).astype(np.int64)
    shape = (1, service(params).devices)
    (index,) = placed(shape, params.placement, 0, params.first_host, nodes, links, seed, "serving")
    return {
        "requests": {"arrival_ps": params.start_ps + arrival_ps, **found},
        "servers": {"host": hosts(nodes)[index]},
    }


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if devices do not fit network or memory, or requests come after the stop."""
    who, available = service(params), network.counts["hosts"]
    if params.first_host + who.devices > available:
        behind = f" from host {params.first_host} on" if params.first_host else ""
        raise FieldError(
            "prefill" if who.apart else "together",
            f"instances of {who.devices} devices{behind}; the topology has {available} hosts.",
        )
    found = served(params, network.nodes, network.links, 0)["requests"]
    first_ps = int(found["arrival_ps"].min())
    if first_ps > min(stop_ps, LONGEST_PS):
        raise FieldError(
            "requests", "the first one comes when the run has stopped, at"
            f" {format_exact(stop_ps, TIME)}. Raise stop.",
        )  # fmt: skip
    _check_memory(params, who, found)
    least = int(found["answer_tokens"].sum()) // (params.sequences * who.decode.instances)
    if (messages := least * params.layers * who.decode.devices_each) > MOST_FLOWS:
        raise FieldError("requests", f"{messages:,} messages at least; at most {MOST_FLOWS:,}.")


def _check_memory(params: Params, who: Service, requests: Columns) -> None:
    """Raise FieldError if weights, with as many requests as an instance may have, do not fit."""
    longest = int((requests["prompt_tokens"] + requests["answer_tokens"]).max())
    prompt = int(requests["prompt_tokens"].max())
    decoded = -(-params.sequences // who.decode.groups) * longest
    pools = [("decode" if who.apart else "together", who.decode, decoded)]
    if who.apart:
        batch = max(prompt, params.batch_tokens // who.prefill.groups)
        pools.append(("prefill", who.prefill, batch))
    for key, pool, held in pools:
        held_bytes = who.costs.device_bytes(pool, held)
        if held_bytes > params.costs["usable_bytes"]:
            weights = who.costs.device_bytes(pool, 0)
            raise FieldError(
                f"{key}.tensor", f"a device would hold {held_bytes / 1e9:.1f} GB,"
                f" {weights / 1e9:.1f} of weights and the rest keys and values of {held:,} tokens;"
                f" it has {params.costs['usable_bytes'] / 1e9:.1f}. Raise tensor or experts, or"
                " lower sequences.",
            )  # fmt: skip


def flows(params: Params, nodes: Columns, links: Columns, seed: int) -> Columns:
    """Return no messages: they are made while the run goes on."""
    return {name: np.zeros(0, dtype=np.int64) for name in ("src", "dst", "bytes", "start_ps")}


def tasks(params: Params, nodes: Columns, links: Columns, seed: int) -> Columns:
    """Return a barrier for each request, at which it arrives and somebody decides."""
    tables = served(params, nodes, links, seed)
    arrival_ps = tables["requests"]["arrival_ps"]
    zeros = np.zeros_like(arrival_ps)
    return {
        "kind": zeros + BARRIER, "node": zeros + tables["servers"]["host"][0], "stream": zeros,
        "duration_ps": zeros, "start_ps": arrival_ps, "decides": zeros + 1,
    }  # fmt: skip
