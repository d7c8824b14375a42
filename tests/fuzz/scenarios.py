# SPDX-License-Identifier: GPL-2.0-only
"""Checks of scenario files: their plain values, and every run of every scale."""

import ast
import json
import math
import re
from pathlib import Path

import naive
import yaml
from compare import agree, check_refusal

from pyorch import render, spec
from pyorch.errors import PyorchError, SpecError
from pyorch.spec import yaml_lines
from pyorch.spec.planning import SCALES
from pyorch.spec.scenario import DEFAULT_SCALE, read_scenario

#: What YAML 1.1 takes for the end of a line.
LINE_ENDS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
#: Ends of keys of a spec, and what their values are.
KINDS = {"_ps": "time", "_bps": "rate", "_bytes": "size", "Bytes": "size"}
TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"


def check_scenario(data: bytes, folder: Path) -> bool:
    """A scenario: its plain values, then every run of every scale."""
    path = folder / "s.yaml"
    path.write_bytes(data)
    try:
        scenario = read_scenario(path)
    except SpecError as error:
        check_refusal(error, path.name)
        return False
    agree_on_yaml(data)
    planned = False
    for scale in SCALES:
        try:
            runs = spec.plan(scenario, scale, typeids_file=TYPEIDS)
        except PyorchError as error:
            check_refusal(error, None)
            continue
        planned = True
        plan_is_sound(scenario, scale, runs)
    return planned


class Words:
    """What makes a loader of PyYAML ask `plain_word` for each word without quotes."""

    def resolve(self, kind, value, implicit):
        plain = kind is yaml.ScalarNode and implicit[0] and value != "<<"
        return "!plain" if plain else super().resolve(kind, value, implicit)


class Slow(Words, yaml.SafeLoader):
    pass


class Fast(Words, yaml.CSafeLoader):
    pass


for loader in (Slow, Fast):
    loader.add_constructor("!plain", lambda loader, node: naive.plain_word(node.value))


def agree_on_yaml(data: bytes) -> None:
    """Raise unless PyYAML's own loader, with the plain words of YAML 1.2, finds the same values."""
    ours, lines = yaml_lines.parse(data.decode("utf-8-sig"), "s.yaml")
    try:
        theirs = yaml.load(data.decode("utf-8-sig"), Slow)
    except yaml.YAMLError:  # its two parsers differ in tabs and the like; the faster one read it
        theirs = yaml.load(data.decode("utf-8-sig"), Fast)
    assert same(ours, theirs), f"values: {str(ours)[:500]} is not {str(theirs)[:500]}"
    last = len(LINE_ENDS.findall(data.decode("utf-8-sig"))) + 2
    assert all(1 <= line <= last for line in lines.values()), "a line beyond the end"


def same(ours, theirs) -> bool:
    """Tell whether two YAML values are one; what is no text as a key is text in ours."""
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if not isinstance(theirs, dict):
        return repr(ours) == repr(theirs)
    if not all(isinstance(key, str) for key in theirs):
        return len(ours) >= len(theirs)
    return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)


def plan_is_sound(scenario, scale: str, runs: list) -> None:
    """Raise unless the runs are as many as asked for, whole, and the same the second time."""
    settled = scenario.at_scale(scale)
    planning = settled.planning()
    swept = math.prod(len(values) for values in planning.sweep.values())
    skipped = [set(case.get("exclude", [])) for case in planning.cases.values()] or [set()]
    pairs = [name for names in skipped for name in planning.variants or [""] if name not in names]
    assert len(runs) == swept * len(pairs), "another number of runs"
    by_id = {}
    for run in runs:
        text = json.dumps(run.spec.plain(), sort_keys=True, allow_nan=False)
        assert by_id.setdefault(run.id, text) == text, "one name for two specs"
        units_hold(run.spec.plain())
    ast.parse(render.render_script(runs[0].spec))
    plain = settled.values
    if not any(map(plain.get, ("sweep", "variants", "cases", "scales"))):
        says_the_same(runs[0].spec.plain(), plain)
    if scale == DEFAULT_SCALE:
        again = spec.plan(scenario, scale, typeids_file=TYPEIDS)
        agree([run.id for run in again], [run.id for run in runs])


def says_the_same(found, written, key="") -> None:
    """Raise unless whatever stands in a scenario stands in the spec, in the unit of its key."""
    if isinstance(written, dict) and isinstance(found, dict):
        for name, value in written.items():
            names = {name, *(name + suffix for suffix in KINDS), name + "_ratio"} & found.keys()
            assert names or value in (None, {}, []), f"{key}: {name} is left out of {list(found)}"
            for known in names:
                says_the_same(found[known], value, known)
    elif isinstance(written, list) and isinstance(found, list):
        for mine, its in zip(found, written, strict=True):
            says_the_same(mine, its, key)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        kind = next((kind for suffix, kind in KINDS.items() if key.endswith(suffix)), None)
        if isinstance(written, str):
            written = naive.quantity(written, kind) if kind else naive.real(written)
        nearest = float(written) if isinstance(found, float) else written
        assert not isinstance(written, bool) and found == nearest, f"{key}: {found}, {written}"
    elif isinstance(found, bool | str):
        assert type(found) is type(written) and found == written, f"{key}: {found}, {written}"


def units_hold(value, key="") -> None:
    """Raise unless every quantity is a whole number that 64 bits hold."""
    if isinstance(value, dict):
        for inner, part in value.items():
            units_hold(part, inner)
    elif isinstance(value, list):
        for part in value:
            units_hold(part, key)
    elif key.endswith(("_ps", "_bps", "_bytes")) and value is not None:
        assert isinstance(value, int) and 0 <= value < 2**63, f"{key}: {value!r}"
    elif isinstance(value, float):
        assert math.isfinite(value), f"{key}: {value!r}"
