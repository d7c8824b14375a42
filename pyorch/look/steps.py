# SPDX-License-Identifier: GPL-2.0-only
"""Takes a run, returns the lanes of its training steps with what decided each start."""

from pyorch.metrics._steps import steps
from pyorch.training.graph import BARRIER

#: Devices and tasks that are shown.
MOST_DEVICES, MOST_TASKS = 8, 6000


def lanes(run) -> list[dict]:
    """Return one entry for each workload that computes: its tasks, and the chain that took longest.

    A task is ``[device, lane, start, end, before]``: times in us, `before` the place of the task
    whose end decided when this one began, -1 if none that is shown did.
    """
    found = []
    for step in steps(run) if "tasks" in run.tables else ():
        tasks = step.tasks[(step.tasks["kind"] != BARRIER) & (step.tasks["end_ps"].notna())]
        chain = set()
        row = int(step.tasks["end_ps"].to_numpy().argmax())
        after = step.tasks["after"].to_numpy()
        while row >= 0 and row not in chain:
            chain.add(row)
            row = int(after[row])
        devices = sorted(set(tasks["device"]))[:MOST_DEVICES]
        own = tasks[tasks["device"].isin(devices)].head(MOST_TASKS)
        names = sorted(set(own["lane"]))
        place = {task: i for i, task in enumerate(own.index)}
        found.append(
            {
                "workload": int(step.workload),
                "names": names,
                "devices": [int(device) for device in devices],
                "tasks": [
                    [int(task.device), names.index(task.lane), task.start_ps / 1e6,
                     task.end_ps / 1e6, place.get(task.after, -1), int(task.Index in chain)]
                    for task in own.itertuples()
                ],
            }
        )  # fmt: skip
    return found
