# SPDX-License-Identifier: GPL-2.0-only
"""Holds what pyorch makes of a file against what a second reader makes of it."""

from contextlib import contextmanager

import naive

from pyorch.errors import PyorchError
from pyorch.spec import files, resolve
from pyorch.topology import _hpcc, _htsim, from_file

#: Limits of size, lowered so that what is just below them takes no time.
LIMITS = {
    "MOST_LINKS": (20_000, (_htsim, resolve)),
    "MOST_ROWS": (100_000, (files,)),
    "MOST_NODES": (50_000, (from_file, _hpcc)),
}


@contextmanager
def low_limits():
    """Lower the limits of size for a while."""
    before = [(module, name, getattr(module, name)) for name, (_, modules) in LIMITS.items()
              for module in modules]  # fmt: skip
    try:
        for module, name, _ in before:
            setattr(module, name, LIMITS[name][0])
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def both(read, second, name: str | None) -> bool:
    """Return whether both readers accept a file, and see the same in it; False if both refuse.

    Parameters
    ----------
    read, second : callable
        Pyorch's reading, and that of `naive`; None if there is nothing to hold it against.
    name : str, optional
        File that a refusal must name.

    Raises
    ------
    AssertionError
        They disagree, or a refusal does not say in one line which file it is about.
    """
    try:
        theirs, why = second(), ""
    except naive.Refused as error:
        theirs, why = None, str(error)
    try:
        ours = read()
    except PyorchError as error:
        check_refusal(error, name)
        assert theirs is None, f"refused: {error}"
        return False
    assert theirs is not None, f"accepted, but {why}: {str(ours)[:500]}"
    agree(ours, theirs)
    return True


def check_refusal(error: PyorchError, name: str | None) -> None:
    """Raise unless a refusal is one line of bearable length that names the file."""
    message = str(error)
    assert message and "\n" not in message, f"no line: {message!r}"
    assert len(message) < 1500, f"{len(message)} characters: {message[:500]}"
    assert name is None or name in message, f"which file? {message!r}"


def agree(ours, theirs) -> None:
    """Raise unless two readings are the same."""
    assert ours == theirs, f"{str(ours)[:500]} is not {str(theirs)[:500]}"
