# SPDX-License-Identifier: GPL-2.0-only
"""Malformed scenarios: every value of valid ones in every way in which its kind can be wrong."""

import copy
import re
from collections.abc import Iterator
from dataclasses import replace

import yaml
from malformed import MARK, Case

EVIL = f"$(touch {MARK}); `touch {MARK}`; {{{{ 7*7 }}}}"
BASE = {
    "name": "small",
    "topology": {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 2, "spines": 2},
    "link": {"rate": "800 Gb/s", "delay": "500 ns", "loss": 0.0},
    "switch": {"buffer": "8 MB", "processing_delay": "10 ns", "convergence": "1 us"},
    "workload": {"type": "permutation", "message": "1 MB", "start": "0 ns", "active": 1.0},
    "transport": {"type": "ns3::RoceTransport", "attributes": {"Priority": 3, "Rto": "320 us"}},
    "stop": "20 ms",
    "seed": 1,
}
#: Other sections, each in the place of that of `BASE`.
OTHERS = {
    "fat_tree": {"topology": {"type": "fat_tree", "tiers": 2, "radix": 4}},
    "dumbbell": {"topology": {"type": "dumbbell", "left": 4, "right": 4,
                              "bottleneck_rate": "100 Gb/s"}},
    "incast": {"workload": {"type": "incast", "senders": 2, "message": "1 kB", "receiver": 1}},
    "poisson": {"workload": {"type": "poisson", "load": 0.1, "duration": "1 us",
                             "sizes": "fb_hdp"}},
    "all_to_all": {"workload": {"type": "all_to_all", "message": "1 kB", "hosts": 4}},
    "stride": {"workload": {"type": "stride", "message": "1 kB", "stride": 1}},
    "scheduled": {"failures": [{"type": "scheduled", "planes": [0], "at": "5 us",
                                "duration": "1 us"}]},
    "random": {"failures": [{"type": "random", "what": "links", "mtbf": "1 ms",
                             "mttr": "1 us"}]},
    "trace": {"trace": {"arrivals": True, "pauses": False, "sample": "10 us", "nodes": [8],
                        "pcap": [3], "snaplen": "128 B"}},
    "pfc": {"link": {"rate": "100 Gb/s", "delay": "1 us", "flow_control":
                     {"type": "ns3::Pfc", "attributes": {"XoffBytes": "50 kB"}}}},
}  # fmt: skip
_QUANTITY = re.compile(r"([0-9.]+) (\S+)")
#: What no value of a kind can be.
NEVER = {
    "quantity": [5, -1, 0.5, True, [], {}, ["1 ms"], "", "1", "1 parsec", "-1 {unit}",
                 "1e400 {unit}", "nan {unit}", "1 {unit} {unit}", "0x10 {unit}", "1_0 {unit}",
                 "\u0661 {unit}", EVIL, "1e-30 {unit}", "99999999999999999999 {unit}",
                 "9" * 5000, "1\x00 {unit}"],
    "whole": [-1, 0.5, True, "1", "", [], {}, [1], 2**63, 10**30, float("nan"), float("inf"), EVIL,
              -(2**70), "010"],
    "share": [-0.5, 1.5, True, "x", [], {}, float("nan"), float("inf"), -1e308, EVIL, ""],
    "flag": [0, 1, "true", "yes", None, [], {}, 0.5, EVIL],
    "word": ["", "x y", "UPPER", "nowhere", 5, True, [], {}, None, "../../etc/passwd", EVIL,
             "a\nb", "x" * 300, "\u202e", "ns3::Nothing", 0.5],
    "type": ["", "nowhere", "ns3::", "ns3::DropTai", 5, True, [], {}, None, "../x", EVIL, "a\nb",
             "x" * 300, "os.system", "_contract"],
    "section": [5, "text", True, [1], ["a"], 0.5, EVIL],
    "items": [5, "text", True, {}, 0.5, [EVIL], [True], [[]], [-1], [10**30], [0.5], ["1"]],
}  # fmt: skip
#: Of whole numbers these may be 0; of shares these may be more than 1 or are text too.
_SMALLEST = {("workload", "receiver"), ("workload", "hosts")}


def cases() -> Iterator[Case]:
    """Yield every case: values, keys, planning, and texts that are no scenario."""
    yield from _values()
    yield from _keys()
    yield from _planning()
    yield from _texts()


def scenarios() -> dict[str, dict]:
    """Return the valid scenarios by name."""
    return {"base": BASE} | {name: {**BASE, **change} for name, change in OTHERS.items()}


