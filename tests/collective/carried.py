# SPDX-License-Identifier: GPL-2.0-only
"""What messages of a collective can carry."""

import numpy as np


def known(graph):
    """Return whose data each message can carry: of its sender, and of what it waits for."""
    carried = [{int(src)} if own else set() for src, own in zip(graph.src, graph.own, strict=True)]
    order = np.argsort(graph.flow, kind="stable")
    for flow, after, at_sender in zip(
        graph.flow[order], graph.after[order], graph.at_sender[order], strict=True
    ):
        # What was sent before is no news; what it carried is still there.
        if not at_sender or graph.src[after] == graph.src[flow]:
            carried[flow] |= carried[after]
    return carried
