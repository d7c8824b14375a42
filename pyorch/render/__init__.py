# SPDX-License-Identifier: GPL-2.0-only
"""Writes a readable ns-3 program and its input tables from a resolved spec."""

from pyorch.render.folder import write_run
from pyorch.render.script import environment, render_script
from pyorch.render.tables import (
    flows_wait,
    input_tables,
    message_tables,
    relayed_flows,
    rows_of_workload,
    workload_of_flows,
    write_tables,
)

__all__ = [
    "environment",
    "flows_wait",
    "input_tables",
    "message_tables",
    "relayed_flows",
    "render_script",
    "rows_of_workload",
    "workload_of_flows",
    "write_run",
    "write_tables",
]
