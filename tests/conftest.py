# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every test."""

import signal

# A shell lets its background jobs ignore Ctrl-C, and what they start would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
