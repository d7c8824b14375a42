# SPDX-License-Identifier: GPL-2.0-only
"""Takes the folder of a run, leaves one of its tables as a DataFrame of Int64 columns."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pyorch.errors import TraceError
from pyorch.traces.columns import CONTRACTS


def read_table(folder: Path | str, name: str) -> pd.DataFrame:
    """Return a table of a run; <NA> is what never happened.

    Raises
    ------
    TraceError
        It is not there, cannot be read, or has other columns than its contract.
    """
    path = Path(folder) / f"{name}.parquet"
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise TraceError(
            f"{path}: no such table. Make it with: python -m pyorch traces {folder}"
        ) from None
    except pa.ArrowInvalid as error:
        raise TraceError(f"{path}: cannot be read ({error}). Make it again.") from None
    if table.column_names != list(CONTRACTS[name]):
        raise TraceError(
            f"{path}: has columns {', '.join(table.column_names)}; its contract is"
            f" {', '.join(CONTRACTS[name])}. Make it again: python -m pyorch traces {folder}"
        )
    return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
