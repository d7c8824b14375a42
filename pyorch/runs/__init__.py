# SPDX-License-Identifier: GPL-2.0-only
"""Takes a resolved spec, leaves the folder of its run; takes such folders, leaves what they say.

`choose` finds the runs of a scenario, `make` makes one, `finished` says whether that is needed;
`run.RunResult` is a finished one, `catalog` lists what is there, `page` is what a notebook shows.
Import from the modules: making a run needs neither pandas nor a plot.
"""
