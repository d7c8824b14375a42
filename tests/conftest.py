# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every test."""

import os
import signal

# A shell lets its background jobs ignore Ctrl-C, and what they start would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests build is nothing to keep for the next clone of whoever runs them.
os.environ["PYORCH_CACHE"] = "off"
