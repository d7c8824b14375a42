# SPDX-License-Identifier: GPL-2.0-only
"""Finds the tables that a figure needs in its file, without importing it."""

import ast
from pathlib import Path

from pyorch.errors import FigureError


def read_needs(path: Path | str) -> dict[str, str]:
    """Return the NEEDS of a figure: name of an argument to ``<scenario>/<metric>.csv``.

    Raises
    ------
    FigureError
        There is no NEEDS, it is not a literal dict, or a value has not the form above.
    """
    path = Path(path)
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == "NEEDS" for target in targets):
            try:
                needs = ast.literal_eval(node.value)
            except ValueError:
                raise FigureError(f"{path}: NEEDS must be a literal dict of text.") from None
            for value in needs.values():
                split_need(value, path)
            return needs
    raise FigureError(f"{path}: there is no NEEDS. Write NEEDS = {{}} if it needs no table.")


def read_caption(path: Path | str) -> str:
    """Return the caption of a figure, its docstring, as one paragraph."""
    return " ".join((ast.get_docstring(ast.parse(Path(path).read_text())) or "").split())


def split_need(need: str, source: Path | str) -> tuple[str, str]:
    """Return scenario and metric of ``<scenario>/<metric>.csv``."""
    scenario, slash, file = need.partition("/")
    if not slash or "/" in file or not file.endswith(".csv"):
        raise FigureError(f"{source}: NEEDS: '{need}' is not <scenario>/<metric>.csv.")
    return scenario, file.removesuffix(".csv")


def need_path(need: str, results: Path | str, scale: str) -> str:
    """Return the file that a need stands for at a scale."""
    scenario, metric = split_need(need, "NEEDS")
    return f"{results}/{scenario}/{scale}/{metric}.csv"
