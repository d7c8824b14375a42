# SPDX-License-Identifier: GPL-2.0-only
"""Makes the folder of a run from its resolved spec, and reads such folders.

`choose` finds the runs of a scenario, `make` makes one, `finished` says whether that is needed;
`run.RunResult` is a finished one, `catalog` lists what is there, `page` is what a notebook shows.
Import from the modules: making a run needs neither pandas nor a plot.
"""
