# SPDX-License-Identifier: GPL-2.0-only
"""What there is: plug-ins and types with what they say of themselves."""

import re
from pathlib import Path

from pydantic.fields import FieldInfo

from pyorch import plugins
from pyorch import spec as specs
from pyorch.cli.attributes import allowed
from pyorch.errors import PluginError, did_you_mean, quoted
from pyorch.spec import typeids
from pyorch.spec.fields import is_needed, is_written
from pyorch.spec.parameters import shown
from pyorch.spec.schema import Link, Switch
from pyorch.spec.sections import key_of

#: Kinds that are Python files, by their package.
PACKAGES = {
    "topologies": "pyorch.topology",
    "workloads": "pyorch.workload",
    "collectives": "pyorch.collective",
    "trace_formats": "pyorch.trace_format",
    "failures": "pyorch.failure",
    "allocations": "pyorch.allocation",
    "controllers": "pyorch.controller",
    "metrics": "pyorch.metrics",
    "plots": "pyorch.views",
    "exports": "pyorch.export",
}
#: Kinds that are neither files nor types of the modules.
_OTHERS = {
    "scenarios": "Questions: scenarios/*.yaml of this folder",
    "attributes": "Attributes of a type: list attributes ns3::RoceTransport",
}
_FIRST_WORDS = {
    "topologies": "topology: {type: ...}", "workloads": "workload: {type: ...}",
    "collectives": "workload: {type: collective, algorithm: ...}",
    "trace_formats": "workload: {type: trace, format: ...}",
    "failures": "failures: [{type: ...}]", "allocations": "jobs: {type: ..., hosts: [...]}",
    "controllers": "workload: {type: wan_demands, control: {controller: ...}}",
    "metrics": "pyorch metrics ...", "plots": "pyorch plot ...",
    "exports": "pyorch export ...",
}  # fmt: skip


def kinds() -> dict[str, str]:
    """Return every kind that can be listed, with where a choice of it is written."""
    found = dict(_FIRST_WORDS)
    for contract in sorted({entry["contract"] for entry in typeids.entries()}):
        found[_plural(contract)] = _written(contract)
    return found | _OTHERS


def rows(kind: str, name: str | None = None) -> list[tuple[str, ...]]:
    """Return what there is of one kind, or what can be set of one of them.

    Raises
    ------
    PluginError
        There is no such kind, or none of that name.
    """
    kind = kind.replace("-", "_")
    known = kinds()
    if kind not in known:
        hint = did_you_mean(kind, known)
        raise PluginError(f"list {quoted(kind)[1:-1]}: there are {', '.join(known)}.{hint}")
    if kind == "scenarios":
        return [(str(path), question(path)) for path in specs.scenario_files()]
    if kind in PACKAGES:
        package = PACKAGES[kind]
        return _files(package) if name is None else parameters(package, name)
    if kind == "attributes" and name is None:
        raise PluginError(
            "list attributes: of which type?"
            f" There are {', '.join(entry['name'] for entry in typeids.entries())}."
        )
    if name is not None:
        return attributes(name)
    types = [entry for entry in typeids.entries() if _plural(entry["contract"]) == kind]
    return [(entry["name"], _names(entry)) for entry in sorted(types, key=lambda e: e["name"])]


def attributes(name: str) -> list[tuple[str, ...]]:
    """Return name, default, what is allowed, and meaning of each attribute of a type."""
    by_name = {entry["name"]: entry for entry in typeids.entries()}
    full = name if name in by_name else f"ns3::{name}"
    if full not in by_name:
        raise PluginError(
            f"list attributes: no type {quoted(name)}. There are {', '.join(by_name)}."
            f"{did_you_mean(full, by_name)}"
        )
    return [
        (a["name"], _default(a), allowed(a), a["help"]) for a in by_name[full]["attributes"]
    ]  # fmt: skip


def parameters(package: str, name: str) -> list[tuple[str, ...]]:
    """Return name and default of each parameter of a topology, workload or failure."""
    module = plugins.load(package, name)
    fields = getattr(module, "Params", None)
    if fields is None:
        raise PluginError(f"{name}: takes no parameters.")
    return [
        (field.alias or key, _default_of(key, field))
        for key, field in fields.model_fields.items()
        if is_written(field)
    ]


def _default_of(key: str, field: FieldInfo) -> str:
    """Return a default in words, if there is one."""
    if is_needed(field):
        return "required"
    default = None if field.is_required() else field.default
    if key.endswith(("rate_bps", "delay_ps")) and (default or 0) <= 0:
        return "that of link"
    return "derived from others" if field.is_required() else shown(key, default)


def _written(contract: str) -> str:
    """Return where a type of this contract is written in a scenario."""
    typed = f"{contract}: {{type: ns3::..., attributes: {{...}}}}"
    if contract == "transport":
        return typed
    if contract == "section":
        return "as keys of the section: switch: {buffer: 64 MB}"
    if contract in Switch.model_fields:
        return f"switch: {{{typed}}}"
    if contract == "program":
        return "switch: {programs: [{type: ns3::..., attributes: {...}}]}"
    if contract in Link.model_fields:
        return f"link: {{{typed}}}"
    return 'as the value of an attribute: "ns3::...[Name=value|Name=value]"'


def _plural(contract: str) -> str:
    if contract.endswith("ing"):
        return contract
    return f"{contract}es" if contract.endswith("s") else f"{contract}s"


def _names(entry: dict) -> str:
    return ", ".join(a["name"] for a in entry["attributes"]) or "no attributes"


def _default(attribute: dict) -> str:
    """Return a default as a person writes it: ``430 kB``, ``4 ms``."""
    value = typeids.default_of(attribute)
    if isinstance(value, str):  # a time has no space in ns-3's notation
        return re.sub(r"^([0-9.]+)([a-z]+)$", r"\1 \2", value)
    exact = attribute["name"].endswith("Bytes") and not isinstance(value, bool) and value < 10_000
    return f"{value} B" if exact else shown(key_of(attribute["name"]), value)


def _files(package: str) -> list[tuple[str, ...]]:
    return [(name, plugins.summary(package, name)) for name in plugins.names(package)]


def question(path: Path) -> str:
    """Return the first sentence after ``Question:`` in the header of a scenario."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    text = " ".join(lines).partition("Question:")[2].partition("Source:")[0]
    return " ".join(text.split())
