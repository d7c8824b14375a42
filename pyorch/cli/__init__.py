# SPDX-License-Identifier: GPL-2.0-only
"""The command line: `app` has the commands, the other modules do what they say."""

from pyorch.cli.app import main

__all__ = ["main"]
