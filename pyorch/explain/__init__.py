# SPDX-License-Identifier: GPL-2.0-only
"""Takes a message of a finished run, returns why it took as long as it did.

The run is made again with one cause removed at a time, and with several: all else is the same to
the last bit, so what the message then gains is what that cause has cost it.
"""

from pyorch.explain.rerun import Explanation, explain

__all__ = ["Explanation", "explain"]
