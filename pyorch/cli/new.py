# SPDX-License-Identifier: GPL-2.0-only
"""Takes a kind and a name, writes the files of a plug-in that works as it is."""

from pathlib import Path
from typing import Annotated

import typer

from pyorch.cli.help import PLAIN
from pyorch.scaffold import KINDS, write
from pyorch.scaffold.kinds import Kind, Module
from pyorch.scaffold.writer import next_steps

app = typer.Typer(**PLAIN, no_args_is_help=True)


def _add(kind: Kind) -> None:
    """Add the command of one kind."""
    example = "slow-start" if isinstance(kind, Module) else "slow_start"

    @app.command(kind.name, help=kind.help)
    def new(name: Annotated[str, typer.Argument(help=f"For example '{example}'.")]) -> None:
        for path in write(kind.name, name):
            # Outside a study it may be another folder than this one.
            is_here = path.is_relative_to(Path.cwd())
            typer.echo(path.relative_to(Path.cwd()) if is_here else path)
        for i, line in enumerate(next_steps(kind.name, name)):
            typer.echo(f"{'      ' if i else 'Next: '}{line}")


for _kind in KINDS.values():
    _add(_kind)
