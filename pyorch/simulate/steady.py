# SPDX-License-Identifier: GPL-2.0-only
"""Takes tables and transports of a run that skips steady states, says what that may do to them."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

#: A message keeps to one path with these, so it matters which others it meets.
ONE_PATH = ("ns3::RoceTransport",)

Tables = Mapping[str, Mapping[str, np.ndarray]]


def surprises(
    tables: Tables, transports: Sequence[tuple[str, Mapping[str, str]]]
) -> Iterator[str]:
    """Yield one line for each thing by which a small difference decides what happens next.

    Parameters
    ----------
    tables : mapping of tables
        As the engine takes them.
    transports : sequence of (str, mapping)
        TypeId and attributes.
    """
    single = any(name in ONE_PATH for name, _ in transports)
    reasons = {
        "links change, and when decides which packets are lost": tables.get("link_events"),
        "messages on single paths wait for others": tables.get("dependencies") if single else None,
    }
    for reason, table in reasons.items():
        if table and len(next(iter(table.values()))):
            yield (
                f"engine.skip: {reason}, so single completion times may differ by more than the"
                " tolerance. docs/skip.md has what was measured."
            )
