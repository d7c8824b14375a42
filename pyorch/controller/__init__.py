# SPDX-License-Identifier: GPL-2.0-only
"""Takes what a run has counted, leaves who may send how much and where: one file each."""
