# SPDX-License-Identifier: GPL-2.0-only
"""The rules of a study. Scenarios, runs, metrics and figures are found, not listed.

A Snakefile that includes this has `EVERYTHING`, the targets of a rule ``all``.
"""

from pathlib import Path

from snakemake.exceptions import WorkflowError

from pyorch import built, origin, trust
from pyorch.errors import PyorchError
from pyorch.figures import need_path
from pyorch.simulate import modules
from pyorch.workflow import chunks, ownership, parcel, runs
from pyorch.workflow import snakemake as insides

scale = FOLDER = config.get("scale", "laptop")
#: All runs with their specs: no job plans them again.
PLAN = f".snakemake/pyorch/plan-{scale}.jsonl"
trust.grant(built.study())  # who starts Snakemake executes a Snakefile of this folder
try:
    # A dry run, --list, --report, --unlock change nothing. A job on another machine uses what this
    # one has built and planned; it may not build beside other jobs. Not a rule: the names of runs
    # hold the attributes of the modules, so these are needed here; and a rule would re-run
    # everything behind it, also where the bytes come out the same.
    if chunks.is_one(insides.asked_rule()):
        found = runs.of_plan(chunks.plan_of(insides.asked_rule()))
    elif insides.asked_rule() == parcel.RULE:
        found = runs.nothing()  # all that the job needs is its input
    elif not workflow.is_main_process:
        found = runs.read(scale, plan=PLAN)
    elif insides.will_run_jobs():
        insides.check_queue()
        with ownership.shared_folder() as alone:
            if alone and ownership.release_dead_locks():
                logger.info("Removed the lock of a Snakemake that was killed; what it began is redone.")
            if alone:
                chunks.remove_old()
                modules.bring_up_to_date()
            found = runs.read(scale, asks=True)
            found.write_plan(PLAN)
            found.note_names()
    else:
        found = runs.read(scale)
except PyorchError as error:
    raise WorkflowError(str(error)) from None
if workflow.is_main_process:
    for message in found.problems:
        logger.warning(f"{message} What needs this file fails; the rest is made.")

FORMATS = ["pdf", "svg", "png", "csv", "txt", "provenance.csv"]
#: One folder for each scale: no scale ever replaces the figures of another.
FIGURES = f"figures/{scale}"
#: What a rule `all` makes.
EVERYTHING = [
    *expand("{folder}/{figure}.{format}", folder=FIGURES, figure=found.drawn, format=FORMATS),
    f"results/benchmarks_{scale}.csv",
]
# What report/caption.rst shows: for a figure its own docstring, for a table what is written here.
config["captions"] = {name: runs.escape(text) for name, text in found.captions.items()} | {
    "reproduction": "Every number of the source documents beside ours, with a status.",
    "benchmarks": "Time, memory and events of every run; columns: docs/definitions.md.",
}


report: "report/workflow.rst"


include: "runs.smk"


localrules:
    all,


onsuccess:
    found.note_names()


onerror:
    found.note_names()


rule figure:
    """One figure as PDF, SVG, PNG, the CSV of what is drawn, its caption, and which runs it shows."""
    input:
        tables=lambda wildcards: [
            need_path(need, "results", scale) for need in found.needs(wildcards.figure).values()
        ],
        provenance=lambda wildcards: found.provenance(wildcards.figure),
        plot="plots/{figure}.py",
    output:
        multiext(f"{FIGURES}/{{figure}}", ".pdf", ".png", ".csv", ".txt", ".provenance.csv"),
        svg=report(
            f"{FIGURES}/{{figure}}.svg",
            caption="report/caption.rst",
            category="Figures",
            labels=lambda wildcards: {
                "figure": wildcards.figure,
                "shows": found.captions.get(wildcards.figure, "").partition(". ")[0],
            },
        ),
    log:
        f"logs/figure/{scale}/{{figure}}.log",
    params:
        scale=scale,
        code=lambda wildcards: origin.digest_of_script(f"plots/{wildcards.figure}.py"),
        # A figure that cannot be made is a job that says why and fails: the others are made.
        refusal=lambda wildcards: found.refusal(wildcards.figure),
    resources:
        mem_mb=1000,
    message:
        "Drawing {wildcards.figure}"
    shell:
        "(test -z {params.refusal:q} || {{ echo {params.refusal:q}; exit 1; }}"
        " && python {input.plot:q} --scale {params.scale:q}) > {log:q} 2>&1"


rule benchmarks:
    """Time, memory and events of every run; no input of anything, because they differ every time."""
    input:
        provenance=lambda wildcards: found.simulated("provenance.json"),
        finished=lambda wildcards: [ancient(mark) for mark in found.marks(found.needed)],
        outdated=expand(marks.OUTDATED, scenario=found.needed),
    output:
        csv=report(
            f"results/benchmarks_{scale}.csv",
            caption="report/caption.rst",
            category="Cost of the runs",
            labels={"table": "all columns, CSV"},
        ),
        html=report(
            f"results/benchmarks_{scale}.html",
            caption="report/caption.rst",
            category="Cost of the runs",
            labels={"table": "overview"},
        ),
    log:
        f"logs/benchmarks/{scale}.log",
    params:
        code=origin.digest("pyorch.report.benchmarks"),
        scenarios=found.needed,
    resources:
        mem_mb=1000,
    message:
        "Adding up what the runs have cost"
    shell:
        "python -P -m pyorch.workflow.tables benchmarks {PLAN:q} {output.csv:q} {params.scenarios:q}"
        " > {log:q} 2>&1"
