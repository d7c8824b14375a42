# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every test."""

import os
import signal

from hypothesis import settings

# A shell lets its background jobs ignore Ctrl-C, and what they start would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests build is nothing to keep for the next clone of whoever runs them.
os.environ["PYORCH_CACHE"] = "off"

# The same examples on every machine; how long one takes says something of the machine alone.
settings.register_profile("same everywhere", derandomize=True, database=None, deadline=None)
settings.load_profile("same everywhere")
