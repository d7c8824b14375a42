# SPDX-License-Identifier: GPL-2.0-only
"""What workloads from a file share: the checks of listed flows before anything is simulated."""

from collections.abc import Callable

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.units import TIME, format_exact


def check_listed(
    where: str,
    flows: dict[str, np.ndarray],
    row_name: Callable[[int], str],
    hosts: np.ndarray,
    stop_ps: int,
    hint: str,
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
    if (negative := np.flatnonzero(flows.get("flow", ids) < 0)).size:
        raise FieldError("file", f"{row_name(int(negative[0]))}: an id of a flow is 0 or more.")
    wrong = {
        "src": ~np.isin(flows["src"], hosts),
        "dst": ~np.isin(flows["dst"], hosts),
        "self": flows["src"] == flows["dst"],
        "bytes": flows["bytes"] < 1,
        "start": (flows["start_ps"] < 0) | (flows["start_ps"] >= stop_ps),
    }
    bad = np.flatnonzero(np.any(list(wrong.values()), axis=0))
    if not bad.size:
        return
    row = int(bad[0])
    what = next(name for name, mask in wrong.items() if mask[row])
    raise FieldError("file", f"{row_name(row)}: {_sentence(what, flows, row, stop_ps, hint)}")


def _sentence(what: str, flows: dict[str, np.ndarray], row: int, stop_ps: int, hint: str) -> str:
    src, dst = int(flows["src"][row]), int(flows["dst"][row])
    if what in ("src", "dst"):
        return f"there is no host {src if what == 'src' else dst}; {hint}."
    if what == "self":
        return f"host {src} sends to itself. Leave the flow out."
    if what == "bytes":
        return f"{int(flows['bytes'][row])} bytes; a message has at least 1."
    start = int(flows["start_ps"][row])
    if start < 0:
        return f"starts at {start} ps; a start is 0 or more."
    return (
        f"starts at {format_exact(start, TIME)}, not before stop,"
        f" {format_exact(stop_ps, TIME)}. Raise stop."
    )
