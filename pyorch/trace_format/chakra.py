# SPDX-License-Identifier: GPL-2.0-only
"""Execution traces of Chakra: `file` is that of rank 0, ``step.0.et``, the others lie beside it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pyorch.errors import quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import opened
from pyorch.training import chakra
from pyorch.training.foreign import Asked, Trace

USES = ("communicators", "algorithms", "dimensions", "compute", "system", "step_delay")
_RANK_0 = re.compile(r"(.+)\.0\.et")


def others(folder: Path, name: str) -> list[str]:
    """Return the files of the ranks from 1 on, by the name of that of rank 0."""
    found = _RANK_0.fullmatch(Path(name).name)
    if not found:
        raise FieldError("file", f"{quoted(name)}: name the file of rank 0, which ends in .0.et.")
    of_rank = re.compile(re.escape(found[1]) + r"\.(0|[1-9]\d*)\.et")
    where = (folder / name).parent
    numbers = sorted(
        int(match[1]) for path in where.glob("*.et") if (match := of_rank.fullmatch(path.name))
    )
    if missing := sorted(set(range(numbers[-1] if numbers else 0)) - set(numbers)):
        raise FieldError(
            "file", f"{quoted(name)}: there is a file of rank {numbers[-1]} beside it, but none of"
            f" rank {missing[0]}, {found[1]}.{missing[0]}.et.",
        )  # fmt: skip
    return [str(Path(name).parent / f"{found[1]}.{number}.et") for number in numbers[1:]]


def read(asked: Asked) -> Trace:
    """Return the tasks of one trace."""
    missing = chakra.Missing(
        asked.algorithm,
        asked.communicators,
        asked.dimensions,
        chakra.Roofline(*asked.compute) if asked.compute else None,
        asked.system,
        asked.step_ps,
    )
    where, n = asked.where.removesuffix(".0.et"), len(asked.files)
    return chakra.read(_streams(asked), n, missing, where, asked.key)


def _streams(asked: Asked) -> Iterator[BinaryIO]:
    """Yield the files, one open at a time."""
    for file in asked.files:
        with opened(file) as stream:
            yield stream
