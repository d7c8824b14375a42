# SPDX-License-Identifier: GPL-2.0-only
"""A thousand inputs made of what is shipped: its words exchanged, doubled, lost, or malicious.

Unlike the malformed ones nobody has said what is wrong with them, and some are right. So only this
is asked: nothing is executed, the command ends soon and with 0, 1 or 2, and a refusal is one line.
"""

import random
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from malformed import MARK, MOST_BYTES, MOST_CPU_S, Case, Outcome

ROOT = Path(__file__).parents[2]
SEED = 20261123
#: How many of each kind.
COUNTS = {"scenario": 450, "preset": 150, "table": 150, "command": 250}
#: What executes where somebody hands text on to Python, a shell, a template or a spreadsheet.
MALICE = (
    f'!!python/object/apply:os.mkdir ["{MARK}"]', f"$(mkdir {MARK})", f"`mkdir {MARK}`",
    f"; mkdir {MARK} ;", "{{ ''.__class__.__mro__[1].__subclasses__() }}", f"' + mkdir {MARK}",
    f"__import__('os').mkdir('{MARK}')", f"=cmd|'mkdir {MARK}'!A1", f"\"); mkdir('{MARK}') #",
)  # fmt: skip
NASTY = (
    "", "0", "-1", "1e308", "nan", ".inf", "9" * 30, "0x7fffffffffffffff", "null", "~", "true",
    "[]", "{}", "[[[[]]]]", "&a [*a]", "*nothing", "<<", "!!binary aGk=", "2001-01-01", "1:30",
    "\u0661\u0662", "a\u202eb", "\x1b[31m", "\x00", "\ufeff", "..", "/dev/zero", "/", "~/x", "%s",
    "x" * 5000, "1 PB", "1e400 s", "-0 ns", "1 fs", "ns3::", "ns3::Node", "none",
)  # fmt: skip
#: Work of many seconds, and meant to be: a step at full size, a network in the fluid engine.
_LONG = (
    "theory step",
    "theory golden",
    "design dense-100t",
    "design llama3-405b --exposed 10% --packets",
)
_TOKEN = re.compile(r"[A-Za-z_][\w.:]*|[\d.]+|\s+|[^\w\s]")


def _texts(*patterns: str) -> list[str]:
    found = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    assert found
    return [path.read_text() for path in found]


@cache
def shipped() -> dict[str, list[str]]:
    """Return what is shipped of each kind, as text."""
    pages = "\n".join(_texts("README.md", "docs/*.md"))
    commands = re.findall(r"^ *pyorch ([a-z][^\n#>|&$]*)", pages, re.M)
    looking = ("list", "theory", "design", "results", "compare", "plot", "export", "topology")
    return {
        "scenario": _texts("scenarios/*.yaml", "docs/gallery/scenarios/*.yaml"),
        "preset": _texts("pyorch/theory/presets/*.yaml"),
        "table": _texts("tests/data/htsim/single*.cm", "tests/data/htsim/ft128_100.topo"),
        "command": sorted(
            {
                line.strip()
                for line in commands
                if line.split()[0] in looking and not line.startswith(_LONG)
            }
        ),
    }


def cases(seed: int = SEED) -> Iterator[Case]:
    """Yield every case; each depends on the seed, its kind and its number alone."""
    for kind, count in COUNTS.items():
        for number in range(count):
            draw = random.Random(f"{seed} {kind} {number}")
            text = draw.choice(shipped()[kind])
            for _ in range(draw.choice((1, 1, 2, 4))):
                text = draw.choice(_EDITS)(text, draw, shipped()[kind])
            yield _case(kind, number, text)


def _case(kind: str, number: int, text: str) -> Case:
    name = f"mutated {kind} {number}"
    data = text.encode(errors="surrogatepass")
    if kind == "scenario":
        return Case(name, ("spec", "x.yaml", "--scale", "smoke"), {"x.yaml": data})
    if kind == "preset":
        words = ("theory", "exposed", "--preset", "p.yaml", "--scale-out", "1600Gb/s")
        return Case(name, words, {"p.yaml": data})
    if kind == "table":
        file = "f.topo" if "Tiers" in text else "f.cm"
        scenario = _WITH_TOPOLOGY if file == "f.topo" else _WITH_FLOWS
        return Case(name, ("spec", "x.yaml"), {"x.yaml": scenario, file: data})
    try:
        words = tuple(shlex.split(text.replace("\x00", "")))
    except ValueError:
        words = tuple(text.replace("\x00", "").split())
    scenario = shipped()["scenario"][number % len(shipped()["scenario"])]
    return Case(name, words or ("spec",), {"scenarios/figure_5.yaml": scenario})


