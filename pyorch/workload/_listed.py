# SPDX-License-Identifier: GPL-2.0-only
"""What workloads from a file share: the checks of listed flows before anything is simulated."""

from collections.abc import Callable

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_ID
from pyorch.units import TIME, format_exact


def check_listed(
    where: str,
    flows: dict[str, np.ndarray],
    row_name: Callable[[int], str],
    hosts: np.ndarray,
    stop_ps: int,
    hint: str,
    most_bytes: int,
) -> None:
    """Raise FieldError for the first flow that cannot be sent.

    Parameters
    ----------
    where : str
        The file.
    flows : dict of ndarray
        Columns src, dst, bytes, start_ps and maybe flow.
    row_name : callable
        Where the flow of an index stands: ``data/x.cm:7``.
    hosts : ndarray
        What src and dst may be.
    stop_ps : int
        End of the run [ps].
    hint : str
        What src and dst are, for the message.
    most_bytes : int
        Of one message: what its transport carries [byte].
    """
    n_flows = len(flows["src"])
    if not n_flows:
        raise FieldError("file", f"{where}: there is no flow in it. Name another file.")
    ids, first = np.unique(flows.get("flow", np.arange(n_flows)), return_index=True)
    if len(ids) < n_flows:
        again = int(np.setdiff1d(np.arange(n_flows), first)[0])
        raise FieldError(
            "file", f"{row_name(again)}: flow {int(flows['flow'][again])} stands twice. Give each"
            " flow its own id.",
        )  # fmt: skip
    given = flows.get("flow", ids)
    if (outside := np.flatnonzero((given < 0) | (given > LARGEST_ID))).size:
        row = int(outside[0])
        raise FieldError(
            "file", f"{row_name(row)}: flow {int(given[row])}; an id of a flow is 0 to"
            f" {LARGEST_ID}.",
        )  # fmt: skip
    wrong = {
        "src": ~np.isin(flows["src"], hosts),
        "dst": ~np.isin(flows["dst"], hosts),
        "self": flows["src"] == flows["dst"],
        "bytes": (flows["bytes"] < 1) | (flows["bytes"] > most_bytes),
        "start": (flows["start_ps"] < 0) | (flows["start_ps"] >= stop_ps),
    }
    bad = np.flatnonzero(np.any(list(wrong.values()), axis=0))
    if not bad.size:
        return
    row = int(bad[0])
    what = next(name for name, mask in wrong.items() if mask[row])
    if what == "bytes":
        raise FieldError("file", f"{row_name(row)}: {sizes(int(flows['bytes'][row]), most_bytes)}")
    raise FieldError("file", f"{row_name(row)}: {_sentence(what, flows, row, stop_ps, hint)}")


def sizes(size_bytes: int, most_bytes: int) -> str:
    """Return what to say of a message that no transport of its workload carries."""
    return f"{size_bytes} bytes; a message has 1 to {most_bytes} with its transport."


def _sentence(what: str, flows: dict[str, np.ndarray], row: int, stop_ps: int, hint: str) -> str:
    src, dst = int(flows["src"][row]), int(flows["dst"][row])
    if what in ("src", "dst"):
        return f"there is no host {src if what == 'src' else dst}; {hint}."
    if what == "self":
        return f"host {src} sends to itself. Leave the flow out."
    start = int(flows["start_ps"][row])
    if start < 0:
        return f"starts at {start} ps; a start is 0 or more."
    return (
        f"starts at {format_exact(start, TIME)}, not before stop,"
        f" {format_exact(stop_ps, TIME)}. Raise stop."
    )
