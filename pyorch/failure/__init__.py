# SPDX-License-Identifier: GPL-2.0-only
"""Takes a network and a seed, returns the outages of its links: one file per failure model."""
