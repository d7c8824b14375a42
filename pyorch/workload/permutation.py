# SPDX-License-Identifier: GPL-2.0-only
"""Every active host sends one message to one other and receives one: a random permutation.

With `inter_leaf` no message stays below one leaf, so each crosses the spines. Which hosts are
active is drawn at random; those at a smaller share are among those at a larger one.
"""

import numpy as np
from pydantic import Field

from pyorch.draws import derangement, stream
from pyorch.spec.fields import Closed, FieldError, Flag, MessageBytes, Share, TimePs
from pyorch.spec.network import Network
from pyorch.units import TIME, format_exact
from pyorch.workload._hosts import equal_messages, hosts, leaf_of


class Params(Closed):
    """One message for each of the `active` share of the hosts, started within `jitter`."""

    message_bytes: MessageBytes = Field(alias="message")
    start_ps: TimePs = Field(0, alias="start")
    jitter_ps: TimePs = Field(0, alias="jitter")
    inter_leaf: Flag = True
    active: Share = 1.0


#: Draws of active hosts. One is enough unless nearly all of very few fall below one leaf.
_ATTEMPTS = 1000


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the messages do not fit the network, or begin when the run has ended."""
    _check_hosts(params, network)
    _check_times(params, network.nodes, stop_ps)


def _check_hosts(params: Params, network: Network) -> None:
    """Raise FieldError where no such permutation exists: one host, or most of them on one leaf."""
    n_hosts = network.counts["hosts"]
    if n_hosts < 2:
        raise FieldError("type", "a permutation needs at least 2 hosts; there is 1.")
    if params.inter_leaf:
        per_leaf = np.unique(leaf_of(network.nodes, network.links), return_counts=True)[1]
        if (most := int(per_leaf.max())) * 2 > n_hosts:
            raise FieldError(
                "inter_leaf",
                f"with {most} of {n_hosts} hosts below one leaf some message must stay below its"
                " leaf. Add leaves, or set inter_leaf: false.",
            )
    if (active := n_active(params, n_hosts)) < 2:
        raise FieldError(
            "active",
            f"{params.active:g} of {n_hosts} hosts is {active}; a permutation needs 2. Write at"
            f" least {2 / n_hosts:g}.",
        )


def _check_times(params: Params, nodes: dict[str, np.ndarray], stop_ps: int) -> None:
    """Raise FieldError if `jitter` may move a start beyond the end of the run."""
    if params.start_ps < stop_ps <= (latest_ps := params.start_ps + params.jitter_ps):
        latest, stop = (format_exact(t, TIME) for t in (latest_ps, stop_ps))
        raise FieldError(
            "jitter", f"with start a message may begin at {latest}, not before stop, {stop}. Raise"
            " stop.",
        )  # fmt: skip


def n_active(params: Params, n_hosts: int) -> int:
    """Return the number of active hosts, rounded to the nearest whole number, half up."""
    return int(np.floor(params.active * n_hosts + 0.5))


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return one flow for each active host, by source; each starts uniformly within `jitter`."""
    ids = hosts(nodes)
    group = leaf_of(nodes, links) if params.inter_leaf else ids
    active = _active(group, n_active(params, len(ids)), seed)
    target = derangement(group[active], stream(seed, "permutation"))
    table = equal_messages(ids[active], ids[active][target], params.message_bytes, params.start_ps)
    if params.jitter_ps:
        # Drawn for all hosts, so that a host starts at one time whatever share is active.
        late = stream(seed, "permutation jitter").integers(params.jitter_ps + 1, size=len(ids))
        table["start_ps"] += late[active]
    return table


def _active(group: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return which hosts are active, ascending: no group has more than half of them.

    Raises
    ------
    FieldError
        Nearly every draw puts most of them into one group.
    """
    if n == len(group):
        return np.arange(n)
    random = stream(seed, "permutation active")
    for _ in range(_ATTEMPTS):
        chosen = np.sort(random.permutation(len(group))[:n])
        if 2 * np.unique(group[chosen], return_counts=True)[1].max() <= n:
            return chosen
    raise FieldError(
        "active", f"{n} active hosts nearly always have most of them below one leaf. Raise it."
    )
