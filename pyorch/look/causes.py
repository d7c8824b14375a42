# SPDX-License-Identifier: GPL-2.0-only
"""Takes a message of a run, returns which link decided how long it took, and what stopped its path.

A link that was busy while the message ran is its bottleneck: of the links of its path the one that
sent for the largest share of that time, of equal ones the last. A link before it may have been held
back by PFC: the switch behind it was too full with frames for some link, which may have been held
back in turn.
"""

from typing import TYPE_CHECKING

import numpy as np

from pyorch.look.grid import LINK, Grid

if TYPE_CHECKING:
    import pandas as pd

#: A link that sends for less than this share of a message's time does not decide how long it takes.
BUSY_SHARE = 0.85
#: Loads that differ by less are alike: a sample holds a frame that was only begun in it.
ALIKE = 0.02
#: A link that was held back for less of a message's time than this is not named.
PAUSED_SHARE = 0.05
#: Links in a chain of pauses.
MOST_DEEP = 6


def busiest(grid: Grid, path: list[int], start_ps: float, end_ps: float) -> tuple[int, float]:
    """Return the link of a path that sent most of the time of a message, and for which share of it.

    Parameters
    ----------
    grid : Grid
        Of the run.
    path : list of int
        Rows of its links, first hop first.
    start_ps, end_ps : float
        When the message began and ended [ps].
    """
    loads = grid.load[path, grid.steps_of(start_ps, end_ps)].mean(axis=1)
    last = np.flatnonzero(loads >= loads.max() - ALIKE)[-1]
    return path[last], float(loads[last])


class Pauses:
    """The pauses of a run, by the link that was held back.

    Parameters
    ----------
    pauses : DataFrame
        From ``trace: {pauses: true}``.
    grid : Grid
        Of the run: rows of links are its.
    end_ps : int
        Of the run: when pauses that never ended were over [ps].
    """

    def __init__(self, pauses: "pd.DataFrame", grid: Grid, end_ps: int):
        import pandas as pd

        row_of = {link: row for row, link in enumerate(
            grid.links[LINK].itertuples(index=False, name=None)
        )}  # fmt: skip
        pauses = pauses.fillna({"end_ps": end_ps})
        behind = pauses[["peer", "congested_peer", "congested_parallel"]].fillna(-1).astype("int64")
        rows = pd.DataFrame(
            {
                "link": [row_of[link] for link in pauses[LINK].itertuples(index=False, name=None)],
                "toward": [
                    row_of.get(link, -1) for link in behind.itertuples(index=False, name=None)
                ],
                "start_ps": pauses["start_ps"].astype("int64"),
                "end_ps": pauses["end_ps"].astype("int64"),
            }
        )
        self._of = dict(iter(rows.groupby("link")))

    def tree(self, link: int, start_ps: float, end_ps: float) -> dict | None:
        """Return what held a link back in an interval: ``link``, ``share``, ``toward``: the same.

        The share of the interval in which it was held back for the sake of the link behind [1].
        """
        return self._tree(link, start_ps, end_ps, frozenset({link}))

    def _tree(self, link: int, start_ps: float, end_ps: float, seen: frozenset) -> dict | None:
        own = self._of.get(link)
        if own is None or len(seen) > MOST_DEEP:
            return None
        begin, end = own["start_ps"].clip(lower=start_ps), own["end_ps"].clip(upper=end_ps)
        share = (end - begin).clip(lower=0) / max(1, end_ps - start_ps)
        if min(1.0, share.sum()) < PAUSED_SHARE:
            return None
        by = share.groupby(own["toward"]).sum().sort_values(ascending=False, kind="stable")
        toward = []
        for behind, part in by[by >= PAUSED_SHARE].items():
            if behind >= 0 and behind not in seen:
                further = self._tree(behind, start_ps, end_ps, seen | {behind})
                toward.append(
                    {"link": int(behind), "share": round(min(1.0, part), 3),
                     "toward": (further or {}).get("toward", [])}
                )  # fmt: skip
        return {"link": link, "share": round(min(1.0, float(share.sum())), 3), "toward": toward}
