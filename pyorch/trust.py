# SPDX-License-Identifier: GPL-2.0-only
"""Keeps in mind in which studies this user lets Python of the folder run.

A study that somebody sends may hold plug-ins in Python. Commands that only read (`spec`, `show`,
`list`) would have to execute them. They do so only where this user has made the study, or has run
something in it.
"""

import os
from pathlib import Path

from pyorch.errors import PluginError

#: Set to 1 where no home is kept, for example in a container: every study is trusted.
VARIABLE = "PYORCH_TRUST"


def _record() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "pyorch" / "studies"


def trusts(study: Path) -> bool:
    """Return whether Python of a study may be executed."""
    if os.environ.get(VARIABLE) == "1":
        return True
    try:
        return str(study.resolve()) in _record().read_text().splitlines()
    except (OSError, RuntimeError):  # nothing recorded, or no home
        return False


def grant(study: Path | None) -> None:
    """Let Python of a study be executed, by this process, those it starts, and later ones."""
    if study is None or trusts(study):
        return
    try:
        record = _record()
        record.parent.mkdir(parents=True, exist_ok=True)
        with record.open("a") as file:
            file.write(f"{study.resolve()}\n")
    except (OSError, RuntimeError):
        os.environ[VARIABLE] = "1"  # no home to keep it in: for this process and its children


def check(study: Path, what: str) -> None:
    """Raise PluginError unless Python of a study may be executed."""
    if not trusts(study):
        raise PluginError(
            f"{what} is Python of this folder, and nothing has been run in it yet. If you trust it:"
            f" pyorch run or sweep, which execute it, or {VARIABLE}=1."
        )
