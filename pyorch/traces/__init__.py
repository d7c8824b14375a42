# SPDX-License-Identifier: GPL-2.0-only
"""Takes the raw columns of a run, writes Parquet tables that keep their contract."""

from pyorch.traces.columns import ALWAYS, CONTRACTS, Column
from pyorch.traces.convert import convert, write_table
from pyorch.traces.read import read_inputs, read_table
from pyorch.traces.records import read_outcome, read_provenance

__all__ = [
    "ALWAYS",
    "CONTRACTS",
    "Column",
    "convert",
    "read_inputs",
    "read_outcome",
    "read_provenance",
    "read_table",
    "write_table",
]
