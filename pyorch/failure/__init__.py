# SPDX-License-Identifier: GPL-2.0-only
"""Takes a network and a seed, leaves the outages of its links: one file per failure model."""
