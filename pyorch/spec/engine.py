# SPDX-License-Identifier: GPL-2.0-only
"""Which engine makes a run, and how: the section ``engine`` of a scenario."""

from collections.abc import Mapping
from typing import Literal

from pyorch.spec.fields import Closed, restore


class Engine(Closed):
    """The engine of a run; ``engine: packets`` is short for ``engine: {type: packets}``.

    A resolved spec has only what is not the default, so a run of all defaults has no such section
    and a new field changes no name of a run.
    """

    type: Literal["packets", "fluid"] = "packets"


def settled(engine: Engine) -> dict[str, dict]:
    """Return the section of a resolved spec: what is not the default, nothing if all is."""
    changed = engine.model_dump(exclude_defaults=True)
    return {"engine": changed} if changed else {}


def of(spec: Mapping) -> Engine:
    """Return the engine of a resolved spec, with the defaults that it leaves out."""
    return restore(Engine, spec.get("engine", {}))
