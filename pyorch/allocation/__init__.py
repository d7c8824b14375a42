# SPDX-License-Identifier: GPL-2.0-only
"""Takes the sizes of jobs and a network, returns the hosts of each: one file per scheduler."""
