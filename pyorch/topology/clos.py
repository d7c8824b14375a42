# SPDX-License-Identifier: GPL-2.0-only
"""Folded Clos of one tier or more, with numbers of its own for each tier.

Source: extended generalised fat tree, Oehring et al., IPPS 1995; node ids and tables are those of
`_clos`. Where all switches are alike, `fat_tree` says the same in fewer numbers.
"""

from math import prod
from typing import Annotated

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.spec.fields import FILLED, Closed, Count, DelayPs, FieldError, Hosts, RateBps
from pyorch.spec.limits import MOST_LINKS, MOST_NODES
from pyorch.spec.resolved import Link
from pyorch.topology import _clos

#: Tiers of switches at most.
MOST_TIERS = 8


class Params(Closed):
    """Numbers of each tier, the one next to the hosts first.

    `children` has an entry for every tier: hosts of a switch, then switches below a switch.
    `parents` and `parallel` have one for every tier but the top: switches above a switch, and
    links to each of them. The links above the first tier have the rate and delay of `link` unless
    they are given here.
    """

    children: Annotated[list[Hosts], Field(min_length=1, max_length=MOST_TIERS)]
    parents: list[Count] = []
    parallel: list[Count] = Field(json_schema_extra=FILLED)
    planes: Count = 1
    uplink_rate_bps: RateBps = Field(0, alias="uplink_rate", validate_default=False)
    uplink_delay_ps: DelayPs = Field(-1, alias="uplink_delay", validate_default=False)

    @model_validator(mode="before")
    @classmethod
    def _settle(cls, given: object, info: ValidationInfo) -> object:
        """Settle single links and what uplinks inherit, so that a spec leaves nothing open."""
        if not isinstance(given, dict):
            return given
        parents = given.get("parents", [])
        settled: dict[str, object] = {
            "parallel": [1] * len(parents) if isinstance(parents, list) else []
        }
        if info.context and (link := info.context.get("link")):
            settled["uplink_rate"] = f"{link.rate_bps} bit/s"
            settled["uplink_delay"] = f"{link.delay_ps} ps"
        return settled | given

    @model_validator(mode="after")
    def _is_a_clos(self) -> "Params":
        """Refuse lists that do not fit each other, and more than there may be."""
        tiers = len(self.children)
        for key in ("parents", "parallel"):
            if (given := len(getattr(self, key))) != tiers - 1:
                raise FieldError(
                    key, f"a list of {given}; {tiers} tiers need one entry for each tier but the"
                    f" top: {tiers - 1}.",
                )  # fmt: skip
        clos = shape(self)
        n_links = clos.hosts + sum(map(clos.links_above, range(1, tiers)))
        if clos.hosts > MOST_NODES or n_links * self.planes > MOST_LINKS:
            raise FieldError(
                "children", f"{prod(self.children)} hosts and {n_links * self.planes} links in all;"
                f" at most {MOST_NODES} and {MOST_LINKS}. Lower the numbers.",
            )  # fmt: skip
        return self


def shape(params: Params) -> _clos.Clos:
    """Return the folded Clos with these numbers."""
    return _clos.Clos(
        tuple(params.children), tuple(params.parents), tuple(params.parallel), params.planes
    )


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; columns as in docs/definitions.md."""
    above = len(params.children) - 1
    return _clos.tables(
        shape(params),
        [link.rate_bps, *[params.uplink_rate_bps] * above],
        [link.delay_ps, *[params.uplink_delay_ps] * above],
        link.loss_ratio,
    )


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    return _clos.counts(shape(params))
