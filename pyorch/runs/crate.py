# SPDX-License-Identifier: GPL-2.0-only
"""Takes a study, its results or one run, writes an RO-Crate: who made which table of what.

Each finished run is a CreateAction of pyorch, with its spec and its tables (Process Run Crate). A
Snakefile makes it a Workflow Run Crate: the workflow has made all tables of the scenarios.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyorch import traces
from pyorch.errors import OutputError
from pyorch.runs import datapackage
from pyorch.writing import write_text

FILE = "ro-crate-metadata.json"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_PACKAGE = "rocrate"


def write(folder: Path | str, package: dict[str, Any]) -> Path:
    """Write ``ro-crate-metadata.json`` of a folder; return its path.

    Parameters
    ----------
    folder : path
        A study, its results, or one run.
    package : dict
        Its Data Package, from `pyorch.runs.datapackage`.

    Raises
    ------
    OutputError
        The package that writes RO-Crates is not installed.
    """
    path = Path(folder) / FILE
    made = _Crate(Path(folder), package).made()
    write_text(path, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    return path


class _Crate:
    """The entities of one crate as they are made."""

    def __init__(self, folder: Path, package: dict[str, Any]):
        try:
            from rocrate.model.contextentity import ContextEntity
            from rocrate.rocrate import ROCrate
        except ImportError:
            raise OutputError(
                f"--crate: an RO-Crate is written by the package {_PACKAGE}, which is not"
                f" installed. Run: pip install {_PACKAGE}"
            ) from None
        self._folder, self._package, self._entity = folder, package, ContextEntity
        self._crate = ROCrate(version="1.1")
        self._software: dict[str, Any] = {}

    def made(self) -> dict[str, Any]:
        """Return the metadata."""
        crate, package = self._crate, self._package
        crate.name, crate.description = package["title"], package["description"]
        if licences := package.get("licenses"):
            crate.license = self._add(
                licences[0]["path"], "CreativeWork", name=licences[0]["name"],
                url=licences[0]["path"],
            )  # fmt: skip
        for resource in package["resources"]:
            self._file(
                resource["path"], encodingFormat=resource["mediatype"],
                description=resource.get("description"),
            )  # fmt: skip
        self._file(datapackage.FILE, encodingFormat="application/json")
        actions = [self._run(path.parent) for path in sorted(self._folder.rglob("manifest.json"))]
        actions += self._workflow()
        profiles = list(_PROFILES) if crate.mainEntity else list(_PROFILES)[:1]
        crate.root_dataset["conformsTo"] = [
            self._add(url, "CreativeWork", name=_PROFILES[url], version=url.rpartition("/")[2])
            for url in profiles
        ]
        crate.root_dataset["mentions"] = [action for action in actions if action]
        return crate.metadata.generate()

    def _run(self, folder: Path) -> Any:
        """Return the action that has made a run; nothing if it is not finished."""
        if not (folder / "provenance.json").exists() or not (folder / "spec.json").exists():
            return None
        made = traces.read_provenance(folder)
        where = folder.relative_to(self._folder)
        script = self._file(
            where / "scenario.py", "SoftwareApplication", name=f"Script of run {folder.name}",
            encodingFormat="text/x-python", softwareRequirements=self._versions(made["versions"]),
            softwareVersion=made["versions"]["pyorch"],
        )  # fmt: skip
        spec = self._file(where / "spec.json", encodingFormat="application/json")
        tables = [self._file(path.relative_to(self._folder)) for path in folder.glob("*.parquet")]
        provenance = self._file(where / "provenance.json", encodingFormat="application/json")
        return self._action(
            f"run {where.as_posix() if where.name else folder.resolve().name}",
            f"{made['simulated_ps']} ps of a network simulated with seed {made['seed']}", script,
            [spec], [*tables, provenance], folder / "manifest.json",
        )  # fmt: skip

    def _workflow(self) -> list[Any]:
        """Return the action of the workflow, if the folder has one: all tables of the scenarios."""
        snakefile = self._folder / "Snakefile"
        if not snakefile.exists():
            return []
        workflow = self._crate.add_workflow(
            str(snakefile), "Snakefile", main=True, lang="snakemake",
            properties={"name": "Runs, tables and figures of this study",
                        "encodingFormat": "text/x-python"},
        )  # fmt: skip
        scenarios = [self._file(path.relative_to(self._folder), encodingFormat="application/yaml")
                     for path in sorted(self._folder.glob("scenarios/*.yaml"))]  # fmt: skip
        found = [
            self._folder / its["path"] for its in self._package["resources"]
            if its["format"] == "csv"
        ]  # fmt: skip
        if not found:
            return []
        tables = [self._file(path.relative_to(self._folder)) for path in found]
        newest = max(found, key=lambda path: path.stat().st_mtime)
        about = "All runs of the scenarios, and the tables of their metrics"
        return [self._action("workflow", about, workflow, scenarios, tables, newest)]

    def _action(
        self,
        name: str,
        about: str,
        instrument: Any,
        given: list[Any],
        made: list[Any],
        last: Path,
    ) -> Any:
        """Return an action that has made files; the last of them says when it was over."""
        ended = datetime.fromtimestamp(last.stat().st_mtime, UTC)
        return self._add(
            f"#{name.replace(' ', '-')}", "CreateAction", name=name, description=about,
            instrument=instrument,
            object=given, result=made, endTime=ended.isoformat(timespec="seconds"),
        )  # fmt: skip

    def _versions(self, versions: dict[str, str]) -> list[Any]:
        """Return what a run was made with."""
        for name, version in versions.items():
            key = f"#{name}-{version}"
            if key not in self._software:
                self._software[key] = self._add(
                    key, "SoftwareApplication", name=name, softwareVersion=version
                )
        return [self._software[f"#{name}-{version}"] for name, version in versions.items()]

    def _file(self, path: Path | str, *types: str, **properties: Any) -> Any:
        """Return a file of the folder, which is noted once."""
        place = Path(path).as_posix()
        if (found := self._crate.dereference(place)) is not None:
            return found
        given = {key: value for key, value in properties.items() if value}
        given.setdefault("name", Path(path).name)
        if types:
            given["@type"] = ["File", *types]
        return self._crate.add_file(str(self._folder / path), place, properties=given)

    def _add(self, identifier: str, type_: str, **properties: Any) -> Any:
        """Return an entity that is no file; a list of one is written as that."""
        entity = self._entity(self._crate, identifier, properties={"@type": type_})
        for key, its in properties.items():
            entity[key] = its[0] if isinstance(its, list) and len(its) == 1 else its
        return self._crate.add(entity)
