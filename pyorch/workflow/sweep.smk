# SPDX-License-Identifier: GPL-2.0-only
"""All runs of one sweep and their metrics, as ``pyorch sweep`` has planned them.

Configuration: ``plan``, the file of the plan; ``metrics``, names with commas between; ``folder``,
where their tables lie below the scenario.
"""

from snakemake.exceptions import WorkflowError

from pyorch.errors import PyorchError
from pyorch.workflow import ownership, runs
from pyorch.workflow import snakemake as insides

PLAN, FOLDER = config["plan"], config["folder"]
METRICS = [name for name in str(config.get("metrics") or "").split(",") if name]
try:
    if workflow.is_main_process and insides.will_run_jobs():
        with ownership.shared_folder() as alone:
            if alone:
                ownership.release_dead_locks()
    found = runs.of_plan(PLAN)
except PyorchError as error:
    raise WorkflowError(str(error)) from None


include: "runs.smk"


localrules:
    all,


rule all:
    default_target: True
    input:
        [path for scenario in found.runs for path in found.tables(scenario, "flows")],
        [ancient(mark) for mark in found.marks(found.runs)],
        expand(
            "results/{scenario}/{folder}/{metric}.csv",
            scenario=found.runs, folder=FOLDER, metric=METRICS,
        ),
