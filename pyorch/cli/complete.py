# SPDX-License-Identifier: GPL-2.0-only
"""What a shell offers for the word that is being typed; nothing of a study is executed for it."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from pyorch.errors import PyorchError

Offer = Callable[[typer.Context, str], list[str]]


def _offer(words: Callable[[typer.Context], Iterable[str]]) -> Offer:
    """Return what typer calls: it is given the words of the command so far and the last one."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return sorted(word for word in words(ctx) if word.startswith(incomplete))
        except (PyorchError, OSError):  # a scenario that is broken, modules that are not built
            return []

    return offer


def _plugins(package: str) -> Callable[[typer.Context], Iterable[str]]:
    def names(_: typer.Context) -> Iterable[str]:
        from pyorch import plugins

        return plugins.names(package)

    return names


def _lists(_: typer.Context) -> Iterable[str]:
    from pyorch.cli import list as listing

    return listing.kinds()


def _scales(_: typer.Context) -> Iterable[str]:
    from pyorch import spec

    return spec.SCALES


def _runs(ctx: typer.Context) -> Iterable[str]:
    folder = Path(ctx.params.get("results") or "results")
    return [path.parent.name for path in folder.glob("*/*/provenance.json")]


def _typed() -> list[str]:
    """Return the command line, as bash and the other shells hand it over."""
    return " ".join(os.environ.get(n, "") for n in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")).split()


def _in_scenario(key: str) -> Callable[[typer.Context], Iterable[str]]:
    """Return what offers the names under a key of the scenario that is given."""

    def names(_: typer.Context) -> Iterable[str]:
        from pyorch import spec

        # The words before an option without its value are not parsed yet.
        typed = next((word for word in _typed() if word.endswith((".yaml", ".yml"))), "")
        return spec.read_scenario(typed).values.get(key) or () if typed else ()

    return names


metrics, plots, exports = (
    _offer(_plugins(f"pyorch.{package}")) for package in ("metrics", "views", "export")
)
lists, runs = _offer(_lists), _offer(_runs)
variants, cases = _offer(_in_scenario("variants")), _offer(_in_scenario("cases"))
scales = _offer(_scales)
