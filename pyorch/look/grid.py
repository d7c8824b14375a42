# SPDX-License-Identifier: GPL-2.0-only
"""Takes a run that was sampled, returns load, queue and pauses of every link over time.

Links are rows in the order of a packet's way: up tier by tier, then down again.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pyorch.errors import TraceError

LINK = ["node", "peer", "parallel"]
#: Steps of time at most: more are narrower than a pixel.
MOST_STEPS = 400


@dataclass
class Grid:
    """What links carried over time.

    Attributes
    ----------
    links : DataFrame
        One row per direction of a link: ``node``, ``peer``, ``parallel``, ``rate_bps``, ``band``:
        what kind of link it is, as ``host to tier 1``.
    step_ps : int
        Length of a step [ps].
    load, paused : array, links x steps
        Share of the rate that was sent, and share of the time in which PFC held the link back [1].
    queue : array, links x steps
        Longest sample of the queue in front of the link [byte].
    """

    links: pd.DataFrame
    step_ps: int
    load: np.ndarray
    paused: np.ndarray
    queue: np.ndarray

    @property
    def n_steps(self) -> int:
        """Steps of time."""
        return self.load.shape[1]

    def steps_of(self, start_ps: float, end_ps: float) -> slice:
        """Return the steps that lie in an interval, at least one."""
        first = min(int(start_ps // self.step_ps), self.n_steps - 1)
        return slice(first, max(first + 1, min(-(-int(end_ps) // self.step_ps), self.n_steps)))


def grid(run) -> Grid:
    """Return what the links of a run carried over time.

    Parameters
    ----------
    run : RunResult
        A finished run with ``port_samples``.

    Raises
    ------
    TraceError
        The run was not sampled; says which line of the scenario records it.
    """
    period_ps = run.spec.trace.sample_ps
    end_ps = max(1, int(run.outcome["now_ps"]))
    if run.spec.engine.type == "fluid":
        raise TraceError(
            f"{run.folder}: is a run of engine fluid, which has no packets, so no link was sampled."
            " Write engine: packets, and run it again."
        )
    if not period_ps:
        raise TraceError(
            f"{run.folder}: was not sampled, so nothing is known over time. Write"
            f" trace: {{sample: {nice_us(end_ps / MOST_STEPS)} us}} into its scenario, or say"
            f" --set trace.sample='{nice_us(end_ps / MOST_STEPS)} us', and run it again."
        )
    samples = run.port_samples.astype("int64")
    last_ps = max(int(samples["time_ps"].max()) if len(samples) else 1, 1)
    step_ps = period_ps * max(1, -(-last_ps // (period_ps * MOST_STEPS)))
    n_steps = -(-last_ps // step_ps)
    links = ordered(run)
    row = pd.MultiIndex.from_frame(links[LINK]).get_indexer(pd.MultiIndex.from_frame(samples[LINK]))
    column = (samples["time_ps"].to_numpy() - 1) // step_ps
    shape = (len(links), n_steps)
    sent, paused, queue = (np.zeros(shape) for _ in range(3))
    np.add.at(sent, (row, column), samples["sent_bytes"].to_numpy())
    np.add.at(paused, (row, column), samples["paused_ps"].to_numpy())
    np.maximum.at(queue, (row, column), samples["queue_bytes"].to_numpy())
    lasts_ps = np.full(n_steps, float(step_ps))
    lasts_ps[-1] = last_ps - (n_steps - 1) * step_ps
    load = sent * 8e12 / (links["rate_bps"].to_numpy()[:, None] * lasts_ps)
    return Grid(links, step_ps, load, paused / lasts_ps, queue)


def ordered(run) -> pd.DataFrame:
    """Return the links of a run in the order of a packet's way, with the kind of each."""
    ports = run.ports[[*LINK, "rate_bps"]].astype("int64")
    tiers = run.nodes.set_index("node")["tier"]
    below, above = ports["node"].map(tiers), ports["peer"].map(tiers)
    up = above > below
    names = {tier: "host" if tier == 0 else f"tier {tier}" for tier in sorted(set(tiers))}
    band = below.map(names) + " to " + above.map(names)
    place = np.where(up, below, 1000 - below)
    table = ports.assign(band=band, place=place)
    table = table.sort_values(["place", "band", *LINK], kind="stable")
    return table.drop(columns="place").reset_index(drop=True)


def nice_us(ps: float) -> str:
    """Return a round number of microseconds of about this many picoseconds: ``0.5``, ``20``."""
    exponent = np.floor(np.log10(max(ps, 1.0) / 1e6))
    digit = next(d for d in (1, 2, 5, 10) if d * 10**exponent >= 0.99 * ps / 1e6)
    return f"{digit * 10**exponent:g}"
