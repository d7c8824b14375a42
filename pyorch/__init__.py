# SPDX-License-Identifier: GPL-2.0-only
"""An ns-3 simulation orchestrator for AI-datacenter networks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyorch.api import load, results, run, sweep

__version__ = "0.1.0"

_API = ("load", "results", "run", "sweep")
__all__ = ["__version__", "load", "results", "run", "sweep"]


def __getattr__(name: str) -> object:
    """Take what `pyorch.api` offers from there, when it is asked for: this import stays cheap."""
    if name in _API:
        from pyorch import api

        return getattr(api, name)
    raise AttributeError(f"module 'pyorch' has no attribute {name!r}. It has {', '.join(_API)}.")


def __dir__() -> list[str]:
    """Show what there is, also before it was asked for."""
    return sorted({*globals(), *_API} - {"TYPE_CHECKING"})
