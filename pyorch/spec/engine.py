# SPDX-License-Identifier: GPL-2.0-only
"""Which engine makes a run, and how: the section ``engine`` of a scenario."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from pyorch.spec.fields import Closed, restore
from pyorch.spec.limits import MOST_DOMAINS

Count = Annotated[int, Field(strict=True, ge=1, le=MOST_DOMAINS)]


class Engine(Closed):
    """The engine of a run; ``engine: packets`` is short for ``engine: {type: packets}``.

    A resolved spec has only what is not the default, so a run of all defaults has no such section
    and a new field changes no name of a run.
    """

    type: Literal["packets", "fluid"] = "packets"
    domains: Count = 1
    threads: Count = 1


def settled(engine: Engine) -> dict[str, dict]:
    """Return the section of a resolved spec: what is not the default, nothing if all is.

    Threads belong to the machine that makes a run, and are no part of it.
    """
    changed = engine.model_dump(exclude_defaults=True, exclude={"threads"})
    return {"engine": changed} if changed else {}


def threads_of(section: object) -> int:
    """Return the threads that a section ``engine``, which has been checked, gives a run."""
    return int(section.get("threads", 1)) if isinstance(section, Mapping) else 1


def of(spec: Mapping) -> Engine:
    """Return the engine of a resolved spec, with the defaults that it leaves out."""
    return restore(Engine, spec.get("engine", {}))
