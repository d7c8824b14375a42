# SPDX-License-Identifier: GPL-2.0-only
"""Writes the pages of the C++ modules for the site, from their README.md and their TypeIds."""

import re
from pathlib import Path

from pyorch.cli import attributes

ROOT = Path(__file__).resolve().parents[1]
MODULES = ROOT / "ns3-modules"

_INDEX = """# Modules and their attributes

A module is a folder of C++ in [`ns3-modules/`](../extending.md). A scenario names its types
(`ns3::RoceTransport`) and sets their attributes. `pyorch list attributes TYPE` prints the same in a
terminal.

{kinds}

```{{toctree}}
:maxdepth: 1
:hidden:

attributes
{names}
```
"""

_ATTRIBUTES = """# All attributes, A to Z

Each attribute of each type that a scenario can name. A value outside the allowed range is refused
before anything runs.

| attribute | type | default | allowed | meaning |
|---|---|---|---|---|
"""


def write(place: Path) -> None:
    """Write the index, a page for each README.md and the table of all attributes into a folder."""
    place.mkdir(exist_ok=True)
    entries = attributes.registered()
    readmes = sorted(MODULES.glob("*/README.md"))
    kept = {"index.md": index(entries, readmes), "attributes.md": table(entries)}
    kept |= {f"{path.parent.name}.md": page(path) for path in readmes}
    for old in place.glob("*.md"):
        if old.name not in kept:
            old.unlink()
    for name, text in kept.items():
        path = place / name
        if not path.exists() or path.read_text() != text:  # Sphinx reads again what has changed
            path.write_text(text)


def page(readme: Path) -> str:
    """Return a README.md whose links lead to pages of the site, and to nothing outside of it."""

    def link(found: re.Match) -> str:
        text, target, anchor = found.groups()
        path = (readme.parent / target).resolve()
        if path.is_relative_to(ROOT / "docs") and path.suffix == ".md":
            return f"[{text}](../{path.relative_to(ROOT / 'docs')}{anchor})"
        if path.is_relative_to(MODULES) and path.name == "README.md":
            return f"[{text}]({path.parent.name}.md{anchor})"
        return text

    links = r"(?<!!)\[([^\]]+)\]\((?!http|#)([^)#\s]+)((?:#[^)\s]*)?)\)"
    return re.sub(links, link, readme.read_text())


def module_of(entry: dict) -> str:
    """Return the module whose library registers a TypeId."""
    return entry["library"].removeprefix("lib").removesuffix(".so")


def index(entries: list[dict], readmes: list[Path]) -> str:
    """Return the first page: for each kind of plug-in its types, each with its module."""
    kinds: dict[str, list[str]] = {}
    for entry in sorted(entries, key=lambda entry: entry["name"]):
        if entry["contract"] != "section":
            kind = entry["contract"].replace("_", " ")
            kinds.setdefault(kind, []).append(f"[`{entry['name']}`]({module_of(entry)}.md)")
    rows = [f"| {kind} | {', '.join(types)} |" for kind, types in sorted(kinds.items())]
    lines = ["| kind | types |", "|---|---|", *rows]
    names = "\n".join(path.parent.name for path in readmes)
    return _INDEX.format(kinds="\n".join(lines), names=names)


def table(entries: list[dict]) -> str:
    """Return the page of all attributes."""
    rows = []
    for entry in entries:
        for attribute in entry["attributes"] if entry["contract"] != "section" else ():
            name, *others = attributes.cells(attribute)
            link = f"[`{entry['name']}`]({module_of(entry)}.md)"
            rows.append((name.lower(), entry["name"], f"| {' | '.join((name, link, *others))} |"))
    return _ATTRIBUTES + "\n".join(row for *_, row in sorted(rows)) + "\n"
