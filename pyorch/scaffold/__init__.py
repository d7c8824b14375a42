# SPDX-License-Identifier: GPL-2.0-only
"""Takes a kind and a name, writes the files of a new plug-in that works as it is."""

from pyorch.scaffold.kinds import KINDS, Kind
from pyorch.scaffold.writer import write

__all__ = ["KINDS", "Kind", "write"]
