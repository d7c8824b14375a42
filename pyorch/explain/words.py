# SPDX-License-Identifier: GPL-2.0-only
"""Says an explanation in words and as a figure."""

from pathlib import Path
from typing import Any

import pandas as pd

from pyorch.explain.rerun import Explanation
from pyorch.units import format_si


def time(ps: Any) -> str:
    """Return a time with its unit; what did not end has none."""
    return "did not end" if pd.isna(ps) else format_si(int(ps) * 1e-12, "s")


def change(ps: Any, base_ps: int) -> str:
    """Return by how much a time differs from another: ``-12.3 %``."""
    return "" if pd.isna(ps) else f"{100 * (int(ps) / base_ps - 1):+.1f} %"


def rows(found: Explanation) -> list[tuple[str, str, str, str]]:
    """Return a row for each cause: its name, alone, together with those above, slowest message.

    Several draws of a cause are one row, with the least, the first and the largest time.
    """
    base = int(found.table["alone_ps"].iloc[0])
    said = []
    for cause, own in found.table.groupby("cause", sort=False):
        first = own.iloc[0]
        alone = f"{time(first['alone_ps'])} ({change(first['alone_ps'], base)})"
        if len(own) > 1:
            alone += f", draws {time(own['alone_ps'].min())} to {time(own['alone_ps'].max())}"
        together = f"{time(first['together_ps'])} ({change(first['together_ps'], base)})"
        said.append((cause, alone, together, time(first["slowest_alone_ps"])))
    base_row = said[0]
    said[0] = (base_row[0], time(base), time(base), base_row[3])
    return said


def sentence(found: Explanation) -> str:
    """Return what the causes have cost alone and together."""
    base = int(found.table["alone_ps"].iloc[0])
    first = found.table[found.table["draw"] == 0]
    if len(first) == 1:
        return "None of the causes that can be removed was there."
    best = first.iloc[1:].sort_values("alone_ps").iloc[0]
    last = first["together_ps"].iloc[-1]
    gains = not pd.isna(best["alone_ps"]) and best["alone_ps"] < base
    text = _timeouts(found) + (
        f"Of the changes alone, '{best['cause']}' gains the most"
        f" ({change(best['alone_ps'], base)})."
        if gains
        else "None of the changes alone makes it faster."
    )
    text += f" With all of them the message takes {time(last)}."
    if not first["alone_ps"].isna().any() and not pd.isna(last) and len(first) > 2:
        more = found.interaction_ps
        side = "more" if more > 0 else "less"
        text += (
            f" Together they gain {time(abs(more))} {side} than the sum of their gains alone."
            if more
            else " Their gains add up."
        )
    return text


def _timeouts(found: Explanation) -> str:
    """Return for how many retransmission timeouts a message has waited, in words."""
    flows = found.run.flows.set_index("flow")
    waited = flows["timeouts"].get(found.flow)
    if pd.isna(waited) or not waited:
        return ""
    waited = int(waited)
    return f"The message waited for {waited} retransmission timeout{'s' * (waited > 1)}. "


def draw(found: Explanation, path: Path | str) -> list[Path]:
    """Write a figure: a bar for each cause alone, and one for it together with those above."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    from pyorch import figures
    from pyorch.figures.layout import WIDTHS
    from pyorch.figures.save import RC_PARAMS

    path = Path(path)
    first = found.table[found.table["draw"] == 0]
    with matplotlib.rc_context(RC_PARAMS):
        figure = Figure(figsize=(WIDTHS["page"], 0.7 + 0.34 * len(first)), layout="constrained")
        ax = figure.subplots()
        at = range(len(first))
        for shift, column, label, color in (
            (-0.2, "alone_ps", "removed alone", "#0072B2"),
            (0.2, "together_ps", "with those above", "#E69F00"),
        ):
            us = first[column].astype("Float64").fillna(0) / 1e6
            ax.barh([place + shift for place in at], us.to_list(), 0.36, color=color, label=label)
        draws = found.table[found.table["draw"] > 0]
        places = {cause: place for place, cause in enumerate(first["cause"])}
        ax.plot(
            (draws["alone_ps"].astype("Float64") / 1e6).to_list(),
            [places[cause] - 0.2 for cause in draws["cause"]], "k|", label="other draws",
        )  # fmt: skip
        ax.set_yticks(list(at), first["cause"].to_list())
        ax.set_ylim(len(first) - 0.5, -0.5)
        ax.set(xlabel=f"completion of message {found.flow} [us]", xlim=(0, None))
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
        caption = f"Message {found.flow} of {found.run.scenario}, {found.run.id}. {found.path}\n\n"
        text = caption + sentence(found) + "\n"
        return figures.save(figure, path.stem, found.table, path.parent, text)
