# SPDX-License-Identifier: GPL-2.0-only
"""Formats of traces: each reads the files of one, and returns tasks of ranks; a file for each.

A format has `USES`, the keys of a trace that say what its files leave open, and `read(asked)`.
"""
