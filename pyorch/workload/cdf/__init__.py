# SPDX-License-Identifier: GPL-2.0-only
"""Distributions of message sizes, one CSV each; the source stands in its first lines."""
