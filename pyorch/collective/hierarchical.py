# SPDX-License-Identifier: GPL-2.0-only
"""An all-reduce in five stages: in the rack, between racks, between sites, and back; rings each.

Ranks that follow each other share a rack: `local` of them. Those with the same place in their racks
are peers. Stage 1 reduces in the rack, 2 among peers, 3 exchanges with the same rank of the other
site, 4 gathers among peers, 5 in the rack. With one site there is no stage 3.

Source: [hotnets24] section 4.1, five stages of data parallelism. There stages 1 and 2 are printed
as all-reduces, which 4 and 5 then repeat in part; without `printed` they are reduce-scatters.
"""

from functools import reduce
from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.collective import ring
from pyorch.collective._graph import Call, Counts, Graph, among, messages, part_bytes, then
from pyorch.spec.fields import Closed, FieldError, Flag

OPERATIONS = ("all_reduce",)


class Params(Closed):
    """Ranks of a rack, sites (1 or 2), and whether stages 1 and 2 are all-reduces as printed."""

    local: Annotated[int, Field(strict=True, ge=2)]
    sites: Annotated[int, Field(strict=True, ge=1, le=2)] = 1
    printed: Flag = False


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless racks are alike, at least two at each site, and the data divide."""
    racks = params.local * params.sites
    if call.ranks % racks or call.ranks < 2 * racks:
        raise FieldError(
            "ranks", f"{call.ranks} ranks are not {params.sites} x {params.local} x peers. Write a"
            f" multiple of {racks} from {2 * racks}.",
        )  # fmt: skip
    part_bytes(call, call.ranks // params.sites)


def graph(call: Call, params: Params) -> Graph:
    """Return the stages one after the other, rank by rank."""
    ranks = np.arange(call.ranks).reshape(params.sites, -1, params.local)
    racks = ranks.reshape(-1, params.local)
    rails = ranks.transpose(0, 2, 1).reshape(-1, ranks.shape[1])
    stages = []
    for stage, within_rack in _stages(call, params):
        members = racks if within_rack else rails
        stages.append(among(ring.graph(stage, ring.Params()), members))
    if params.sites == 2:
        here, there = ranks.reshape(2, -1)
        size = part_bytes(call, len(here))
        ends = np.concatenate([here, there]), np.concatenate([there, here])
        both = messages(*ends, size, 0, reduced=True)
        stages.insert(2, both)
    return reduce(then, stages)


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: the sum of the stages, in which all ranks send alike."""
    chain, reductions = [], []
    for stage, _ in _stages(call, params):
        its = ring.counts(stage, ring.Params())
        chain += its.chain
        reductions += its.reductions
    if params.sites == 2:
        across = (1, part_bytes(call, call.ranks // 2))
        chain.insert(2, across)
        reductions.append(across)
    each = sum(n * size for n, size in chain)
    sent = sum(n for n, _ in chain) * call.ranks
    return Counts(sent, each * call.ranks, each, tuple(chain), 0, tuple(reductions))


def _stages(call: Call, params: Params) -> list[tuple[Call, bool]]:
    """Return stages 1, 2, 4 and 5 as operations of one ring, and whether it is in a rack."""
    peers = call.ranks // params.local // params.sites
    size = part_bytes(call, params.local)
    down = "all_reduce" if params.printed else "reduce_scatter"
    return [
        (Call(down, params.local, call.data_bytes), True),
        (Call(down, peers, size), False),
        (Call("all_gather", peers, size), False),
        (Call("all_gather", params.local, call.data_bytes), True),
    ]
