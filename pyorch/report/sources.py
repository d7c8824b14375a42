# SPDX-License-Identifier: GPL-2.0-only
"""Tells whether a caption is about one of the source documents."""

KEYS = ("hotnets24", "asterfusion24")


def cites(caption: str) -> bool:
    """Whether a caption names one of the source documents, as in ``[hotnets24] figure 1``."""
    return any(f"[{key}]" in caption for key in KEYS)
