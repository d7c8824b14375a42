# SPDX-License-Identifier: GPL-2.0-only
"""The floor plan: one rule per arrow. Scenarios, runs, metrics and figures are found, not listed.

    snakemake --cores all all
    snakemake --cores all all --config scale=smoke
"""

from pathlib import Path

from snakemake.exceptions import WorkflowError

from pyorch.errors import PyorchError
from pyorch.figures import need_path
from pyorch.report.sources import cites
from pyorch.workflow import modules, ownership, resources, runs
from pyorch.workflow import snakemake as insides

scale = config.get("scale", "laptop")
try:
    # A dry run, --list, --report, --unlock change nothing. A job on another machine uses what this
    # one has built; it may not build beside other jobs. Not a rule: the names of runs hold the
    # attributes of the modules, so these are needed here; and a rule would re-run everything behind
    # it, also where the bytes come out the same.
    if workflow.is_main_process and insides.will_run_jobs():
        with ownership.shared_folder() as alone:
            if alone and ownership.release_dead_locks():
                logger.info("Removed the lock of a Snakemake that was killed; what it began is redone.")
            if alone:
                modules.build_modules()
    found = runs.read(scale)
except PyorchError as error:
    raise WorkflowError(str(error)) from None

# Snakemake watches no memory: unless the user gave a limit, what this machine has is the limit.
if "mem_mb" not in workflow.global_resources and workflow.local_exec:
    workflow.register_resource("mem_mb", resources.available_mb())
insides.keep_one_timer()

#: What a room is made of: programs, templates, presets, tables, styles.
CODE = {".py", ".jinja", ".yaml", ".csv"}
FORMATS = ["pdf", "svg", "png", "csv", "txt"]
#: One folder for each scale: no scale ever replaces the figures of another.
FIGURES = f"figures/{scale}"
# What report/caption.rst shows: for a figure its own docstring, for a table what is written here.
config["captions"] = {name: runs.escape(text) for name, text in found.captions.items()} | {
    "reproduction": "Every number of the source documents beside ours, with a status.",
    "benchmarks": "Time, memory and events of every run; columns: docs/definitions.md.",
}


report: "report/workflow.rst"


def code(*folders):
    """The files of whole rooms: Snakemake sees no edit in an imported module by itself."""
    folders = [Path("pyorch", folder) for folder in folders]
    found = [path for folder in folders for path in folder.rglob("*") if path.suffix in CODE]
    return sorted(map(str, [*found, *Path("pyorch").glob("*.py")]))


def uses_theory(figure):
    """Whether a figure computes with the analytical model."""
    return "from pyorch.theory import" in Path(f"plots/{figure}.py").read_text()


#: Figures about the source documents; a figure of one's own is not one of them.
REPRODUCING = [figure for figure in found.figures if cites(found.captions[figure])]


wildcard_constraints:
    scenario="[a-z][a-z0-9_]*",
    run=r"s\d+-[0-9a-f]{10}",
    metric="[a-z][a-z0-9_]*",
    figure="[a-z][a-z0-9_]*",


localrules:
    all,


rule all:
    """Every figure, what of the source documents is reproduced, and what the runs have cost."""
    default_target: True
    input:
        expand("{folder}/{figure}.{format}", folder=FIGURES, figure=found.figures, format=FORMATS),
        f"{FIGURES}/reproduction.html",
        f"{FIGURES}/reproduction.md",
        f"results/benchmarks_{scale}.csv",


rule spec:
    """One resolved spec; the run is named by its content, so the YAML is no input."""
    output:
        "results/{scenario}/{run}/spec.json",
    log:
        "logs/spec/{scenario}/{run}.log",
    params:
        file=lambda wildcards: found.files[wildcards.scenario],
    conda:
        "environment.yml"
    message:
        "Resolving {wildcards.scenario} {wildcards.run}"
    shell:
        "python -m pyorch spec {params.file:q} --run {wildcards.run:q} --out {output:q} > {log:q} 2>&1"


rule render:
    """A readable scenario script and the tables it reads."""
    input:
        spec="results/{scenario}/{run}/spec.json",
        plugins=lambda wildcards: found.plugin_files(wildcards.scenario, wildcards.run),
        room=code("render"),
    output:
        script="results/{scenario}/{run}/scenario.py",
        tables="results/{scenario}/{run}/tables.npz",
    log:
        "logs/render/{scenario}/{run}.log",
    params:
        folder=subpath(output.script, parent=True),
    conda:
        "environment.yml"
    message:
        "Rendering {wildcards.scenario} {wildcards.run}"
    shell:
        "python -m pyorch render {input.spec:q} --out {params.folder:q} > {log:q} 2>&1"


