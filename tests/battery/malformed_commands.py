# SPDX-License-Identifier: GPL-2.0-only
"""Malformed command lines: words, options, assignments and names that nothing can be done with."""

import os
from collections.abc import Iterator
from pathlib import Path

import yaml
from malformed import Case
from malformed_scenarios import BASE, EVIL

GOOD = {"x.yaml": yaml.safe_dump(BASE, sort_keys=False)}
NOT_TEXT = "\udcff"
#: What each word may not be: numbers, choices, names, files.
NUMBERS = ("x", "", "1.5", "0x10", "1e3", "1__0", "1 0", "\u0bf0", "nan", EVIL, "9" * 5000)
RATES = ("", "5", "5 parsec", "-1 Gb/s", "nan Gb/s", "0 Gb/s", "1 GB", EVIL, "9" * 3000 + " Gb/s")
NAMES = ("nowhere", "", "../x", "a/b", "x y", "x" * 300, EVIL, "a\nb", "os", "_hosts", "\u202e")


def cases() -> Iterator[Case]:
    """Yield every case."""
    yield from _words()
    yield from _assignments()
    yield from _files()
    yield from _theory()


def _case(name: str, *words: str, says: tuple[str, ...] = (), files: dict | None = None) -> Case:
    return Case(f"command {name}", words, GOOD if files is None else files, says)


def _words() -> Iterator[Case]:
    for word in ("nope", "--bogus", "-x", "Run", "spec ", "\u202e", "x" * 5000, EVIL, "list\nx"):
        yield _case(f"first {word[:10]}", word)
    for command in ("run", "spec", "export", "render", "simulate", "traces", "metrics", "list"):
        if command != "list":  # which lists its kinds
            yield _case(f"{command} without", command)
        yield _case(f"{command} with more", command, *["x.yaml"] * 5)
        yield _case(f"{command} unknown option", command, "x.yaml", "--bogus", says=("--bogus",))
    for name in NAMES:
        if name:
            yield _case(f"list {name[:9]}", "list", name)
        yield _case(f"metric {name[:9]}", "metrics", name, "x.yaml", "--out", "m.csv")
        yield _case(f"export {name[:9]}", "export", name, "x.yaml", "--out", "o")
        yield _case(f"transport {name[:9]}", "new", "transport", name) if name not in (
            "nowhere", "os") else _case(f"new {name}", "new", name, name)  # fmt: skip
        yield _case(f"theory {name[:9]}", "theory", name)
        yield _case(f"variant {name[:9]}", "spec", "x.yaml", "--run", name, "--out", "s.json")
        for command in (("spec",), ("run",), ("export", "hpcc")):
            out = ("--out", "o") if command[0] == "export" else ()
            yield _case(f"{command} scale {name[:9]}", *command, "x.yaml", "--scale", name, *out)
    for number in NUMBERS:
        yield _case(f"seed {number[:9]}", "run", "x.yaml", "--seed", number, says=("--seed",))
    for number in ("0", "-1", str(2**63), "9" * 4000):
        yield _case(f"seed {number[:9]} out of range", "run", "x.yaml", "--seed", number)
    yield _case("option without value", "spec", "x.yaml", "--scale")
    yield _case("run without out", "spec", "x.yaml", "--run", "s1-0123456789")


def _assignments() -> Iterator[Case]:
    wrong = (
        "", "=", "x", "=1", "link.rate", "nothing=1", "link.nothing=1", "link.rate=5",
        "link.rate=[", "link.rate={", "link.rate=!!python/name:os.system", "link.rate=&a [*a]",
        "link.rate.x=1", "link..rate=1 Gb/s", ".=1", "..=1", "link.=1", "workload.7.message=1 B",
        "workload.1.message=1 B", "workload.-1.message=1 B", "topology=5", "topology=[]",
        "topology.type=nowhere", "topology.type=../x", "seed=0", "seed=x", "seed=1.5", "seed=.nan",
        "stop=0 s", "stop=1 ms\nname: x", "name=a b", "name=", "sweep.sweep.seed=[1]",
        "sweep.seed=5", "sweep.seed=[]", "scales.smoke={}", "variants.a=5", "variants.a.name=x",
        "transport.attributes.Nothing=1", "transport.attributes.Priority=9",
        'transport.attributes.PathSelector="a\\nb"', f"link.rate={EVIL}", f"{EVIL}=1",
        "x" * 9000 + "=1",
        "seed=" + "[" * 5000, "seed=" + "9" * 6000, "template=nowhere", "template=../../x",
        "template=base", "switch.buffer=0 B", "workload.message=9223372036854775807 B",
        "topology.leaves=1048577", "trace.nodes=[999]", "trace.pcap=[8]", "trace.snaplen=0 B",
    )  # fmt: skip
    for text in wrong:
        yield _case(f"set {text[:31]}", "spec", "x.yaml", "--set", text)


