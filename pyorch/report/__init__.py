# SPDX-License-Identifier: GPL-2.0-only
"""Takes finished results, writes pages to read."""
