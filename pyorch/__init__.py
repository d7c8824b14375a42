# SPDX-License-Identifier: GPL-2.0-only
"""An ns-3 simulation orchestrator for AI-datacenter networks."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyorch.api import load, results, run, sweep
    from pyorch.session import Session

__version__ = "0.1.0"

#: What this package offers, and the module that has it.
_API = {
    "Session": "pyorch.session", "load": "pyorch.api", "results": "pyorch.api",
    "run": "pyorch.api", "sweep": "pyorch.api",
}  # fmt: skip
__all__ = ["Session", "__version__", "load", "results", "run", "sweep"]


def __getattr__(name: str) -> object:
    """Take what is asked for from its module: this import stays cheap."""
    if name in _API:
        return getattr(import_module(_API[name]), name)
    raise AttributeError(f"module 'pyorch' has no attribute {name!r}. It has {', '.join(_API)}.")


def __dir__() -> list[str]:
    """Show what there is, also before it was asked for."""
    return sorted({*globals(), *_API} - {"TYPE_CHECKING"})
