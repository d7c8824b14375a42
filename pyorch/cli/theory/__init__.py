# SPDX-License-Identifier: GPL-2.0-only
"""The commands of ``pyorch theory``."""
