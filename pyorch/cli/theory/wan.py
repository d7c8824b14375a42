# SPDX-License-Identifier: GPL-2.0-only
"""Command of ``pyorch theory`` about traffic between sites: who gets how much, on which paths."""

from pathlib import Path
from typing import Annotated

import typer

from pyorch.cli.theory.print import GBPS, Format, FormatOption, emit


def wan_te(
    file: Annotated[Path, typer.Argument(help="Sites, links and demands, as in docs/wan.md.")],
    form: FormatOption = Format.table,
) -> None:
    """Rates and paths of demands between sites: max-min fair, split over tunnels, by priority."""
    from pyorch import wan

    made = wan.plan(wan.read_request(file))
    emit(
        [
            {
                "demand": grant.demand.name,
                "priority": grant.demand.priority,
                "asked_gbps": grant.demand.points()[-1][1] / GBPS,
                "granted_gbps": grant.rate_bps / GBPS,
                "split": tunnel.split,
                "tunnel": " ".join(tunnel.sites),
                "tunnel_gbps": grant.rate_bps * tunnel.split / GBPS,
            }
            for grant in made.grants
            for tunnel in grant.tunnels
        ],
        form,
    )
