# SPDX-License-Identifier: GPL-2.0-only
"""Each job on the first free hosts after a history of others: a file of jobs that come and end.

A job that finds too few hosts free waits, and those behind it too. Its time runs from when it
begins.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.allocation._free import after, handed_out
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import InputFile, columns
from pyorch.spec.network import Columns

REQUIRED = {"arrives_s": int, "ends_s": int, "hosts": int}


class Params(Closed):
    """CSV or Parquet with ``arrives_s``, ``ends_s`` and ``hosts``, and the second of that clock."""

    file: InputFile
    at_s: Annotated[int, Field(strict=True, ge=0)]


def allocate(
    params: Params, sizes: list[int], nodes: Columns, links: Columns, seed: int
) -> list[np.ndarray]:
    """Return the hosts of each job."""
    table = columns(params.file, "file", REQUIRED, {})
    n_hosts = int((nodes["is_switch"] == 0).sum())
    lasts = table["ends_s"] - table["arrives_s"]
    wrong = {
        "arrives_s is negative": table["arrives_s"] < 0,
        "ends_s is not after arrives_s": lasts <= 0,
        f"hosts is not 1 to {n_hosts}": (table["hosts"] < 1) | (table["hosts"] > n_hosts),
    }
    for what, rows in wrong.items():
        if rows.any():
            raise FieldError(
                "file", f"{params.file['path']}: row {int(rows.argmax()) + 1}: {what}."
            )
    order = np.argsort(table["arrives_s"], kind="stable")
    jobs = zip(*(column[order] for column in (table["arrives_s"], lasts, table["hosts"])),
               strict=True)  # fmt: skip
    return handed_out(after(n_hosts, jobs, params.at_s), sizes)
