# SPDX-License-Identifier: GPL-2.0-only
"""Commands of ``pyorch theory`` about traffic between sites: rates, paths, what codes give back."""

from pathlib import Path
from typing import Annotated

import typer

from pyorch.cli.theory.print import GBPS, Format, FormatOption, emit
from pyorch.errors import TheoryError

#: Packets of a block.
_MOST_PACKETS = 1024
#: A rounded plan that grants less than this part of a finer one is worth a word [1].
_NEARLY = 0.98


def wan_te(
    file: Annotated[Path, typer.Argument(help="Sites, links and demands, as in docs/wan.md.")],
    partly: Annotated[
        bool, typer.Option("--partly", help="Grant a part of what a demand's tunnels cannot carry.")
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Rates and paths of demands between sites: max-min fair, split over tunnels, by priority."""
    from pyorch import wan
    from pyorch.wan.request import MOST_QUANTA

    request = wan.read_request(file)
    made = wan.plan(request, possible=not partly)
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
    fine = wan.plan(request.model_copy(update={"quanta": MOST_QUANTA}), possible=not partly)
    granted, finer = (sum(grant.rate_bps for grant in one.grants) for one in (made, fine))
    if granted < _NEARLY * finer:
        typer.echo(
            f"Splits in parts of 1/{request.quanta} grant {granted / GBPS:.6g} Gb/s, finer ones"
            f" {finer / GBPS:.6g} Gb/s. Raise quanta, to at most {MOST_QUANTA}.",
            err=True,
        )


def fec(
    data: Annotated[
        int, typer.Option(min=1, max=_MOST_PACKETS, help="Data packets per block.")
    ] = 64,
    parity: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            max=_MOST_PACKETS,
            help="Parity packets per block; may be repeated (default: 0 1 2 4).",
        ),
    ] = None,
    loss: Annotated[
        list[float] | None,
        typer.Option(help="Packet loss ratio; may be repeated (default: 1e-4 1e-3 1e-2)."),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """What a block code costs, and what it cannot give back of packets lost independently."""
    from pyorch.theory import fec as codes

    rows = []
    for ratio in loss or [1e-4, 1e-3, 1e-2]:
        if not 0 <= ratio < 1:
            raise TheoryError(f"--loss {ratio:g}: a loss ratio is at least 0 and below 1.")
        for m in parity or [0, 1, 2, 4]:
            rows.append(
                {
                    "loss_share": ratio,
                    "data_packets": data,
                    "parity_packets": m,
                    "parity_share": m / data,
                    "failed_block_share": float(codes.block_loss(data, m, ratio)),
                    "resent_share": float(codes.resent_share(data, m, ratio)),
                }
            )
    emit(rows, form)
