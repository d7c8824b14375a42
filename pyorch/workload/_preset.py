# SPDX-License-Identifier: GPL-2.0-only
"""The preset that a workload names: one of ours, or a file beside the scenario."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyorch.errors import PyorchError
from pyorch.spec.fields import FieldError
from pyorch.theory import preset


def read(name: str, folder: Path, kind: Callable[[str], Any] = preset.training) -> Any:
    """Return a preset, by its name or its path from the folder of the scenario.

    Parameters
    ----------
    kind : callable
        Reads it: `preset.training` or `preset.inference`.

    Raises
    ------
    FieldError
        It is not there, or cannot be used.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        name = str(folder / name)
    try:
        return kind(name)
    except PyorchError as error:
        raise FieldError("preset", str(error)) from None