def leaves(value: object, path: tuple = ()) -> Iterator[tuple[tuple, object]]:
    """Yield the path and the value of every part of a scenario."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from leaves(value[0], (*path, 0))


def kind_of(path: tuple, value: object) -> str:
    """Return of what kind a value is."""
    if path[-1] == "type":
        return "type"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "whole"
    if isinstance(value, float):
        return "share"
    if isinstance(value, str):
        return "quantity" if _QUANTITY.fullmatch(value) else "word"
    return "section" if isinstance(value, dict) or isinstance(value[0], dict) else "items"


def _values() -> Iterator[Case]:
    seen = set()
    for name, scenario in scenarios().items():
        for path, value in leaves(scenario):
            owner = (path, str(scenario[path[0]])[:60])
            if owner in seen:
                continue
            seen.add(owner)
            kind = kind_of(path, value)
            unit = value.partition(" ")[2] if kind == "quantity" else ""
            for number, wrong in enumerate(NEVER[kind]):
                if isinstance(wrong, str):
                    wrong = wrong.replace("{unit}", unit)
                if not _is_wrong(path, kind, wrong):
                    continue
                changed = with_value(scenario, path, wrong)
                key = str(path[-1] if path[-1] != 0 else path[0])
                case = scenario_case(
                    f"{name} {'.'.join(map(str, path))} {kind} {number}", changed, key
                )
                yield replace(case, path=path, value=wrong)


def _is_wrong(path: tuple, kind: str, value: object) -> bool:
    """Whether this is wrong here: some keys take more than others of their kind."""
    if path[-1] == "XoffBytes" and value == 5:
        return False
    if path == ("name",) and isinstance(value, str):
        return value != "nowhere"
    if path[-2:-1] == ("attributes",) and kind == "word":
        return not isinstance(value, str)
    if kind == "whole" and path[-1] == "seed":
        return value != 0
    return not (kind == "section" and path[0] == "failures" and value == [])


def with_value(scenario: dict, path: tuple, value: object) -> dict:
    """Return a copy with another value at a path."""
    changed = copy.deepcopy(scenario)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def scenario_case(name: str, scenario: object, *says: str) -> Case:
    """Return the case of a scenario that must be refused by ``spec``."""
    text = yaml.safe_dump(scenario, sort_keys=False, allow_unicode=True, width=10**6)
    return text_case(name, text, *says)


def text_case(name: str, text: bytes | str, *says: str) -> Case:
    """Return the case of a text that must be refused by ``spec``."""
    return Case(f"scenario {name}", ("spec", "x.yaml"), {"x.yaml": text}, ("x.yaml", *says))


def _keys() -> Iterator[Case]:
    """Yield sections with a key that is misspelt, missing, one too many, or no name."""
    for name, scenario in scenarios().items():
        for path, value in [((), scenario), *leaves(scenario)]:
            if not isinstance(value, dict) or path[-1:] == ("attributes",):
                continue
            if name != "base" and (not path or path[0] in BASE and BASE[path[0]] == value):
                continue
            for key in value:
                renamed = {(k + "x" if k == key else k): v for k, v in value.items()}
                yield scenario_case(
                    f"{name} {path} misspelt {key}", _replaced(scenario, path, renamed)
                )
            for key in ("", "__class__", EVIL, "a.b", "x" * 5000, "\u0000", "type\n", "rate_bps"):
                more = {**value, key: 1}
                yield scenario_case(
                    f"{name} {path} more {key[:12]}", _replaced(scenario, path, more)
                )
    for key in ("name", "topology", "link", "switch", "workload", "transport", "stop"):
        less = {k: v for k, v in BASE.items() if k != key}
        yield scenario_case(f"without {key}", less, key)
    for section, key in (("link", "rate"), ("link", "delay"), ("switch", "buffer"),
                         ("workload", "message"), ("topology", "leaves"), ("topology", "type"),
                         ("workload", "type"), ("transport", "type")):  # fmt: skip
        less = {k: v for k, v in BASE[section].items() if k != key}
        yield scenario_case(f"without {section}.{key}", {**BASE, section: less}, key)
    for name in ("Nothing", "priority", "", "Rto ", "MtuByte", EVIL, "x" * 3000):
        attributes = {"type": "ns3::RoceTransport", "attributes": {name: 1}}
        yield scenario_case(f"attribute {name[:12]}", {**BASE, "transport": attributes})


def _replaced(scenario: dict, path: tuple, value: dict) -> dict:
    return with_value(scenario, path, value) if path else value


def _planning() -> Iterator[Case]:
    """Yield sweeps, variants, cases and scales that nobody could run, or that would be ignored."""
    for key in ("sweep.seed", "scales.smoke", "variants.a", "name", "", ".", "a..b", "seed.",
                "topology.type.x", "workload.5.message", "nothing", "link.rate.x",
                EVIL):  # fmt: skip
        yield scenario_case(f"sweep of {key[:12]}", {**BASE, "sweep": {key: ["1 ms"]}})
        yield scenario_case(f"variant with {key[:12]}", {**BASE, "variants": {"a": {key: "1 ms"}}})
        yield scenario_case(f"case with {key[:12]}", {**BASE, "cases": {"a": {key: "1 ms"}}})
        if key not in ("sweep.seed", "variants.a"):
            yield scenario_case(
                f"scale with {key[:12]}", {**BASE, "scales": {"laptop": {key: "x"}}}
            )
    for wrong in (5, "text", True, [], [1], {"seed": 1}, {"seed": []}, {"seed": {}},
                  {"seed": None}, {"seed": ["a"]}, {"seed": [[1]]}, {"seed": [1.5]},
                  {"seed": list(range(1, 400)), "stop": ["1 ms"] * 400}):  # fmt: skip
        if wrong not in ([],):
            yield scenario_case(f"sweep {str(wrong)[:30]}", {**BASE, "sweep": wrong}, "sweep")
    for wrong in (5, "text", True, [1], {"a": 5}, {"a": None}, {"a": [1]}, {"": {}},
                  {"a b": {}}, {"a/b": {}}, {"../x": {}}, {EVIL: {}}, {"x" * 100: {}},
                  {"a": {"label": 5}}, {"a": {"label": {}}}, {"a": {"label": ["x"]}},
                  {"a": {"label": "a\nb"}}, {"a": {"label": "x" * 2000}}):  # fmt: skip
        yield scenario_case(f"variants {str(wrong)[:30]}", {**BASE, "variants": wrong}, "variants")
        yield scenario_case(f"cases {str(wrong)[:30]}", {**BASE, "cases": wrong}, "cases")
    for names in (5, "b", [1], ["a"], {}, [EVIL]):
        cases = {"c": {"exclude": names}}
        yield scenario_case(f"cases exclude {str(names)[:20]}", {**BASE, "cases": cases})
    for wrong in (5, "text", True, [1], {"tiny": {}}, {"laptop": 5}, {"laptop": [1]},
                  {"paper": {"name": "x"}}, {"Laptop": {}}, {"laptop": {"variants": ["b"]}},
                  {"laptop": {"variants": 5}}, {"laptop": {"cases": ["b"]}}):  # fmt: skip
        yield scenario_case(f"scales {str(wrong)[:30]}", {**BASE, "scales": wrong})


BOMB = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
TEXTS = {
    "nothing": "", "a list": "- 1\n", "a word": "word", "a number": "5", "null": "~",
    "not closed": "name: [1, 2", "a tab": "name: x\n\tlink: y\n", "a stray colon": "a: b: c\n",
    "an object": f"name: !!python/object/apply:os.system ['touch {MARK}']\n",
    "a module": "name: !!python/module:os\n", "a function": "name: !!python/name:os.system\n",
    "a tuple": "name: !!python/tuple [1]\n", "bytes": "name: !!binary aGVsbG8=\n",
    "a set": "name: !!set {a}\n", "a tag": "name: !x y\n", "a bomb": "l0: &l0 [x]\n" + BOMB,
    "itself": "name: &a [*a]\n", "an alias of nothing": "name: *nothing\n",
    "two": "a: 1\n---\nb: 2\n",
    "deep": "name: " + "[" * 100_000, "deep mappings": "name: " + "{a: " * 50_000,
    "a long line": "name: " + "x" * 5_000_000,
    "many keys": "".join(f"k{n}: 1\n" for n in range(200_000)),
    "a key that is a list": "[a, b]: 1\n", "a key that is a mapping": "{a: 1}: 1\n",
    "twins": "name: a\nname: b\n", "a NUL": "name: a\x00b\n", "an escape": "name: \x1b[2J\n",
    "latin": "name: k\u00f6ln".encode("latin-1"), "utf-16": "name: x".encode("utf-16"),
    "random bytes": bytes(range(256)), "an ELF": b"\x7fELF" + bytes(100),
    "gzip": b"\x1f\x8b" + bytes(50), "a directive": "%TAG ! tag:x\n---\nname: x\n",
    "an int of digits": "seed: " + "9" * 6000,
}  # fmt: skip


def _texts() -> Iterator[Case]:
    for name, text in TEXTS.items():
        yield text_case(f"text {name}", text)
