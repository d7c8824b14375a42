# SPDX-License-Identifier: GPL-2.0-only
"""Shows runs in a notebook: small HTML that loads nothing."""

import base64
import io
from functools import lru_cache
from typing import TYPE_CHECKING

import jinja2

from pyorch.errors import PyorchError
from pyorch.runs.summary import in_words
from pyorch.spec import parameters

if TYPE_CHECKING:
    from pyorch.runs.run import RunResult, Runs

#: Of many runs the first ones are shown.
MOST_ROWS = 30
#: The parameters that say what was run; the others are in ``.parameters``.
_MAIN = ("topology.", "link.rate", "link.delay", "workload.", "transport.", "switch.buffer")


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("pyorch.runs"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def run_html(run: "RunResult") -> str:
    """Return a run as a table of what was run, one of what came out, and its FCT curve."""
    page = _environment().get_template("run.html.jinja")
    rows, tables = in_words(run.summary), ", ".join(run.tables)
    return page.render(
        run=run, given=main_parameters(run), rows=rows, tables=tables, curve=_curve(run)
    )


def runs_html(runs: "Runs") -> str:
    """Return runs as one table; of many the first."""
    table = runs.table
    page = _environment().get_template("runs.html.jinja")
    return page.render(
        n_runs=len(table), n_shown=min(len(table), MOST_ROWS), columns=list(table.columns),
        rows=table.head(MOST_ROWS).astype(object).to_numpy().tolist(),
    )  # fmt: skip


def main_parameters(run: "RunResult") -> dict[str, str]:
    """Return the parameters of a run that a reader asks for first, in words."""
    found = {"seed": str(run.seed)}
    for key, value in run.parameters.items():
        attribute = ".attributes." in key or key.endswith((".transport", ".name"))
        if key.startswith(_MAIN) and not attribute and value is not None:
            found[parameters.short(key)] = parameters.shown(key, value)
    return found


def _curve(run: "RunResult") -> str:
    """Return the curve of the completion times as a PNG in base64; nothing if there is none."""
    from pyorch.views import draw

    try:
        figure = draw("fct", [run])
    except PyorchError:
        return ""
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=110, metadata={"Software": None})
    return base64.b64encode(memory.getvalue()).decode()
