# SPDX-License-Identifier: GPL-2.0-only
"""Takes what the build registers, writes it as tables.

Attributes of plug-ins go to the README.md of each C++ module, options to the page of scenarios.
"""

import json
import re
from pathlib import Path

from pyorch import built
from pyorch.errors import PluginError
from pyorch.spec import sections, typeids
from pyorch.spec.fields import Closed
from pyorch.spec.schema import TYPE_OF, Host, Switch, SwitchClass, Trace, Wire
from pyorch.units import format_exact

BEGIN = "<!-- generated: pyorch attributes -->"
END = "<!-- end -->"
_HEAD = ["| attribute | default | allowed | meaning |", "|---|---|---|---|"]
#: Upper ends of the ranges of integers: no limit to a reader.
_UNLIMITED = {"4294967295", "9223372036854775807", "18446744073709551615"}
#: Sections with options, and their keys in a scenario.
_KEYS: dict[type[Closed], str] = {
    Wire: "wire",
    Switch: "switch",
    Host: "transport.host",
    Trace: "trace",
}


def write_readmes() -> list[Path]:
    """Bring the tables of this study's modules up to date, or those of the clone.

    Returns
    -------
    list of Path
        The files that have changed.

    Raises
    ------
    PluginError
        The modules are not built, or a README.md has no place for its table.
    """
    entries = registered()
    modules = (built.study() or built.REPOSITORY) / built.MODULES.name
    changed = []
    for path in sorted(modules.glob("*/README.md")):
        before = path.read_text()
        generated = tables(entries, path.parent.name)
        if not generated:
            continue  # a base: nothing that a scenario could name
        after = with_tables(before, generated, built.shown(path))
        if after != before:
            path.write_text(after)
            changed.append(path)
    page = modules.parent / "docs" / "scenarios.md"
    before = page.read_text() if page.exists() else ""
    if BEGIN in before:  # a study need not have such a page
        after = with_tables(before, options(entries), built.shown(page))
        if after != before:
            page.write_text(after)
            changed.append(page)
    return changed


def options(entries: list[dict]) -> str:
    """Return the table of all options of sections, with their keys in a scenario."""
    types = typeids.TypeIds(entries)
    of_class = {attribute["name"] for attribute in types.section(TYPE_OF[SwitchClass])}
    rows = []
    for section, key in _KEYS.items():
        for attribute in types.section(TYPE_OF[section]):
            also = section is Switch and attribute["name"] in of_class
            rows.append(_option_row(key, attribute, also))
    return "\n".join(["| key | default | allowed | meaning |", "|---|---|---|---|", *rows])


def _option_row(section: str, attribute: dict, of_class: bool) -> str:
    key = sections.key_of(attribute["name"])
    default = attribute["default"]
    if (dimension := sections.dimension_of(key)) and default != "none":
        default = format_exact(int(default), dimension)
    cells = (
        f"`{section}.{sections.written(attribute['name'])}`",
        "required" if attribute.get("required") else default,
        sections.allowed(attribute),
        attribute["help"].replace("|", "\\|") + "; also in `switch.classes`" * of_class,
    )
    return f"| {' | '.join(cells)} |"


def registered(path: Path | None = None) -> list[dict]:
    """Return all TypeIds of the build."""
    path = path or built.here().typeids
    if not path.exists():
        raise PluginError(f"{built.shown(path)}: not there. Run: python -m pyorch.simulate.build")
    return json.loads(path.read_text())


def with_tables(text: str, generated: str, where: str) -> str:
    """Return a page with the part between its two marks replaced."""
    before, begin, rest = text.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(f"{END}\n")
    if not (begin and end):
        raise PluginError(f"{where}: no lines '{BEGIN}' and '{END}'. Put them where the tables go.")
    return f"{before}{begin}\n{generated}\n{end}{after}"


def tables(entries: list[dict], module: str) -> str:
    """Return a table for each TypeId that the library of a module registers, sorted by name."""
    own = [
        entry for entry in entries
        if entry["library"] == f"lib{module}.so" and entry["contract"] != "section"
    ]  # fmt: skip
    parts = []
    for entry in sorted(own, key=lambda entry: (entry["contract"], entry["name"])):
        rows = [_row(attribute) for attribute in entry["attributes"]]
        lines = [f"### {entry['name']} ({entry['contract'].replace('_', ' ')})", ""]
        lines += [*_HEAD, *rows] if rows else ["No attributes."]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def cells(attribute: dict) -> tuple[str, str, str, str]:
    """Return name, default, allowed values and meaning of an attribute as cells of a table."""
    default = typeids.default_of(attribute)
    default = str(default).lower() if isinstance(default, bool) else str(default)
    return (
        f"`{attribute['name']}`",
        f"`{default}`" if default else "",
        allowed(attribute),
        attribute["help"].replace("|", "\\|"),
    )


def _row(attribute: dict) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells(attribute))


def allowed(attribute: dict) -> str:
    """Return the range of an attribute in words; nothing if it has no limits to tell."""
    text = attribute["range"]
    if attribute["type"].startswith("ns3::EnumValue"):
        return text.replace("|", ", ")
    if attribute["type"] == "ns3::BooleanValue":
        return "true, false"
    if attribute["type"] == "ns3::TimeValue":
        least = text.partition("+")[2].partition(":")[0]
        return "a time" if least in ("", "0ns") else f"a time from {least}"
    match = re.fullmatch(r"\S+ ([^:\s]+):([^:\s]+)", text)
    if not match:
        return ""
    low, high = match.groups()
    none = ", none" if typeids.may_be_none(attribute) else ""
    return (f"from {low}" if high in _UNLIMITED else f"{low} to {high}") + none
