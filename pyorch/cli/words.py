# SPDX-License-Identifier: GPL-2.0-only
"""Says in one line which words of a command line cannot be understood."""

from collections.abc import Iterable, Sequence
from typing import Any

from pyorch.errors import quoted
from pyorch.reading import shown


def complaint(error: Any, words: Sequence[str], commands: Iterable[str]) -> str:
    """Return what typer says of a wrong word: on one line, with the word and where to look.

    Parameters
    ----------
    error : exception
        From typer: it has ``format_message``.
    words : sequence of str
        The command line without the name of the program.
    commands : iterable of str
        Names of the commands.
    """
    message = shown(" ".join(error.format_message().split())).rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "pyorch"
    value = _value_of(error, words)
    if value is not None and value not in message:
        message += f" (given: {quoted(value)})"
    known = sorted(commands)
    if message.startswith("No such command") and " " not in path:
        message += ("" if message.endswith("?") else ".") + f" There are {', '.join(known)}"
    return f"{path}: {message}{'' if message.endswith('?') else '.'} See: {path} --help"


def _value_of(error: Exception, words: Sequence[str]) -> str | None:
    """Return what was given for the option that an error is about."""
    names = getattr(getattr(error, "param", None), "opts", ())
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word in names:
            return following
        name, equals, value = word.partition("=")
        if equals and name in names:
            return value
    return None