rule simulate:
    """One run, one process, one folder; only its log lies elsewhere."""
    input:
        script="results/{scenario}/{run}/scenario.py",
        tables="results/{scenario}/{run}/tables.npz",
        libraries=lambda wildcards: found.libraries(wildcards.scenario, wildcards.run),
        room=code("simulate"),
    output:
        raw="results/{scenario}/{run}/raw.npz",
        manifest="results/{scenario}/{run}/manifest.json",
        provenance="results/{scenario}/{run}/provenance.json",
    log:
        "logs/simulate/{scenario}/{run}.log",
    benchmark:
        "logs/simulate/{scenario}/{run}.tsv"
    params:
        folder=subpath(output.raw, parent=True),
    threads: 1  # the engine is single-threaded; --cores runs many of these side by side
    resources:
        # On a cluster Snakemake runs once more beside each job.
        mem_mb=lambda wildcards: found.memory_mb(wildcards.scenario, wildcards.run)
        + (0 if workflow.local_exec else 300),
        disk_mb=lambda wildcards: found.disk_mb(wildcards.scenario, wildcards.run),
        runtime=lambda wildcards: found.runtime_min(wildcards.scenario, wildcards.run),
    conda:
        "environment.yml"
    message:
        "Simulating {wildcards.scenario} {wildcards.run}"
    shell:
        "python -m pyorch simulate {input.script:q} --out {params.folder:q} --log {log:q}"


rule traces:
    """Raw columns checked and written as Parquet."""
    input:
        raw="results/{scenario}/{run}/raw.npz",
        manifest="results/{scenario}/{run}/manifest.json",
        room=code("traces"),
    output:
        expand(
            "results/{{scenario}}/{{run}}/{table}.parquet",
            table=["flows", "ports", "paths", "summary"],
        ),
    log:
        "logs/traces/{scenario}/{run}.log",
    params:
        folder=subpath(input.raw, parent=True),
    resources:
        mem_mb=lambda wildcards: 600 + found.logs_mb(wildcards.scenario, wildcards.run),
    conda:
        "environment.yml"
    message:
        "Checking {wildcards.scenario} {wildcards.run}"
    shell:
        "python -m pyorch traces {params.folder:q} > {log:q} 2>&1"


rule metrics:
    """One small table: one question, asked of all runs of a scenario."""
    input:
        # The other tables of a run are made by the same job.
        flows=lambda wildcards: found.tables(wildcards.scenario, "flows"),
        room=code("metrics", "theory", "traces", "render"),
    output:
        f"results/{{scenario}}/{scale}/{{metric}}.csv",
    log:
        f"logs/metrics/{{scenario}}/{scale}/{{metric}}.log",
    params:
        scale=scale,
        file=lambda wildcards: found.files[wildcards.scenario],
        # One more seed is one more input; a new label is not.
        labels=lambda wildcards: [run.label for run in found.runs[wildcards.scenario].values()],
    resources:
        mem_mb=1500,
    conda:
        "environment.yml"
    message:
        "Measuring {wildcards.metric} of {wildcards.scenario}"
    shell:
        "python -m pyorch metrics {wildcards.metric:q} {params.file:q} --scale {params.scale:q}"
        " --out {output:q} > {log:q} 2>&1"


rule figure:
    """One figure as PDF, SVG, PNG, the CSV of what is drawn, and its caption."""
    input:
        tables=lambda wildcards: [
            need_path(need, "results", scale) for need in found.figures[wildcards.figure].values()
        ],
        plot="plots/{figure}.py",
        room=code("figures"),
        theory=lambda wildcards: code("theory") if uses_theory(wildcards.figure) else [],
    output:
        multiext(f"{FIGURES}/{{figure}}", ".pdf", ".png", ".csv", ".txt"),
        svg=report(
            f"{FIGURES}/{{figure}}.svg",
            caption="report/caption.rst",
            category="Figures",
            labels=lambda wildcards: {
                "figure": wildcards.figure,
                "shows": found.captions[wildcards.figure].partition(". ")[0],
            },
        ),
    log:
        f"logs/figure/{scale}/{{figure}}.log",
    params:
        scale=scale,
    resources:
        mem_mb=1000,
    conda:
        "environment.yml"
    message:
        "Drawing {wildcards.figure}"
    shell:
        "python {input.plot:q} --scale {params.scale:q} > {log:q} 2>&1"


rule reproduction:
    """Every number of the source documents beside ours, with a status; the page holds the figures."""
    input:
        room=code("report", "theory"),
        captions=[f"plots/{figure}.py" for figure in REPRODUCING],
        figures=expand("{folder}/{figure}.png", folder=FIGURES, figure=REPRODUCING),
    output:
        f"{FIGURES}/reproduction.md",
        html=report(
            f"{FIGURES}/reproduction.html",
            caption="report/caption.rst",
            category="Reproduction",
            labels={"table": "reproduction of the source documents"},
        ),
    log:
        f"logs/reproduction/{scale}.log",
    params:
        folder=FIGURES,
    resources:
        mem_mb=1000,
    conda:
        "environment.yml"
    shell:
        "python -m pyorch theory report --out {params.folder:q} > {log:q} 2>&1"


rule benchmarks:
    """Time, memory and events of every run; no input of anything, because they differ every time."""
    input:
        provenance=found.simulated("provenance.json"),
        room=code("report"),
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
        scale=scale,
        files=[found.files[scenario] for scenario in found.needed],
    resources:
        mem_mb=1000,
    conda:
        "environment.yml"
    message:
        "Adding up what the runs have cost"
    shell:
        "python -m pyorch benchmarks {params.files:q} --scale {params.scale:q} --out {output.csv:q}"
        " > {log:q} 2>&1"
