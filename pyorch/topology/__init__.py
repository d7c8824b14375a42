# SPDX-License-Identifier: GPL-2.0-only
"""Takes parameters, returns a node table and a link table; one file is one family of topologies.

A topology module has `Params` (a closed pydantic model), `tables(params, link)` and
`counts(params)`; the columns are in docs/definitions.md.
"""
