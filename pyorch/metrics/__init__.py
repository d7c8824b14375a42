# SPDX-License-Identifier: GPL-2.0-only
"""Takes the tables of runs, returns one small table per question; one file is one question.

A metric module has ``measure(run)``, which returns a DataFrame for one run (see `_run.RunTables`),
and may refuse runs; `ask` looks at both, `collect` puts those of a scenario together. What a column
means is in docs/definitions.md.
"""

from pyorch.metrics._collect import ABOUT, ask, collect, write_csv
from pyorch.metrics._run import RunTables

__all__ = ["ABOUT", "RunTables", "ask", "collect", "write_csv"]
