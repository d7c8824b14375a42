# SPDX-License-Identifier: GPL-2.0-only
"""A topology and a model of losses for pyorch."""
