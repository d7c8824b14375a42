# SPDX-License-Identifier: GPL-2.0-only
"""One finished run: its tables as DataFrames, what it was made of, what came out."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from pyorch import metrics, traces
from pyorch import spec as specs
from pyorch.calls import checked
from pyorch.errors import SpecError, TraceError, did_you_mean, quoted
from pyorch.metrics import RunTables
from pyorch.runs import page, select
from pyorch.runs.names import Name
from pyorch.runs.summary import summarize
from pyorch.spec.parameters import flat
from pyorch.traces import manifest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What is known of a run beside its parameters and its summary.
_FACTS = ("scenario", "scale", "case", "case_label", "variant", "label", "seed")


class RunResult:
    """The folder of a finished run; everything is read when it is asked for.

    Times are in ps, sizes in bytes, rates in bit/s, as the names of the columns say; <NA> is what
    never happened. What each column means is in docs/definitions.md.

    Parameters
    ----------
    folder : path
        ``results/<scenario>/<run>``, or whatever ``--out`` named.
    scale, variant, label, case, case_label : str
        Which point of its scenario it is, where that is known.

    Raises
    ------
    TraceError
        The folder is not that of a run.

    Examples
    --------
    >>> run = pyorch.sweep("scenarios/incast.yaml", scale="smoke")[0]
    >>> run.scenario, run.seed, run.scale, run.spec.link.rate_bps
    ('incast', 1, 'smoke', 800000000000)
    >>> run.parameters["workload.0.senders"], run.outcome["flows_done"], len(run.flows)
    (4, 4, 4)
    >>> run.tables
    ['flow_samples', 'flows', 'paths', 'pauses', 'port_samples', 'ports', 'summary', 'transports']
    >>> len(run.nodes), len(run.links), len(run.ports)  # a port is one direction of a link
    (40, 48, 96)
    >>> bool(run.fct_ps.max() == run.summary["slowest_fct_ps"])
    True
    """

    @checked
    def __init__(
        self,
        folder: Path | str,
        *,
        scale: str = "",
        variant: str = "",
        label: str = "",
        case: str = "",
        case_label: str = "",
    ):
        self.folder = Path(folder)
        self.scale, self.variant, self.label = scale, variant, label
        self.case, self.case_label = case, case_label
        if not (self.folder / "spec.json").exists():
            raise TraceError(
                f"{self.folder}: is no folder of a run: it has no spec.json."
                " List what is there with: pyorch results"
            )

    @classmethod
    def of(cls, run: specs.Run | Name, folder: Path | str) -> "RunResult":
        """Return the result in a folder as that of a point of a scenario.

        Parameters
        ----------
        run : Run or Name
            The point, as `pyorch.spec.plan` has it.
        folder : path
            Folder of the run.

        Returns
        -------
        RunResult
            It knows its scale, variant and case.

        Raises
        ------
        TraceError
            The folder is not that of a run.

        Examples
        --------
        >>> from pyorch import spec
        >>> point = spec.plan(spec.read_scenario("scenarios/incast.yaml"), "smoke")[0]
        >>> RunResult.of(point, f"results/{point.folder}").scale
        'smoke'
        """
        point = {name: getattr(run, name) for name in ("scale", "variant", "label")}
        return cls(folder, **point, case=run.case, case_label=run.case_label)

    @property
    def point_label(self) -> str:
        """What its case and its variant are called; empty if it has neither."""
        return ", ".join(filter(None, (self.case_label or self.case, self.label or self.variant)))

    @cached_property
    def spec(self) -> specs.Spec:
        """The resolved spec: every parameter, in integers with their unit in the name."""
        manifest.check(self.folder, "spec.json")
        return specs.read_recorded(self.folder / "spec.json")

    @property
    def id(self) -> str:
        """Name of the run: its seed and a hash of what decides its result."""
        return self.folder.resolve().name

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return self.spec.name

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return self.spec.seed

    @cached_property
    def parameters(self) -> dict[str, object]:
        """The spec with one entry for each key path: ``transport.0.attributes.Rto``."""
        return flat(self.spec.plain())

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """What made the result, and what it has cost."""
        return traces.read_provenance(self.folder)

    @cached_property
    def outcome(self) -> dict[str, Any]:
        """How the run ended: ``stop_reason``, ``now_ps``, ``flows_done``, ``flows_total``."""
        return traces.read_outcome(self.folder)

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are there."""
        names = (path.stem for path in self.folder.glob("*.parquet"))
        return sorted(name for name in names if name in traces.CONTRACTS)

    @checked
    def table(self, name: str) -> pd.DataFrame:
        """Return one table of the run.

        Parameters
        ----------
        name : str
            One of `tables`.

        Returns
        -------
        DataFrame
            Of its own; columns and units are in docs/definitions.md, <NA> is what never happened.

        Raises
        ------
        TraceError
            It is not there, or is damaged.

        Examples
        --------
        >>> run.table("flows")["bytes"].tolist()
        [200000, 200000, 200000, 200000]
        """
        if name not in traces.CONTRACTS:
            raise TraceError(
                f"{self.folder}: there is no table {quoted(name)}. There are"
                f" {', '.join(self.tables)}.{did_you_mean(name, self.tables)}"
            )
        return self._run.table(name).copy()

    @property
    def flows(self) -> pd.DataFrame:
        """One row per message."""
        return self.table("flows")

    @property
    def ports(self) -> pd.DataFrame:
        """One row per direction of a link, at the node that sends."""
        return self.table("ports")

    @property
    def paths(self) -> pd.DataFrame:
        """One row per link of each message that keeps to one path."""
        return self.table("paths")

    @property
    def port_samples(self) -> pd.DataFrame:
        """Queues and links over time; there with ``trace: {sample: 10 us}``."""
        return self.table("port_samples")

    @property
    def flow_samples(self) -> pd.DataFrame:
        """What arrived of each message over time; there with ``trace: {sample: 10 us}``."""
        return self.table("flow_samples")

    @property
    def pauses(self) -> pd.DataFrame:
        """One row per PFC pause; there with ``trace: {pauses: true}``."""
        return self.table("pauses")

    @property
    def arrivals(self) -> pd.DataFrame:
        """One row per data packet; there with ``trace: {arrivals: true}``."""
        return self.table("arrivals")

    @property
    def fct_ps(self) -> pd.Series:
        """Completion time of each message at its receiver [ps], by flow id."""
        flows = self.table("flows").set_index("flow")
        return (flows["receiver_end_ps"] - flows["start_ps"]).rename("fct_ps")

    @property
    def nodes(self) -> pd.DataFrame:
        """One row per node: is it a switch, its tier, its plane."""
        return pd.DataFrame(self._run.inputs["nodes"])

    @property
    def links(self) -> pd.DataFrame:
        """One row per link of the topology, `n_links` rows."""
        return pd.DataFrame(self._run.inputs["links"])

    @cached_property
    def summary(self) -> pd.Series:
        """What came out in a few numbers; the unit is in each name (see docs/api.md)."""
        return pd.Series(summarize(self), dtype=object, name=self.id)

    @checked
    def metric(self, name: str) -> pd.DataFrame:
        """Return the table of one metric.

        Parameters
        ----------
        name : str
            As ``pyorch list metrics`` names them.

        Returns
        -------
        DataFrame
            One row or many; units are in the names of the columns.

        Raises
        ------
        PluginError
            There is no such metric.
        TraceError
            The run cannot be asked this.

        Examples
        --------
        >>> len(run.metric("slowdown"))
        1
        """
        return metrics.ask(name, self._run)

    @checked
    def plot(self, kind: str, path: Path | str | None = None) -> "Figure":
        """Draw this run; return the matplotlib Figure, and write it if `path` is given.

        Parameters
        ----------
        kind : str
            As ``pyorch list plots`` names them.
        path : path, optional
            A file that ends in .pdf, .svg or .png; a caption is written beside it.

        Returns
        -------
        matplotlib.figure.Figure
            Also if it is written; a notebook shows it.

        Raises
        ------
        PluginError
            There is no such kind.
        FigureError
            The run lacks what the kind needs, or the file is of no kind of figure.

        Examples
        --------
        >>> figure = run.plot("fct", "fct.png")
        """
        from pyorch.views import draw

        return draw(kind, [self], path)

    @checked
    def look(self, path: Path | str, beside: "RunResult | None" = None) -> Path:
        """Write a page of HTML on which links, queues and messages are seen over time.

        Parameters
        ----------
        path : path
            File of HTML. It loads nothing, so it can be sent and opened anywhere.
        beside : RunResult, optional
            Another run, shown beside this one on one clock.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        TraceError
            A run was not sampled; says which line of its scenario samples it.

        Examples
        --------
        >>> run.look("look.html", beside=many[-1]).name
        'look.html'
        """
        from pyorch.look import write

        return write([self] if beside is None else [self, beside], path)

    @cached_property
    def _run(self) -> RunTables:
        return RunTables(self.spec, self.folder)

    def _known(self) -> select.Known:
        facts = {name: getattr(self, name) for name in _FACTS} | {"run": self.id}
        return select.Known(facts, self.parameters, lambda: self.summary.to_dict())

    def __repr__(self) -> str:
        return f"<RunResult {self.scenario}/{self.id}: {self.folder}>"

    def _repr_html_(self) -> str:
        return page.run_html(self)


