# SPDX-License-Identifier: GPL-2.0-only
"""Which engine makes a run, and how: the section ``engine`` of a scenario."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pyorch import units
from pyorch.errors import SpecError, quoted
from pyorch.spec.fields import Closed, restore
from pyorch.spec.limits import MOST_DOMAINS

Count = Annotated[int, Field(strict=True, ge=1, le=MOST_DOMAINS)]
LARGEST_TOLERANCE_PPM = 100_000


def _tolerance_ppm(value: object) -> int:
    try:
        ppm = units.parse(value, units.SHARE)
    except SpecError as error:
        raise ValueError(str(error)) from None
    if not 0 < ppm <= LARGEST_TOLERANCE_PPM:
        raise ValueError(
            f"{quoted(value)} is no tolerance of completion times. Write one above 0% and at most"
            " 10%, for example 1%, or leave it out: then nothing is skipped."
        )
    return ppm


class Engine(Closed):
    """The engine of a run; ``engine: packets`` is short for ``engine: {type: packets}``.

    A resolved spec has only what is not the default, so a run of all defaults has no such section
    and a new field changes no name of a run. `skip` is the tolerance of completion times within
    which steady states are skipped.
    """

    type: Literal["packets", "fluid"] = "packets"
    domains: Count = 1
    threads: Count = 1
    skip_ppm: Annotated[int, BeforeValidator(_tolerance_ppm)] | None = Field(None, alias="skip")


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
