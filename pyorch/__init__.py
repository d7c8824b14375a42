# SPDX-License-Identifier: GPL-2.0-only
"""An ns-3 simulation orchestrator for AI-datacenter networks.

Rooms, in the only direction in which they import each other: errors, units, plugins | spec |
topology, workload, failure, theory | render | export | simulate | traces | metrics | figures |
report | workflow | cli.
"""

__version__ = "0.1.0"
