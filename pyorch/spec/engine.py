# SPDX-License-Identifier: GPL-2.0-only
"""Which engine makes a run, and how: the section ``engine`` of a scenario."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pyorch import units
from pyorch.errors import SpecError, quoted
from pyorch.spec.fields import Closed, text_of
from pyorch.spec.limits import MOST_THREADS

Count = Annotated[int, Field(strict=True, ge=1, le=MOST_THREADS)]
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


Tolerance = Annotated[
    int, BeforeValidator(_tolerance_ppm, json_schema_input_type=text_of(units.SHARE))
]


class Engine(Closed):
    """The engine of a run; ``engine: packets`` is short for ``engine: {type: packets}``.

    `skip` is the tolerance of completion times within which steady states are skipped.
    """

    type: Literal["packets", "fluid"] = "packets"
    threads: Count = 1
    skip_ppm: Tolerance | None = Field(None, alias="skip")


def threads_of(section: object) -> int:
    """Return the threads that a section ``engine``, which has been checked, gives a run."""
    return int(section.get("threads", 1)) if isinstance(section, Mapping) else 1
