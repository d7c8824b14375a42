# SPDX-License-Identifier: GPL-2.0-only
"""A spec that comes back from disk is checked as if it had been written in YAML."""

import copy
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyorch import spec as specs
from pyorch.errors import SpecError
from pyorch.render import render_script
from pyorch.spec import files
from pyorch.spec.stored import checked
from pyorch.workload import flow_table

ROOT = Path(__file__).parents[2]
MORE = """
failures:
  - {type: scheduled, planes: [0], at: 5 us, duration: 2 us, every: 4 us, times: 2}
  - {type: random, what: fabric_links, mtbf: 1 ms, mttr: 1 ms, rate: 1 Gb/s}
trace: {sample: 1 us, nodes: [8], pcap: [3], snaplen: 128 B}
"""
#: Scenarios that between them have every kind of section.
CHANGES = {
    "leaf_spine": ("stop:", "stop:"),
    "fat_tree": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: fat_tree, tiers: 2, radix: 4, uplink_rate: 1 Tb/s}",
    ),
    "dumbbell": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: dumbbell, left: 4, right: 4}",
    ),
    "multi_site": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: multi_site, long_haul: [{between: [a, b], rate: 1 Tb/s, delay: 3 us}], sites:"
        " [{name: a, topology: {type: fat_tree, tiers: 2, radix: 4, uplink_rate: 1 Tb/s}},"
        " {name: b, topology: {type: dumbbell, left: 1, right: 2}, border_delay: 1 us}]}",
    ),
    "poisson": (
        "{type: permutation, message: 1 MB}",
        "[{type: poisson, load: 0.1, duration: 1 us, sizes: fb_hdp},"
        " {type: incast, senders: 2, message: 1 kB, transport: main}]",
    ),
    "a transport for each network": (
        "1 MB}",
        "1 MB, transport: {scale_up: main, scale_out: main, wide_area: main}}",
    ),
    "failures": ("stop: 20 ms", f"stop: 20 ms{MORE}"),
    "cut": ("buffer: 8 MB", "buffer: none, processing_delay: 5 ns, cut_through: 64 B"),
}


def resolved(small, name, variant="lossless"):
    old, new = CHANGES[name]
    text = small.text.replace(old, new).replace("workload.message: 10 kB", "stop: 19 ms")
    (run,) = small.plan(text, "smoke", variant=variant)
    return run.spec


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("variant", ["lossless", "windowed"])
def test_what_is_written_is_read_as_it_was(small, name, variant, tmp_path):
    if name == "poisson" and variant == "windowed":
        variant = "lossless"
    spec = resolved(small, name, variant)
    specs.write_resolved(spec, tmp_path / "spec.json")

    read = specs.read_spec(tmp_path / "spec.json")
    assert read == spec and read.plain() == spec.plain()
    assert specs.Spec.model_validate_json(json.dumps(spec.plain())).plain() == spec.plain()


def test_a_file_is_found_by_its_path_and_only_with_its_content(small, tmp_path, monkeypatch):
    (tmp_path / "flows.csv").write_text("src,dst,bytes\n0,1,1000\n")
    text = small.text.replace(
        "{type: permutation, message: 1 MB}", f"{{type: flow_table, file: {tmp_path}/flows.csv}}"
    ).replace("workload.message: 10 kB", "stop: 19 ms")
    (run,) = small.plan(text, "smoke", variant="lossless")
    specs.write_spec(run, tmp_path / "there" / "spec.json")

    assert specs.read_spec(tmp_path / "there" / "spec.json").workload == run.spec.workload
    (tmp_path / "flows.csv").write_text("src,dst,bytes\n0,1,1001\n")
    files._content.cache_clear()  # as in another process
    flow_table._read.cache_clear()
    with pytest.raises(SpecError, match="flows.csv: its content has changed"):
        specs.read_spec(tmp_path / "there" / "spec.json")


def places(value, path=()):
    """Yield the path of every value inside a spec."""
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


EVIL = "1\nimport pathlib; pathlib.Path('PWNED').touch()"
OTHERS = st.sampled_from(
    [EVIL, "", "20 ms", "\x00", "\ud800", None, True, [], {}, [1], {"a": 1}, -1, 0.5, 2**63, 1e300,
     "../../x", '"; import os', "{{ 7 * 7 }}", "a\u2028b", float("nan")]
)  # fmt: skip


@settings(max_examples=150,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_an_edited_spec_is_refused_in_one_line_or_renders_to_a_script_of_the_same_shape(
    small, data, tmp_path_factory
):
    name = data.draw(st.sampled_from(sorted(CHANGES)))
    spec = resolved(small, name).plain()
    path = data.draw(st.sampled_from([place for place in places(spec) if place]))
    edited = copy.deepcopy(spec)
    inner = edited
    for key in path[:-1]:
        inner = inner[key]
    if data.draw(st.booleans()) and isinstance(inner, dict):
        inner[data.draw(st.sampled_from([EVIL, "", "extra", "rate", "type", "__class__"]))] = 1
    else:
        inner[path[-1]] = data.draw(OTHERS)
    folder = tmp_path_factory.mktemp("edited")
    (folder / "spec.json").write_text(json.dumps(edited))
    try:
        read = specs.read_spec(folder / "spec.json")
    except SpecError as error:
        assert "\n" not in str(error) and str(error).startswith(f"{folder}/spec.json: ")
        return
    compile(render_script(read), "scenario.py", "exec")
    assert EVIL.splitlines()[1] not in render_script(read).splitlines()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "is a list, not a mapping of keys"), (b"3", "is a number, not a mapping"),
        (b"\xff\xfe", "not JSON"), (b"{", "not JSON: Expecting property name"),
        (b"[" * 100_000, "not JSON"), (b'{"seed": NaN}', "not JSON"), (b"", "not JSON"),
        (b"{}", "name: this key is missing"),
    ],
)  # fmt: skip
def test_what_is_no_spec_is_one_sentence(tmp_path, content, message):
    path = tmp_path / "spec.json"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=message) as found:
        specs.read_spec(path)
    assert str(found.value).startswith(f"{path}: ") and "\n" not in str(found.value)


def test_a_folder_a_pipe_and_a_device_are_no_spec(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero"), tmp_path / "none"):
        with pytest.raises(SpecError, match="is a folder|is a device or a pipe|cannot be read"):
            specs.read_spec(path)


def test_a_value_in_another_spelling_is_no_resolved_spec(small):
    spec = resolved(small, "leaf_spine").plain()
    with pytest.raises(SpecError, match="x: stop_ps: '20 ms' is not what a resolved spec holds"):
        checked(spec | {"stop_ps": "20 ms"}, "x")
    del spec["wire"]  # of an older version: what is newer gets its default
    assert checked(spec, "x").wire.framing_bytes == 20
