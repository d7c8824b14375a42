# SPDX-License-Identifier: GPL-2.0-only
"""Takes finished results, leaves pages to read."""
