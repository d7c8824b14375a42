# SPDX-License-Identifier: GPL-2.0-only
"""One finished run: its tables as DataFrames, what it was made of, what came out."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pandas as pd

from pyorch import plugins, traces
from pyorch import spec as specs
from pyorch.errors import TraceError
from pyorch.metrics import RunTables
from pyorch.runs import page
from pyorch.runs.names import Name
from pyorch.runs.summary import summarize
from pyorch.spec.parameters import flat
from pyorch.traces import manifest


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
    """

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
        """Return the result in a folder as that of a point of a scenario."""
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
        return specs.read_spec(self.folder / "spec.json")

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
    def provenance(self) -> dict[str, object]:
        """What made the result, and what it has cost."""
        return traces.read_provenance(self.folder)

    @cached_property
    def outcome(self) -> dict[str, object]:
        """How the run ended: ``stop_reason``, ``now_ps``, ``flows_done``, ``flows_total``."""
        return traces.read_outcome(self.folder)

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are there."""
        names = (path.stem for path in self.folder.glob("*.parquet"))
        return sorted(name for name in names if name in traces.CONTRACTS)

    def table(self, name: str) -> pd.DataFrame:
        """Return one table of the run.

        Raises
        ------
        TraceError
            It is not there, or is damaged.
        """
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
        """One row per link of the topology."""
        return pd.DataFrame(self._run.inputs["links"])

    @cached_property
    def summary(self) -> pd.Series:
        """What came out in a few numbers; the unit is in each name (see docs/api.md)."""
        return pd.Series(summarize(self), dtype=object, name=self.id)

    def metric(self, name: str) -> pd.DataFrame:
        """Return the table of one metric, as ``pyorch list metrics`` names them."""
        return plugins.load("pyorch.metrics", name).measure(self._run)

    def plot(self, kind: str, path: Path | str | None = None) -> object:
        """Draw this run; return the matplotlib Figure, and write it if `path` is given.

        Parameters
        ----------
        kind : str
            As ``pyorch list plots`` names them.
        path : path, optional
            A file that ends in .pdf, .svg or .png; a caption is written beside it.
        """
        from pyorch.views import draw

        return draw(kind, [self], path)

    def look(self, path: Path | str, beside: "RunResult | None" = None) -> Path:
        """Write a page of HTML on which links, queues and messages are seen over time.

        Parameters
        ----------
        path : path
            File of HTML. It loads nothing, so it can be sent and opened anywhere.
        beside : RunResult, optional
            Another run, shown beside this one on one clock.

        Raises
        ------
        TraceError
            A run was not sampled; says which line of its scenario samples it.

        Examples
        --------
        >>> run = pyorch.run("scenarios/incast.yaml", set={"trace.sample": "1 us"})
        >>> run.look("look.html")
        """
        from pyorch.look import write

        return write([self] if beside is None else [self, beside], path)

    @cached_property
    def _run(self) -> RunTables:
        return RunTables(self.spec, self.folder)

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
    """

    def __init__(self, runs: list[RunResult]):
        self._runs = list(runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self._runs)

    def __getitem__(self, which: int | str) -> RunResult:
        """Return a run by its place or its name."""
        if isinstance(which, int):
            return self._runs[which]
        for run in self._runs:
            if run.id == which:
                return run
        raise KeyError(f"no run {which!r}. There are {', '.join(run.id for run in self._runs)}.")

    @property
    def table(self) -> pd.DataFrame:
        """One row per run: what differs between them, then the summary of each."""
        from pyorch.spec.parameters import differing

        changed = differing([run.parameters for run in self._runs])
        rows = []
        for run in self._runs:
            point = {"run": run.id, **self._case(run), "variant": run.variant, "seed": run.seed}
            point |= {key: run.parameters.get(key) for key in changed if key != "seed"}
            rows.append(point | run.summary.to_dict())
        return pd.DataFrame(rows)

    def metric(self, name: str) -> pd.DataFrame:
        """Return one metric of all runs: case, variant, seed, run, then what it measured."""
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

    def plot(self, kind: str, path: Path | str | None = None) -> object:
        """Draw all runs in one figure; see `RunResult.plot`."""
        from pyorch.views import draw

        return draw(kind, self._runs, path)

    def __repr__(self) -> str:
        return f"<{len(self)} runs: {', '.join(run.id for run in self._runs[:4])} ...>"

    def _repr_html_(self) -> str:
        return page.runs_html(self)
