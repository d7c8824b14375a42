# SPDX-License-Identifier: GPL-2.0-only
"""Takes a folder with tables, returns a Data Package: each column with its type, unit and meaning.

Meanings are those of the contracts of raw tables and of docs/definitions.md.
"""

import csv
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pyorch import __version__, built, formats, plugins, units
from pyorch.errors import OutputError, TraceError, quoted
from pyorch.metrics import ABOUT
from pyorch.spec.schema import Scenario
from pyorch.traces import CONTRACTS
from pyorch.writing import write_text

FILE = "datapackage.json"
_PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
#: Ends of names of columns and their units, beside those of quantities in a scenario.
_UNITS = {
    "_us": "us", "_ms": "ms", "_s": "s", "_gbps": "Gbit/s", "_mb": "MB", "_tb": "TB", "_pb": "PB",
    "_percent": "%", "_share": "1", "_ratio": "1", "_usd": "USD", "_flop": "FLOP",
} | {end: its.unit for end, its in units.BY_SUFFIX.items()}  # fmt: skip
#: What is said of a quantity over seeds or messages by the end of a name, or before its unit.
_STATISTICS = {
    "mean": "mean", "low": "lower end of the 95 % interval",
    "high": "upper end of the 95 % interval", "p0": "least", "p50": "median",
    "p99": "99 % quantile", "p100": "largest",
}  # fmt: skip
_TYPES = (("integer", r"[+-]?\d+"), ("number", r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|nan"),
          ("boolean", "True|False"))  # fmt: skip


def write(package: dict[str, Any], folder: Path | str) -> Path:
    """Write the Data Package of a folder there; return its path."""
    path = Path(folder) / FILE
    write_text(path, json.dumps(package, indent=1, ensure_ascii=False) + "\n")
    return path


def describe(folder: Path | str, licence: str | None = None) -> dict[str, Any]:
    """Return the Data Package (version 2) of the tables below a folder.

    Parameters
    ----------
    folder : path
        A study, its results, one run, or any other folder with tables.
    licence : str, optional
        Of the tables, as SPDX calls it.

    Raises
    ------
    TraceError
        There are none.
    OutputError
        The licence has no such name.
    """
    folder = Path(folder)
    resources = [_resource(folder, path) for path in tables(folder)]
    if not resources:
        if not Path(folder).is_dir():
            raise TraceError(f"{folder}: no such folder. Name a folder of results.")
        raise TraceError(f"{folder}: has no tables (.csv, .parquet). Name a folder of results.")
    return {
        "$schema": _PROFILE,
        "name": _slug(folder.resolve().name),
        "title": f"Tables of pyorch in {folder.resolve().name}",
        "description": "Results of simulated networks. An empty cell is what never happened.",
        "version": str(formats.TABLES),
        **({"licenses": [_licence(licence)]} if licence else {}),
        "sources": [{"title": f"pyorch {__version__}"}],
        "resources": resources,
    }


def _licence(name: str) -> dict[str, str]:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", name):
        raise OutputError(
            f"--license {quoted(name)}: no name of a licence. Write its identifier of SPDX, for"
            " example CC-BY-4.0."
        )
    return {"name": name, "path": f"https://spdx.org/licenses/{name}.html"}


def tables(folder: Path) -> Iterator[Path]:
    """Yield the tables below a folder in the order of their names; those of runs if whole."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or path.suffix not in (".csv", ".parquet") or not path.is_file():
            continue
        if path.suffix == ".csv" or (path.parent / "manifest.json").exists():
            yield path


def _resource(folder: Path, path: Path) -> dict[str, Any]:
    relative = path.relative_to(folder)
    is_csv = path.suffix == ".csv"
    fields, title = _of_csv(path) if is_csv else _of_run(path)
    return {
        "name": _slug(str(relative.with_suffix(""))),
        "path": relative.as_posix(),
        **({"description": title} if title else {}),
        "format": path.suffix[1:],
        "mediatype": "text/csv" if is_csv else "application/vnd.apache.parquet",
        **({"encoding": "utf-8"} if is_csv else {}),
        "schema": {"fields": fields, "missingValues": [""]},
    }


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-") or "results"


def _of_run(path: Path) -> tuple[list[dict[str, Any]], str]:
    """Return the columns of a raw table in its order, and what the table is."""
    contract = CONTRACTS.get(path.stem, {})
    fields: list[dict[str, Any]] = []
    for name in pq.read_schema(path).names:
        field = {"name": name, "type": "integer", **_unit(name)}
        if name in contract:
            field["description"] = contract[name].meaning
        fields.append(field)
    return fields, _rows_of(path.stem)


def _of_csv(path: Path) -> tuple[list[dict[str, Any]], str]:
    """Return the columns of a table of a metric or of a figure, and what the table is."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    is_metric = header[:1] == ["scenario"] and path.stem in plugins.names("pyorch.metrics")
    caption = path.with_suffix(".txt")
    if is_metric:
        title = plugins.summary("pyorch.metrics", path.stem)
    else:
        title = " ".join(caption.read_text().split()) if caption.exists() else ""
    fields = []
    for place, name in enumerate(header):
        said = _meaning(name, path.stem if is_metric else "")
        field = {"name": name, "type": _type([row[place] for row in rows]), **_unit(name)}
        fields.append(field | ({"description": said} if said else {}))
    return fields, title


def _type(cells: list[str]) -> str:
    """Return the narrowest type of all cells that are not empty."""
    given = {cell for cell in cells if cell}
    fits = (name for name, form in _TYPES if all(re.fullmatch(form, cell) for cell in given))
    return next(fits, "string") if given else "any"


def _unit(name: str) -> dict[str, str]:
    bare = name.split(".")[-1]
    while (end := bare.rpartition("_")[2]) in _STATISTICS:
        bare = bare.removesuffix(end).rstrip("_")
    if bare == "slowdown" or bare.startswith("over_"):
        return {"unit": "1"}
    found = max((end for end in _UNITS if bare.endswith(end)), key=len, default="")
    return {"unit": _UNITS[found]} if found else {}


def _meaning(name: str, metric: str) -> str:
    """Return the meaning of a column as docs/definitions.md has it, if that can be told."""
    if name in ABOUT:
        return ABOUT[name]
    if "." in name and name.partition(".")[0] in Scenario.model_fields:
        return f"Key {name} of the scenario, which is swept"
    notes, quantities = _definitions()
    if said := notes.get((metric, name), ""):
        return said
    if name.startswith("n_"):
        return f"Number of {name.removeprefix('n_')}"
    if raw := next((its[name] for its in CONTRACTS.values() if name in its), None):
        return raw.meaning
    words = [word for word in name.split("_") if word in _STATISTICS]
    of = [meaning for pattern, meaning in quantities if fnmatch(name, pattern)]
    plain = ", ".join(_STATISTICS[word] for word in words)
    return ": ".join(filter(None, (of[0] if of else "", plain)))


def _rows_of(table: str) -> str:
    """Return what a row of a raw table is."""
    found = re.search(rf"^## `{table}\.parquet`: (.*)$", _page(), re.M)
    return found[1].capitalize() if found else ""


@cache
def _definitions() -> tuple[dict[tuple[str, str], str], list[tuple[str, str]]]:
    """Return what the page says of columns of metrics, and of quantities by patterns of names."""
    notes = {}
    for metric, cell in re.findall(r"^\| (\w+) \| (`.*) \|$", _page(), re.M):
        for name, note in re.findall(r"`(\w+)` \(([^()]*)\)", cell):
            notes[metric, name] = note.replace("`", "")
    quantities = []
    bullets = re.findall(r"^\* \*\*(.+?)(?=^\* |^#|\n\n)", _page(), re.M | re.S)
    for text in (" ".join(bullet.split()) for bullet in bullets):
        for title, pattern in re.findall(r"(?:^|\*\*)([\w ]+)\*\* \(`([\w*]+)`\)", text):
            quantities.append((pattern, title))
    return notes, quantities


@cache
def _page() -> str:
    return built.DEFINITIONS.read_text() if built.DEFINITIONS.exists() else ""
