# SPDX-License-Identifier: GPL-2.0-only
"""Every error a user can cause; anything else that is raised is a bug and keeps its traceback.

PyorchError
├── SpecError        a scenario file, a `--set`, a quantity with its unit
├── PluginError      a topology, workload, metric ... that does not exist
├── BuildError       the C++ modules
├── SimulationError  a run that ended badly
├── TraceError       a table that is incomplete or not what its contract says
├── OutputError      a file that cannot be written: a full disk, no permission
├── FigureError      a figure that cannot be drawn from what it needs
└── TheoryError      a model asked outside of where it holds

A message has four parts: where, what, what is allowed, what to do.

Examples
--------
>>> from pyorch import errors, units
>>> try:
...     units.parse_time_ps("5 parsecs")
... except errors.PyorchError as error:
...     print(type(error).__name__)
SpecError
"""

import difflib
import re
from collections.abc import Iterable

_LONGEST_QUOTE = 80


class PyorchError(Exception):
    """Base of all our errors; the command line prints its message and exits with 1."""


class SpecError(PyorchError):
    """A scenario, or a value given on the command line, cannot be used as it stands."""


class PluginError(PyorchError):
    """A name that discovery does not find."""


class BuildError(PyorchError):
    """The C++ modules cannot be built or loaded."""


class SimulationError(PyorchError):
    """A simulation ended without a result that may be used."""


class TraceError(PyorchError):
    """A table breaks its contract: it is reported, never repaired."""


class OutputError(PyorchError):
    """A file cannot be written; what stood there before is as it was."""


class FigureError(PyorchError):
    """A figure lacks what it needs."""


class TheoryError(PyorchError):
    """A model is asked for something outside of where it holds."""


def quoted(value: object) -> str:
    """Return what a user has written as a message shows it: on one line, in quotes, cut if long.

    Parameters
    ----------
    value : object
        Text, or anything else by its `repr`.

    Returns
    -------
    str
        At most 80 characters of it.

    Examples
    --------
    >>> print(quoted("two\\nlines"))
    'two\\nlines'
    """
    text = repr(value if isinstance(value, str) else repr(value))[1:-1]
    return f"'{text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + '...'}'"


def counted(number: int, noun: str) -> str:
    """Return how many there are, in words.

    Parameters
    ----------
    number : int
        How many.
    noun : str
        What one of them is.

    Returns
    -------
    str
        The number and the noun, in the plural unless there is one.

    Examples
    --------
    >>> counted(1, "run"), counted(2, "batch")
    ('1 run', '2 batches')
    """
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return `` Did you mean x?`` for the nearest known name, or nothing.

    Parameters
    ----------
    name : object
        What was written.
    known : iterable of str
        What would have been understood.

    Returns
    -------
    str
        Empty, or a sentence after a space.

    Examples
    --------
    >>> did_you_mean("varient", ["variant", "seed"])
    ' Did you mean variant?'
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    # RoceTransport, roce and RoCEv2 are ns3::RoceTransport.
    stems = {re.sub(r"^ns3::|transport$", "", one): its for one, its in by_lower.items()}
    for wanted, choices in ((str(name).lower(), by_lower), (str(name).lower(), stems)):
        if near := difflib.get_close_matches(wanted, choices, n=1, cutoff=0.6):
            return f" Did you mean {quoted(choices[near[0]])[1:-1]}?"
    return ""
