# SPDX-License-Identifier: GPL-2.0-only
"""A metric and a model of losses for pyorch."""
