# SPDX-License-Identifier: GPL-2.0-only
"""Jobs of Snakemake that make one table of many runs, which they take from the plan.

``python -m pyorch.workflow.tables metric PLAN OUT SCENARIO METRIC``, and ``benchmarks PLAN OUT
SCENARIO...``; by hand there are ``pyorch metrics`` and ``benchmarks``.
"""

import sys
from pathlib import Path

from pyorch import jobs
from pyorch.errors import PyorchError
from pyorch.workflow.planfile import read_plan

RESULTS = Path("results")


def metric(plan: str, out: str, scenario: str, name: str) -> None:
    """Write the table of one metric over all runs of a scenario."""
    from pyorch.metrics import collect, write_csv

    write_csv(collect(name, read_plan(plan, scenario), RESULTS), out)


def benchmarks(plan: str, out: str, *scenarios: str) -> None:
    """Write what the finished runs of some scenarios have cost."""
    from pyorch.report import benchmarks as package

    table = package.collect([run for run in read_plan(plan) if run.scenario in scenarios], RESULTS)
    package.write(table, Path(out))
    print(package.summary(table))


def main() -> int:
    """Return the exit status; what a user can cause is one message."""
    jobs.join()
    kind, *arguments = sys.argv[1:]
    try:
        (metric if kind == "metric" else benchmarks)(*arguments)
    except PyorchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
