# SPDX-License-Identifier: GPL-2.0-only
"""What no format can say, and whether a file says what it should."""

import numpy as np

from pyorch.errors import SpecError
from pyorch.spec.resolved import Spec

Columns = dict[str, np.ndarray]
Tables = dict[str, Columns]


def refuse_if(holds: bool, what: str, advice: str) -> None:
    """Raise SpecError if something holds that cannot be written."""
    if holds:
        raise SpecError(f"{what}. {advice}")


def _refuse_common(tables: Tables, name: str) -> None:
    """Raise SpecError for what no format has: links that fail, bit errors, batches of requests."""
    refuse_if(
        "requests" in tables, f"workload: serving makes its messages as a run goes on, and files"
        f" of {name} hold those that are known before", "Leave it out.",
    )  # fmt: skip
    refuse_if(
        any(len(tables.get(n, {}).get("time_ps", ())) for n in ("link_events", "loss_changes")),
        f"failures: files of {name} have none", "Leave failures out.",
    )  # fmt: skip
    refuse_if(
        bool(np.any(tables["links"].get("bit_error_ratio", 0))),
        f"link.bit_error_ratio: files of {name} have no bit errors", "Leave it out.",
    )  # fmt: skip


def refuse_network(spec: Spec, tables: Tables, name: str) -> None:
    """Raise SpecError for what no file of a network has: also parts of links and switches."""
    _refuse_common(tables, name)
    models = {"link": spec.link.loss_model}
    models |= {f"link.classes.{i}": part.loss_model for i, part in enumerate(spec.link.classes)}
    for where, model in models.items():
        refuse_if(
            model is not None, f"{where}.loss_model: files of {name} have none", "Write none."
        )
    delay_ps = spec.switch.processing_delay_ps
    for i, part in enumerate(spec.switch.classes):
        refuse_if(
            part.processing_delay_ps != delay_ps,
            f"switch.classes.{i}.processing_delay: in files of {name} all switches have the same",
            "Write the one of switch.",
        )


def refuse_messages(tables: Tables, name: str) -> None:
    """Raise SpecError for what no file of messages has: also if none is known before a run."""
    _refuse_common(tables, name)
    refuse_if(
        not len(tables["flows"]["flow"]) and not len(tables.get("tasks", {}).get("task", ())),
        f"workload: no message is known before the run, and files of {name} hold such messages",
        "Take another workload.",
    )


def refuse_difference(tables: Tables, read: Tables, name: str) -> None:
    """Raise SpecError unless the file of a network, read again, is that network."""
    for table in ("nodes", "links"):
        ours, theirs = _sorted(tables[table]), _sorted(read[table])
        for column in read[table]:
            same = np.array_equal(ours[column], theirs[column])
            refuse_if(
                not same, f"topology: {table}: {column}: a file of {name} would say another one",
                f"Only what {name} builds from such a file can be written.",
            )  # fmt: skip


def _sorted(columns: Columns) -> Columns:
    """Return a table with its rows in one order, and both ends of a link too."""
    if "node_a" in columns:
        ends = np.sort([columns["node_a"], columns["node_b"]], axis=0)
        columns = {**columns, "node_a": ends[0], "node_b": ends[1]}
        order = np.lexsort([columns["parallel"], ends[1], ends[0]])
    else:
        order = np.argsort(columns["node"])
    return {name: values[order] for name, values in columns.items()}
