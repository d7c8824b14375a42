# SPDX-License-Identifier: GPL-2.0-only
"""Takes what a run has counted, returns who may send how much and where: one file each."""
