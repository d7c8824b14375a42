# SPDX-License-Identifier: GPL-2.0-only
"""Distributions of message sizes as points of their cumulative distribution, linear in between."""

from pathlib import Path

import numpy as np

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES
from pyorch.units import parse_float, parse_whole

FOLDER = Path(__file__).parent / "cdf"
KEY = "sizes"


def known() -> list[str]:
    """Return the names of the distributions that come with pyorch."""
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def shipped(name: str) -> list[list[str]]:
    """Return the rows of a distribution that comes with pyorch."""
    if name not in known():
        raise FieldError(
            KEY, f"no distribution '{name}'. There are {', '.join(known())}; or name a file with"
            f" sizes_file.{did_you_mean(name, known())}",
        )  # fmt: skip
    lines = (FOLDER / f"{name}.csv").read_text().splitlines()
    return [line.replace(",", " ").split() for line in lines if line[:1].isdigit()]


def points(rows: list[list[str]], where: str, key: str) -> list[list[float]]:
    """Return size [byte] and cumulative share [1] of each point, from 0 to 1.

    Parameters
    ----------
    rows : list of [size, percent]
        Words of a file; the size in bytes, the share in percent, both ascending.
    where, key : str
        File and key of the scenario, for messages.
    """
    try:
        found = [[parse_whole(size), parse_float(percent) / 100] for size, percent in rows]
    except ValueError:
        raise FieldError(
            key, f"{where}: each line has a size in bytes and the percentage of messages that are"
            " not larger, for example: 10000 15",
        ) from None  # fmt: skip
    sizes, shares = [size for size, _ in found], [share for _, share in found]
    for row, (smaller, before), (size, share) in zip(rows[1:], found, found[1:], strict=False):
        if not (smaller < size and before <= share):
            raise FieldError(
                key, f"{where}: {quoted(' '.join(row))} is not above the line before: sizes must"
                " ascend, and percentages must not fall.",
            )  # fmt: skip
    if len(found) < 2 or sizes[0] < 0 or shares[0] != 0 or shares[-1] != 1:
        raise FieldError(
            key, f"{where}: sizes must ascend, and percentages must do so from 0 to 100; there are"
            f" {len(found)} points.",
        )  # fmt: skip
    if sizes[-1] > LARGEST_MESSAGE_BYTES:
        raise FieldError(
            key, f"{where}: {sizes[-1]} bytes: between points sizes are exact only to"
            f" {LARGEST_MESSAGE_BYTES}. Write less.",
        )  # fmt: skip
    return found


def mean_bytes(cdf: list[list[float]]) -> float:
    """Return the mean size [byte]: between two points sizes are uniform."""
    return sum(
        (share - before) * (size + smaller) / 2
        for (smaller, before), (size, share) in zip(cdf, cdf[1:], strict=False)
    )


def draw(cdf: list[list[float]], uniform: np.ndarray) -> np.ndarray:
    """Return a size for each number of [0, 1); at least 1 byte."""
    sizes, shares = np.array(cdf, dtype=np.float64).T
    return np.maximum(np.round(np.interp(uniform, shares, sizes)), 1).astype(np.int64)
