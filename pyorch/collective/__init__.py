# SPDX-License-Identifier: GPL-2.0-only
"""Algorithms of collectives: the messages among ranks and what each waits for; a file for each.

An algorithm module has `OPERATIONS`, `Params` (a closed pydantic model), `check(call, params)`,
`graph(call, params)` and, in closed form, `counts(call, params)`. Ranks are numbers from 0; which
host each of them is, a workload says.
"""
