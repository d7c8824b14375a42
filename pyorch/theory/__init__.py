# SPDX-License-Identifier: GPL-2.0-only
"""What should happen: the analytical model of the two source documents, as pure functions.

Every quantity carries its unit in its name: ``_ps`` (a real number here), ``_bytes``, ``_bps``
(bit/s), ``_flop``, ``_flop_per_s``, ``_w``, ``_usd``. Every argument that is a number may be a
numpy array of any shape; shapes broadcast. Sources, statuses and contradictions: docs/theory.md.
"""