_REST = """\
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
_WITH_FLOWS = f"""\
name: x
topology: {{type: fat_tree, k: 8}}
workload: {{type: htsim_cm, file: f.cm}}
{_REST}"""
_WITH_TOPOLOGY = f"""\
name: x
topology: {{type: from_file, format: htsim, file: f.topo}}
workload: {{type: permutation, message: 1 MB}}
{_REST}"""


def _exchanged(text: str, draw: random.Random, others: list[str]) -> str:
    """A word for one of its sort of any file of this kind."""
    tokens = _TOKEN.findall(text) or [""]
    index = draw.randrange(len(tokens))
    sort = _sort(tokens[index])
    offered = [token for token in _TOKEN.findall(draw.choice(others)) if _sort(token) == sort]
    tokens[index] = draw.choice(offered or NASTY)
    return "".join(tokens)


def _sort(token: str) -> str:
    return "space" if token.isspace() else "number" if token[:1].isdigit() else (
        "word" if token[:1].isalpha() else token)  # fmt: skip


def _replaced(text: str, draw: random.Random, _others: list[str]) -> str:
    """A word for something nasty or malicious."""
    tokens = [*_TOKEN.findall(text), ""]
    words = [index for index, token in enumerate(tokens) if not token.isspace()]
    tokens[draw.choice(words)] = draw.choice(draw.choice((NASTY, MALICE)))
    return "".join(tokens)


def _line_of_another(text: str, draw: random.Random, others: list[str]) -> str:
    lines = [*text.splitlines(keepends=True), ""]
    place = draw.randrange(len(lines))
    other = draw.choice(others).splitlines(keepends=True)
    return "".join([*lines[:place], draw.choice(other), *lines[place:]])


def _without_a_line(text: str, draw: random.Random, _others: list[str]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    lines.pop(draw.randrange(len(lines)))
    return "".join(lines)


def _indented(text: str, draw: random.Random, _others: list[str]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    place = draw.randrange(len(lines))
    lines[place] = draw.choice((" ", "  ", "\t", "- ")) + lines[place]
    return "".join(lines)


def _without_a_word(text: str, draw: random.Random, _others: list[str]) -> str:
    tokens = _TOKEN.findall(text) or [""]
    tokens.pop(draw.randrange(len(tokens)))
    return "".join(tokens)


def _doubled(text: str, draw: random.Random, _others: list[str]) -> str:
    tokens = _TOKEN.findall(text) or [""]
    index = draw.randrange(len(tokens))
    return "".join([*tokens[:index], *tokens[index : index + draw.randint(1, 9)], *tokens[index:]])


def _cut(text: str, draw: random.Random, _others: list[str]) -> str:
    return text[: draw.randrange(len(text) + 1)]


_EDITS = (
    _exchanged, _exchanged, _replaced, _replaced, _line_of_another, _without_a_line, _indented,
    _without_a_word, _doubled, _cut,
)  # fmt: skip


def simulated(case: Case) -> Case:
    """Return a scenario that was accepted as a run of its first point."""
    return replace(case, words=("run", *case.words[1:], "--out", "run"))


def only_the_engine_refuses(outcome: Outcome) -> bool:
    """Return whether a run was started and refused by the process that simulates.

    A run that has simulated some time was taken; the limit of CPU time ends those that are long.
    """
    taken = ("aborted at", "not finish", " simulated, ")
    return outcome.status == 1 and "scenario.py: " in outcome.said and not any(
        words in outcome.said for words in taken)  # fmt: skip


def fault(case: Case, outcome: Outcome) -> str:
    """Return what is wrong with an outcome; nothing if all is as it should be."""
    # Which of several runs a command has taken is said before it looks at that run.
    lines = [x for x in outcome.said.strip().splitlines() if " runs of this choice at " not in x]
    if any(MARK in path for path in outcome.left):
        return f"it was executed: {outcome.left}"
    if outcome.status not in (0, 1, 2) or "Traceback" in outcome.said:
        return f"status {outcome.status}: {outcome.said[-1500:]}"
    if outcome.status and len(lines) != 1 and "Usage: " not in outcome.said:
        return f"refused in {len(lines)} lines: {outcome.said[-600:]}"
    if outcome.status and outcome.left:
        return f"refused, and it left {outcome.left}"
    if outcome.cpu_s > MOST_CPU_S:
        return f"took {outcome.cpu_s:.1f} s of CPU"
    if outcome.peak_bytes > MOST_BYTES:
        return f"took {outcome.peak_bytes / 1e6:.0f} MB"
    return ""