def _files() -> Iterator[Case]:
    kinds = {
        "missing": {}, "a folder": {"x.yaml": Path.mkdir}, "a pipe": {"x.yaml": os.mkfifo},
        "zeros": {"x.yaml": lambda path: path.symlink_to("/dev/zero")},
        "random": {"x.yaml": lambda path: path.symlink_to("/dev/random")},
        "itself": {"x.yaml": lambda path: path.symlink_to(path)},
        "nowhere": {"x.yaml": lambda path: path.symlink_to("/nowhere/x")},
        "terabytes": {"x.yaml": _sparse},
    }  # fmt: skip
    commands = {
        "spec": ("spec", "x.yaml"), "run": ("run", "x.yaml"), "render": ("render", "x.yaml"),
        "export": ("export", "hpcc", "x.yaml", "--out", "o"),
        "metrics": ("metrics", "fct", "x.yaml", "--out", "m.csv"),
        "preset": ("theory", "stages", "--preset", "x.yaml"),
    }  # fmt: skip
    for kind, files in kinds.items():
        for name, words in commands.items():
            yield _case(f"{name} of {kind}", *words, says=("x.yaml",), files=files)
    for name in ("", ".", "/", "/proc/self/mem", "a\nb.yaml", "a\u2028b.yaml", "x" * 300 + ".yaml",
                 "\u202eb.yaml", EVIL, NOT_TEXT, "a/../../b.yaml"):  # fmt: skip
        yield _case(f"file called {name[:9]!a}", "spec", name)
        yield _case(f"spec called {name[:9]!a}", "render", name)
    for out in ("/proc/x/y", "x.yaml", "x.yaml/below", "/dev/null/x", "o" * 300):
        yield _case(f"out to {out[:9]}", "run", "x.yaml", "--out", out)
        yield _case(f"table to {out[:9]}", "export", "hpcc", "x.yaml", "--out", out)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


def _theory() -> Iterator[Case]:
    for number in NUMBERS:
        for command, option in (("permutation", "--hosts"), ("permutation", "--seeds"),
                                ("topology", "--radix"), ("collisions", "--leaves")):  # fmt: skip
            yield _case(f"{command} {option} {number[:9]}", "theory", command, option, number)
    for command, option, numbers in (
        ("permutation", "--hosts", ("0", "-8", "3", "200000000", str(2**70))),
        ("permutation", "--seeds", ("0", "-1", "1000000000")),
        ("topology", "--planes", ("0", "-1")), ("topology", "--rails", ("0",)),
        ("topology", "--hosts", ("0", "-1")), ("topology", "--radix", ("0", "1", "-4")),
        ("collisions", "--leaves", ("0", "1", "-1")),
        ("collisions", "--hosts-per-leaf", ("0", "100000000")),
        ("collisions", "--spines", ("0", "100000000")),
        ("exposed", "--retransmissions", ("-1", "nan", "inf", "1e308", "x")),
        ("exposed", "--inflate", ("", "x", "pipeline", "pipeline=", "pipeline=0", "pipeline=nan",
                                  "pipeline=inf", "nowhere=2", EVIL)),
        ("exposed", "--scale-out", RATES), ("exposed", "--wan", RATES),
        ("inference", "--port", RATES),
        ("exposed", "--wan-model", NAMES), ("exposed", "--pooling", NAMES),
        ("exposed", "--preset", NAMES), ("stages", "--preset", NAMES),
        ("memory", "--preset", NAMES),
        ("scaling", "--days", ("0", "-1", "nan", "inf", "x")),
        ("traffic", "--all-reduce", NAMES), ("traffic", "--format", NAMES),
        ("stages", "--set", ("", "x", "model.layers=x", "model.layers=-1", "nothing=1", "a.b.c=1",
                             "model=5", "model.layers=[",
                             EVIL)),
    ):  # fmt: skip
        for number in numbers:
            yield _case(f"{command} {option} {number[:15]}", "theory", command, option, number)
