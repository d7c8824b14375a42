# SPDX-License-Identifier: GPL-2.0-only
"""Takes a run, writes its network and its flows as files of another simulator: one file per format.

Each file has `files(spec, tables)`, which returns the text of each file by its name, or raises
SpecError for what the format cannot say. Buffers, flow control and transports are no part of them.
"""
