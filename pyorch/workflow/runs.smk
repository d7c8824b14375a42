# SPDX-License-Identifier: GPL-2.0-only
"""One job per run and one per metric; whoever includes this has made `found`, `scale` and `PLAN`."""

from snakemake.exceptions import WorkflowError

from pyorch import origin
from pyorch.errors import PyorchError
from pyorch.runs.make import FILES
from pyorch.workflow import chunks, marks, ownership, parcel, resources, worker
from pyorch.workflow import snakemake as insides
from pyorch.workflow.events import RUN_RULE

# Snakemake watches no memory: unless the user gave a limit, what this machine has is the limit.
if "mem_mb" not in workflow.global_resources and insides.runs_here():
    workflow.register_resource("mem_mb", resources.available_mb())
insides.keep_one_timer()
insides.name_few_files()
insides.leave_alone(chunks.is_one)
#: What the jobs of a cluster make; on one machine each run is a job.
CHUNKS = []
#: Whether the jobs of a cluster see this folder; otherwise parcels travel.
TOGETHER = insides.shares_files(workflow)
try:
    if not TOGETHER:
        insides.keep_here(workflow, parcel.RULE, parcel.FOLDER)
    minutes = chunks.minutes_of(config.get("chunk", chunks.CHUNK_MIN))
except PyorchError as error:
    raise WorkflowError(str(error)) from None
if workflow.is_main_process:
    finished = marks.bring_up_to_date(found)
    if not insides.runs_here():
        CHUNKS = chunks.deal(found, finished, minutes)
elif chunks.is_one(insides.asked_rule()):
    CHUNKS = [chunks.Chunk(insides.asked_rule(), found.points)]
if workflow.is_main_process and not insides.tell_events():
    places = insides.cores()
    if due := sum(chunk.is_due for chunk in CHUNKS):
        places = min(due, places or due)
    its_chunks = {chunk.name: chunk.folders for chunk in CHUNKS}
    insides.show_progress(workflow, found.progress(places), its_chunks)
if workflow.is_main_process and insides.will_run_jobs():
    insides.look_and_lock_at_once(ownership.turn)
    chunks.write(CHUNKS)
    if insides.runs_here():
        worker.offer()


wildcard_constraints:
    scenario="[a-z][a-z0-9_]*",
    run=r"s\d+-[0-9a-f]{10}",
    metric="[a-z][a-z0-9_]*",
    figure="[a-z][a-z0-9_]*",


if insides.runs_here() and not CHUNKS:

    rule simulate:
        """Everything of one run, one folder: its spec, its script, the simulation, checked tables.

        The run is named by its content, so the YAML is no input. Whether what made it has changed only
        the run itself knows: without its mark it is made again, and what is there is kept until then.
        """
        output:
            mark=marks.MARK,
            tables=update(
                expand("results/{{scenario}}/{{run}}/{file}", file=FILES)
            ),
        log:
            "logs/simulate/{scenario}/{run}.log",
        # One, unless its engine has more: --cores runs many of these side by side.
        threads: lambda wildcards: found.threads(wildcards.scenario, wildcards.run)
        resources:
            mem_mb=lambda wildcards: found.memory_mb(wildcards.scenario, wildcards.run),
            disk_mb=lambda wildcards: found.disk_mb(wildcards.scenario, wildcards.run),
            runtime=lambda wildcards: found.runtime_min(wildcards.scenario, wildcards.run),
        message:
            "Simulating {wildcards.scenario} {wildcards.run}"
        shell:
            "python -P -m pyorch.workflow.client {PLAN:q} {wildcards.scenario:q}/{wildcards.run:q} {log:q}"
            " {threads}"


def needs(chunk):
    """Return what the job of a chunk reads; a dry run has written none of it."""
    return ancient(chunk.inputs if insides.will_run_jobs() else [])


if not TOGETHER:

    include: "parcels.smk"


for chunk in CHUNKS:

    rule:
        name:
            chunk.name
        input:
            needs(chunk),
            came=[] if TOGETHER or not chunk.is_due else parcel.came(STARTED, chunk.name),
        output:
            chunk.outputs,
        log:
            f"logs/{RUN_RULE}/{chunk.name}.log",
        threads: chunk.threads
        resources:
            mem_mb=chunk.memory_mb,
            disk_mb=chunk.disk_mb,
            runtime=chunk.runtime_min,
        params:
            plan=chunk.plan,
            work="chunk" if TOGETHER else "parcel unpack",
        message:
            f"Simulating {len(chunk.runs)} runs of {chunk.runs[0].scenario}"
        shell:
            "python -P -m pyorch.workflow.{params.work} {input.came:q} {params.plan:q} > {log:q} 2>&1"


rule metrics:
    """One small table: one question, asked of all runs of a scenario."""
    input:
        # The other tables of a run are made by the same job.
        flows=lambda wildcards: found.tables(wildcards.scenario, "flows"),
        finished=lambda wildcards: [ancient(m) for m in found.marks([wildcards.scenario])],
        outdated=marks.OUTDATED,
    output:
        f"results/{{scenario}}/{FOLDER}/{{metric}}.csv",
    log:
        f"logs/metrics/{{scenario}}/{FOLDER}/{{metric}}.log",
    params:
        code=lambda wildcards: origin.digest("pyorch.metrics", f"pyorch.metrics.{wildcards.metric}"),
        # One more seed is one more input; a new label is not.
        labels=lambda wildcards: found.labels(wildcards.scenario),
    resources:
        mem_mb=1500,
    message:
        "Measuring {wildcards.metric} of {wildcards.scenario}"
    shell:
        "python -P -m pyorch.workflow.tables metric {PLAN:q} {output:q} {wildcards.scenario:q}"
        " {wildcards.metric:q} > {log:q} 2>&1"
