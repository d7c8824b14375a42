# SPDX-License-Identifier: GPL-2.0-only
"""Damaged files: what pyorch reads back of its own, and tables and files that others have made."""

import copy
import hashlib
import io
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import yaml
from malformed import MARK, Case
from malformed_scenarios import BASE, EVIL, leaves, with_value

from pyorch import spec, traces
from pyorch.spec.scenario import parse_scenario

NOT_FILES = {
    "a folder": Path.mkdir, "a pipe": os.mkfifo,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "itself": lambda path: path.symlink_to(path),
}  # fmt: skip
NOT_JSON = (b"", b"{", b"[]", b"5", b"null", b"\xff\xfe", b'{"a": NaN}', b"[" * 200_000,
            b'{"a": ' * 50_000, b"\x00" * 100, b'"text"', b"true", b"{} {}")  # fmt: skip


def cases() -> Iterator[Case]:
    """Yield every case."""
    yield from _specs()
    yield from _runs()
    yield from _tables()
    yield from _formats()


@cache
def resolved() -> dict:
    """Return the spec of a valid scenario as it is read from disk."""
    text = yaml.safe_dump(BASE, sort_keys=False)
    run = spec.plan(parse_scenario(text, "x.yaml"))[0]
    return run.spec.plain()


def _specs() -> Iterator[Case]:
    """Yield specs of which one value or key is not what pyorch writes."""

    def case(name: str, content: object, *says: str) -> Case:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        words = ("render", "s.json", "--out", ".")
        return Case(f"spec {name}", words, {"s.json": data}, ("s.json", *says))

    for number, content in enumerate(NOT_JSON):
        yield case(f"no JSON {number}", content)
    for path, value in leaves(resolved()):
        for number, wrong in enumerate(_wrong_for(value)):
            text_for_text = "attributes" in path and isinstance(value, str) and wrong == "../x"
            text_for_text |= "attributes" in path and wrong == 2**63
            if wrong == value or text_for_text:  # what a text means its module knows
                continue
            name = f"{'.'.join(map(str, path))} {number}"
            yield case(name, with_value(resolved(), path, wrong))
        if isinstance(value, dict) and path[-1] != "attributes":
            for key in ("extra", "rate", EVIL, "", "__class__"):
                yield case(
                    f"{path} with {key[:8]}", with_value(resolved(), path, {**value, key: 1})
                )
    for key in ("name", "topology", "link", "switch", "workload", "transport", "stop_ps"):
        less = copy.deepcopy(resolved())
        del less[key]
        yield case(f"without {key}", less)


def _wrong_for(value: object) -> tuple:
    """Return values of other kinds, and code."""
    code = f"1\nimport pathlib; pathlib.Path('{MARK}').touch()"
    if value is None:
        return (code, EVIL, [], {}, True, -1)
    if isinstance(value, bool):
        return (0, 1, "true", None, [], code)
    if isinstance(value, int | float):
        return (-1, "1", [], {}, True, code, EVIL, "1 ms", 1e300, 2**63)
    if isinstance(value, str):
        return (5, None, [], {}, True, "x\ny", code, "../x", "\ud800", "x" * 2000)
    return (5, "text", True, code) if isinstance(value, dict) else (5, "text", True, {}, [code])


@cache
def archive() -> bytes:
    """Return tables of a run as an archive."""
    memory = io.BytesIO()
    tables = {name: {column: np.zeros(2, dtype=np.int64) for column in traces.CONTRACTS[name]}
              for name in traces.ALWAYS}  # fmt: skip
    tables["flows"]["flow"] = np.arange(2)
    np.savez(memory, **{f"{t}.{c}": v for t, cs in tables.items() for c, v in cs.items()})
    return memory.getvalue()


