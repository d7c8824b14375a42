# SPDX-License-Identifier: GPL-2.0-only
"""The study of the source documents: every figure, and what of their numbers is reproduced.

    snakemake --cores all all
    snakemake --cores all all --config scale=smoke

The rules of runs, metrics and figures are those of every study: pyorch/workflow/*.smk.
"""

from pyorch import origin
from pyorch.report.sources import cites
from pyorch.workflow import RULES


include: RULES


#: Figures about the source documents; a figure of one's own is not one of them.
REPRODUCING = [figure for figure in found.figures if cites(found.captions[figure])]


rule all:
    """Every figure, what of the source documents is reproduced, and what the runs have cost."""
    default_target: True
    input:
        EVERYTHING,
        f"{FIGURES}/reproduction.html",
        f"{FIGURES}/reproduction.md",


rule reproduction:
    """Every number of the source documents beside ours, with a status; the page holds the figures."""
    input:
        captions=[f"plots/{figure}.py" for figure in REPRODUCING],
        figures=expand("{folder}/{figure}.png", folder=FIGURES, figure=REPRODUCING),
    output:
        f"{FIGURES}/reproduction.md",
        html=report(
            f"{FIGURES}/reproduction.html",
            caption="pyorch/workflow/report/caption.rst",
            category="Reproduction",
            labels={"table": "reproduction of the source documents"},
        ),
    log:
        f"logs/reproduction/{scale}.log",
    params:
        folder=FIGURES,
        code=origin.digest("pyorch.report.reproduction", "pyorch.theory.golden"),
    resources:
        mem_mb=1000,
    message:
        "Writing the reproduction report"
    shell:
        "python -P -m pyorch theory report --out {params.folder:q} > {log:q} 2>&1"
