# SPDX-License-Identifier: GPL-2.0-only
"""The command of ``pyorch theory`` about days of training: what failures cost."""

import itertools
import math
from collections.abc import Sequence
from typing import Annotated

import typer

from pyorch import units
from pyorch.cli.theory.print import Format, FormatOption, emit
from pyorch.errors import SpecError, TheoryError

_DAY_S = 86_400.0
_S = 1e12
_MOST_UNITS, _MOST_SPARES, _MOST_DAYS = 10**8, 10**5, 1e7
#: A random course draws each failure.
_MOST_FAILURES = 10**6


def goodput(
    devices: Annotated[
        int, typer.Option(min=1, max=_MOST_UNITS, help="Units that the job needs: GPUs, hosts.")
    ] = 16_384,
    mtbf_days: Annotated[
        float, typer.Option(help="Mean time between failures of one unit, in days.")
    ] = 2000.0,
    checkpoint: Annotated[
        str, typer.Option(help="Time for which a checkpoint holds up the job.")
    ] = "30 s",
    restart: Annotated[
        str, typer.Option(help="From a failure until the job trains again.")
    ] = "300 s",
    interval: Annotated[
        list[str] | None,
        typer.Option(help="Training between checkpoints; repeat it. Default: the best one."),
    ] = None,
    spares: Annotated[
        list[int] | None, typer.Option(min=0, max=_MOST_SPARES, help="Spare units; repeat it.")
    ] = None,
    repair_days: Annotated[
        float, typer.Option(help="From a failure until the unit is a spare, in days.")
    ] = 1.0,
    simulate_days: Annotated[
        float, typer.Option(help="Draw a random course of so many days beside the closed form.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=1, help="Of the random course.")] = 1,
    form: FormatOption = Format.table,
) -> None:
    """What of the time of a long training failures, checkpoints and repairs leave."""
    import numpy as np

    from pyorch.theory import goodput as model

    for name, value, least in (("mtbf", mtbf_days, 1e-6), ("repair", repair_days, 0.0)):
        if not least <= value <= _MOST_DAYS:
            raise TheoryError(f"--{name}-days {value:g}: write {least:g} to {_MOST_DAYS:g}.")
    failures = simulate_days * devices / mtbf_days
    if not (0 <= simulate_days < math.inf and failures <= _MOST_FAILURES):
        raise TheoryError(
            f"--simulate-days {simulate_days:g}: 0 or more, with at most {_MOST_FAILURES:,}"
            " failures in all. Write fewer days."
        )
    rows = []
    intervals: Sequence[str | None] = interval or (None,)
    for given, number in itertools.product(intervals, spares or [16]):
        job = model.Operation(
            devices, mtbf_days * _DAY_S, _seconds("checkpoint", checkpoint),
            _seconds("restart", restart), number, repair_days * _DAY_S,
        )  # fmt: skip
        interval_s = model.best_interval_s(job) if given is None else _seconds("interval", given)
        if given is None and not interval_s:
            raise TheoryError("--checkpoint 0: checkpoints may be endless. Write --interval.")
        made = {"closed form": model.goodput(job, interval_s)}
        if simulate_days:
            rng = np.random.default_rng(seed)
            made["simulated"] = model.simulated(job, interval_s, simulate_days, rng)
        for by, its in made.items():
            shares = {f"{name}_percent": 100 * share for name, share in vars(its).items()}
            rows.append(
                {"by": by, "interval_s": interval_s, "spares": number,
                 "interruptions_per_day": (1 - its.waiting) * _DAY_S / job.mtbf_s} | shares
            )  # fmt: skip
    emit(rows, form)


def _seconds(option: str, text: str) -> float:
    """Return the time of an option [s]."""
    try:
        return units.parse_time_ps(text) / _S
    except SpecError as error:
        raise TheoryError(f"--{option}: {error}") from None