class Runs:
    """Several runs, in order, and what they say together.

    Parameters
    ----------
    runs : list of RunResult
        Each is there once.

    Raises
    ------
    SpecError
        One of them is no run.
    TraceError
        ``runs[...]`` is asked for a run that is not there.

    Examples
    --------
    >>> runs = pyorch.sweep("scenarios/incast.yaml", scale="smoke")
    >>> len(runs), runs[0].seed, runs[runs[0].id] is runs[0], len(runs[:3])
    (9, 1, True, 3)
    >>> [run.seed for run in runs[:3]]
    [1, 2, 3]
    >>> runs.table[["workload.senders", "seed", "flows_done"]].tail(1).values.tolist()
    [[16, 3, 16]]
    """

    @checked
    def __init__(self, runs: Sequence[RunResult]):
        if others := [run for run in runs if not isinstance(run, RunResult)]:
            raise SpecError(f"Runs: runs: {quoted(others[0])} is no RunResult.")
        self._runs = list(runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self._runs)

    @overload
    def __getitem__(self, which: int | str) -> RunResult: ...

    @overload
    def __getitem__(self, which: slice) -> "Runs": ...

    @checked
    def __getitem__(self, which: int | str | slice) -> "RunResult | Runs":
        """Return a run by its place or its name, or several as a slice."""
        if isinstance(which, slice):
            return Runs(self._runs[which])
        names = [run.id for run in self._runs]
        place = names.index(which) if which in names else which
        if isinstance(place, str) or not -len(names) <= place < len(names):
            raise TraceError(f"no run {quoted(which)} among {len(names)}: {', '.join(names)}.")
        return self._runs[place]

    @checked
    def where(self, conditions: Mapping[str, object]) -> "Runs":
        """Return the runs whose parameters, variant, seed and so on have these values.

        Parameters
        ----------
        conditions : mapping
            As `where` of `pyorch.results`; all have to be met.

        Returns
        -------
        Runs
            In their order; there may be none.

        Raises
        ------
        SpecError
            No run has a column of that name.

        Examples
        --------
        >>> len(runs.where({"workload.senders": [4, 8], "seed": 1}))
        2
        """
        places = select.where([run._known() for run in self._runs], conditions)
        return Runs([self._runs[place] for place in places])

    @property
    def table(self) -> pd.DataFrame:
        """One row per run: what differs between them, then the summary of each."""
        from pyorch.spec.parameters import column_names, differing

        parameters = [run.parameters for run in self._runs]
        changed = differing(parameters)
        rows = []
        for run in self._runs:
            point = {"run": run.id, **self._case(run), "variant": run.variant, "seed": run.seed}
            point |= {key: run.parameters.get(key) for key in changed if key != "seed"}
            rows.append(point | run.summary.to_dict())
        table = pd.DataFrame(rows)
        return table.rename(columns=column_names(parameters, table.columns))

    @checked
    def metric(self, name: str) -> pd.DataFrame:
        """Return one metric of all runs.

        Parameters
        ----------
        name : str
            As ``pyorch list metrics`` names them.

        Returns
        -------
        DataFrame
            The rows of each run: case (if there are any), variant, label, seed, run, then what was
            measured.

        Raises
        ------
        PluginError
            There is no such metric.
        TraceError
            There is no run, or one that cannot be asked this.

        Examples
        --------
        >>> runs.metric("slowdown")["seed"].nunique()
        3
        """
        if not self._runs:
            raise TraceError(f"{name}: there is no run that can be measured.")
        parts = []
        for run in self._runs:
            about = {"variant": run.variant, "label": run.label, "seed": run.seed, "run": run.id}
            parts.append(run.metric(name).assign(**self._case(run), **about))
        table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
        first = [*(self._case(self._runs[0]) if self._runs else ()), *about]
        return table[[*first, *(name for name in table.columns if name not in first)]]

    @staticmethod
    def _case(run: RunResult) -> dict[str, str]:
        """Return the columns of the case of a run; there are none in a scenario without cases."""
        return {"case": run.case, "case_label": run.case_label} if run.case else {}

    @checked
    def plot(self, kind: str, path: Path | str | None = None) -> "Figure":
        """Draw all runs in one figure.

        Parameters
        ----------
        kind, path
            As of `RunResult.plot`.

        Returns
        -------
        matplotlib.figure.Figure
            Also if it is written; a notebook shows it.

        Raises
        ------
        PluginError, FigureError
            As `RunResult.plot`.

        Examples
        --------
        >>> figure = runs.plot("slowdown")
        """
        from pyorch.views import draw

        return draw(kind, self._runs, path)

    def __repr__(self) -> str:
        return f"<{len(self)} runs: {', '.join(run.id for run in self._runs[:4])} ...>"

    def _repr_html_(self) -> str:
        return page.runs_html(self)
