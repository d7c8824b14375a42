# SPDX-License-Identifier: GPL-2.0-only
"""Takes parameters and a seed, returns a flow table; one file is one kind of workload.

A workload module has `Params` (a closed pydantic model), `check(params, counts)` (refuses what
does not fit the topology) and `flows(params, nodes, links, seed)`, which returns the columns src,
dst, bytes and start_ps. Flow ids and transports are given where workloads are put together.
"""