def damaged(good: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield archives that are cut, flipped, empty or something else."""
    for share in (0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999):
        yield f"cut at {share}", good[: int(share * len(good))]
    for place in range(0, len(good), len(good) // 25):
        yield f"flipped at {place}", good[:place] + bytes([good[place] ^ 16]) + good[place + 1 :]
    yield "text", b"no archive"
    yield "of objects", _pickled()
    yield "one array", _saved(np.zeros(3))
    yield "of texts", _archived({"flows.flow": np.array(["a"])})
    yield "of matrices", _archived({"flows.flow": np.zeros((2, 2))})
    yield "of another name", _archived({"nothing.flow": np.zeros(2, dtype=np.int64)})
    yield "without a dot", _archived({"flows": np.zeros(2, dtype=np.int64)})


def _saved(array: np.ndarray) -> bytes:
    memory = io.BytesIO()
    np.save(memory, array)
    return memory.getvalue()


def _archived(arrays: dict) -> bytes:
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    return memory.getvalue()


class _Evil:
    def __reduce__(self):
        return (os.mkdir, (MARK,))


def _pickled() -> bytes:
    return _archived({"flows.flow": np.array([_Evil()], dtype=object)})


def _runs() -> Iterator[Case]:
    """Yield folders of runs of which one file is damaged."""
    good = archive()
    memory_digest = hashlib.sha256(good).hexdigest()
    manifest = {"raw_sha256": memory_digest, "tables": {name: {} for name in traces.ALWAYS}}

    def case(name: str, raw: object, said: object) -> Case:
        content = said if isinstance(said, bytes) or callable(said) else json.dumps(said)
        return Case(f"run {name}", ("traces", "r"), {"r/raw.npz": raw, "r/manifest.json": content},
                    ("r/",))  # fmt: skip

    for name, data in damaged(good):
        yield case(f"archive {name}", data, manifest)
        if "flipped" not in name:  # with a digest that fits, a flipped value is a value
            digest = hashlib.sha256(data).hexdigest()
            yield case(f"archive {name} with its digest", data, {**manifest, "raw_sha256": digest})
    for number, content in enumerate(NOT_JSON):
        yield case(f"manifest {number}", good, content)
    for wrong in (5, "x", None, [], {}, {"nothing": {}}, [1], EVIL):
        yield case(f"tables {wrong}", good, {**manifest, "tables": wrong}) if wrong != {} else case(
            "no digest", good, {"tables": {}})  # fmt: skip
        yield case(f"digest {wrong}", good, {**manifest, "raw_sha256": wrong})
    for name, make in NOT_FILES.items():
        yield case(f"archive is {name}", make, manifest)
        yield case(f"manifest is {name}", good, make)
    yield Case("run missing", ("traces", "nowhere"), {}, ("nowhere",))


HEADER = "src,dst,bytes\n"
FLOW_TABLES = {
    "empty": "", "no rows of columns": "\n", "another column": "src,dst,size\n0,1,1\n",
    "a column twice": "src,dst,bytes,src\n0,1,1,0\n", "one column less": "src,dst\n0,1\n",
    "text": HEADER + "a,b,c\n", "a fraction": HEADER + "0,1,1.5\n", "a gap": HEADER + "0,,1\n",
    "negative": HEADER + "0,1,-1\n", "zero": HEADER + "0,1,0\n", "to itself": HEADER + "0,0,1\n",
    "no such host": HEADER + "0,99,1\n", "a switch": HEADER + "0,8,1\n",
    "nan": HEADER + "0,1,nan\n",
    "too large": HEADER + "0,1,9223372036854775808\n", "hex": HEADER + "0,1,0x10\n",
    "open quote": HEADER + '0,1,"5\n', "uneven": HEADER + "0,1\n",
    "semicolons": "src;dst;bytes\n0;1;1\n",
    "late": "src,dst,bytes,start_ps\n0,1,1,20000000000\n",
    "early": "src,dst,bytes,start_ps\n0,1,1,-1\n",
    "one id twice": "src,dst,bytes,flow\n0,1,1,5\n1,0,1,5\n", "NUL": HEADER + "0,1,\x00\n",
    "unicode digit": HEADER + "0,1,\u0661\n", "formula": HEADER + '0,1,"=cmd|calc"\n',
    "wide": ",".join(f"c{n}" for n in range(100_000)) + "\n", "evil": HEADER + f"0,1,{EVIL}\n",
}  # fmt: skip
BINARY = {
    "random": bytes(range(256)) * 4, "gzip": b"\x1f\x8b" + bytes(99),
    "utf-16": "src,dst,bytes\n0,1,1\n".encode("utf-16"), "parquet cut": b"PAR1" + bytes(50),
}  # fmt: skip


def _with_file(kind: str, file: str, content: object, name: str, **more: object) -> Case:
    scenario = {**BASE, "workload": {"type": kind, "file": file, **more}}
    text = yaml.safe_dump(scenario, sort_keys=False)
    return Case(f"{kind} {name}", ("spec", "x.yaml"), {"x.yaml": text, file: content}, (file,))


def _tables() -> Iterator[Case]:
    for name, text in FLOW_TABLES.items():
        yield _with_file("flow_table", "f.csv", text, name)
    for name, data in BINARY.items():
        yield _with_file("flow_table", "f.csv", data, name)
        yield _with_file("flow_table", "f.parquet", data, f"{name} as parquet")
    for name, make in NOT_FILES.items():
        for kind, file in (("flow_table", "f.csv"), ("htsim_cm", "f.cm"), ("hpcc_flows", "f.txt")):
            yield _with_file(kind, file, make, name)
    yield _with_file("flow_table", "f.xlsx", b"PK", "another suffix")


CM = "Nodes 8\nConnections 1\n0->1 id 1 start 0 size 1000\n"
HPCC = "1\n0 1 3 100 1000 0\n"
TOPOLOGY = "5 1 4\n4\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n"


def _edits(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text with each of its words left out, or replaced by what can be no word there."""
    words = text.split(" ")
    for index, word in enumerate(words):
        for wrong in ("x", "-1x", "1e999999999", "9" * 40, EVIL):
            if wrong != word:
                yield f"{index} {wrong[:6]}", " ".join([*words[:index], wrong, *words[index + 1 :]])


def _formats() -> Iterator[Case]:
    for name, text in _edits(CM):
        yield _with_file("htsim_cm", "f.cm", text, name)
    for name, text in _edits(HPCC):
        yield _with_file("hpcc_flows", "f.txt", text, name)
    for name, text in _edits(TOPOLOGY):
        scenario = {**BASE, "topology": {"type": "from_file", "file": "t.txt"}}
        files = {"x.yaml": yaml.safe_dump(scenario, sort_keys=False), "t.txt": text}
        yield Case(f"topology {name}", ("spec", "x.yaml"), files, ("t.txt",))
    for kind, file, good in (("htsim_cm", "f.cm", CM), ("hpcc_flows", "f.txt", HPCC)):
        for name, data in {**BINARY, "empty": "", "cut": good[: len(good) // 2]}.items():
            yield _with_file(kind, file, data, name)
