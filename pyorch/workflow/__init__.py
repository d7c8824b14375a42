# SPDX-License-Identifier: GPL-2.0-only
"""Turns scenarios and figures into what Snakemake runs: jobs, inputs, resources, rules.

The Snakefile of a study is ``include: pyorch.workflow.RULES`` and a rule ``all``.
"""

from pathlib import Path

#: The rules of a study: its runs, metrics and figures.
RULES = str(Path(__file__).with_name("study.smk"))
#: The rules of one sweep: its runs and metrics.
SWEEP = str(Path(__file__).with_name("sweep.smk"))
