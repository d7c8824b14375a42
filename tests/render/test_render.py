# SPDX-License-Identifier: GPL-2.0-only
"""A rendered script is a readable program that says every type, attribute and number."""

import ast
import io
import tokenize
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pyorch import render, spec
from pyorch.errors import SpecError
from pyorch.spec.resolved import Workload
from pyorch.spec.scenario import parse_scenario

ROOT = Path(__file__).parents[2]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"


@pytest.fixture(scope="module")
def runs():
    file = spec.read_scenario(ROOT / "scenarios" / "figure_5.yaml")
    return {run.variant: run for run in spec.plan(file, "smoke", typeids_file=TYPEIDS)}


def test_every_variant_is_a_program_that_compiles_and_ends_in_main(runs):
    for run in runs.values():
        text = render.render_script(run.spec)
        tree = ast.parse(text)
        assert ast.unparse(tree.body[-1]).endswith("simulate.main(build)")
        assert text.endswith("simulate.main(build)\n") and "\t" not in text


def test_the_program_says_every_attribute_literally(runs):
    run = runs["rocev2"]
    text = render.render_script(run.spec)
    calls = {
        node.func.attr: [ast.literal_eval(argument) for argument in node.args]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in
        ("transport", "queue", "flow_control", "forwarding")
    }  # fmt: skip
    assert calls["transport"] == [*_typed(run.spec.transport[0])]
    assert calls["flow_control"] == [*_typed(run.spec.link.flow_control)]
    for role in ("queue", "forwarding"):
        assert calls[role] == [*_typed(getattr(run.spec.switch, role))]


def changed(section, **values):
    return section.model_copy(update=values)


def _typed(part):
    return part.type, part.attributes


def test_captures_are_said(runs):
    spec_of = runs["rocev2"].spec
    trace = spec_of.trace
    assert "capture" not in render.render_script(spec_of)

    spec_of = changed(spec_of, trace=changed(trace, pcap=(3, 70)))
    assert "    fabric.capture(3)  # host_3.pcap\n    fabric.capture(70)  # host_70.pcap\n" in (
        render.render_script(spec_of)
    )
    spec_of = changed(spec_of, trace=changed(trace, pcap=(3,), snaplen_bytes=128))
    assert "        snaplen_bytes=128,  # 128 B\n" in render.render_script(spec_of)


def test_every_constant_has_a_comment_with_its_unit_or_use(runs):
    text = render.render_script(runs["rocev2"].spec)
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    constants = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]

    assert len(constants) == 2
    assert all(node.lineno in comments for node in constants)
    assert "STOP_PS = 200_000_000_000  # 200 ms" in text


def test_no_flow_control_is_no_call(runs):
    assert "flow_control(" not in render.render_script(runs["sprayed"].spec)


def test_a_name_that_the_spec_has_not_is_an_error(runs, tmp_path):
    (tmp_path / "fabric.py.jinja").write_text("{{ run.no_such_thing }}")
    with pytest.raises(SpecError, match="has no attribute 'no_such_thing'; a resolved spec has it"):
        render.render_script(runs["rocev2"].spec, tmp_path)


def test_equal_tables_give_equal_bytes(runs, tmp_path):
    for name in ("a", "b"):
        render.write_tables(render.input_tables(runs["rocev2"].spec), tmp_path / name)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_tables_are_what_the_engine_reads(runs, tmp_path):
    render.write_tables(render.input_tables(runs["rocev2"].spec), tmp_path / "tables.npz")

    with np.load(tmp_path / "tables.npz") as archive:
        tables = {key: archive[key] for key in archive.files}
    assert {key for key in tables if key.startswith("flows.")} == {
        "flows.flow", "flows.src", "flows.dst", "flows.bytes", "flows.start_ps", "flows.transport"
    }  # fmt: skip
    assert tables["flows.flow"].tolist() == list(range(128))


def test_variants_of_one_seed_see_the_same_flows(runs):
    first, second = (
        render.input_tables(runs[v].spec)["flows"] for v in ("rocev2", "sprayed")
    )  # fmt: skip
    assert all((first[column] == second[column]).all() for column in first)


def test_no_entry_of_a_list_has_the_random_numbers_of_another_seed():
    # Two equal workloads and two seeds: four draws of a permutation of 64 hosts. That two of them
    # are alike by chance has a probability far below 10^-80.
    text = """
name: twice
topology: {type: leaf_spine, leaves: 8, hosts_per_leaf: 8, spines: 8}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: none}
workload: [{type: permutation, message: 1 kB}, {type: permutation, message: 1 kB}]
transport: {type: ns3::RoceTransport}
failures:
  - {type: random, what: links, mtbf: 1 ms, mttr: 1 ms}
  - {type: random, what: links, mtbf: 1 ms, mttr: 1 ms}
stop: 2 ms
sweep: {seed: [1, 2]}
"""
    draws = []
    for run in spec.plan(parse_scenario(text, "twice.yaml"), typeids_file=TYPEIDS):
        targets = render.input_tables(run.spec)["flows"]["dst"]
        draws += [tuple(targets[:64]), tuple(targets[64:])]
    assert len(set(draws)) == 4

    file = parse_scenario(text, "twice.yaml")
    changes = []
    for run in spec.plan(file, typeids_file=TYPEIDS):
        for failure in run.spec.failures:
            changes.append(changed(run.spec, failures=(failure,)))
    first, second = (render.input_tables(one)["link_events"]["time_ps"] for one in changes[::2])
    both = render.input_tables(changed(changes[0], failures=changes[0].failures * 2))
    assert not np.array_equal(first, second)
    # The second entry of seed 1 adds outages that are those of neither seed alone.
    assert set(both["link_events"]["time_ps"].tolist()) - set(first.tolist()) - set(second.tolist())


def test_cables_are_longer_by_a_uniform_time_of_their_own():
    text = """\
name: jitter
topology: {type: leaf_spine, leaves: 16, hosts_per_leaf: 16, spines: 16}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 1 kB}
transport: {type: ns3::RoceTransport}
stop: 1 ms
sweep: {link.jitter: [0 ns, 300 ns], seed: [1, 2]}
"""
    plain, _, first, second = (
        render.input_tables(run.spec)
        for run in spec.plan(parse_scenario(text, "jitter.yaml"), typeids_file=TYPEIDS)
    )
    longer = [tables["links"]["delay_ps"] - 500_000 for tables in (first, second)]

    assert set(plain["links"]["delay_ps"]) == {500_000}
    assert not np.array_equal(*longer)
    for more in longer:
        assert len(more) == 512 and more.min() >= 0 and more.max() <= 300_000
        assert stats.kstest(more / 300_000, "uniform").pvalue > 1e-4
    assert np.array_equal(plain["flows"]["dst"], first["flows"]["dst"])


CLASSES = """\
name: classes
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 1}
link:
  rate: 100 Gb/s
  delay: 1 us
  flow_control: {type: ns3::Pfc}
  classes:
    - {tiers: [1, 2], flow_control: none, loss_model: {type: ns3::BitErrors}}
    - {tiers: [0, 1], loss_model: {type: ns3::IndependentLoss}}
switch:
  buffer: 8 MB
  classes:
    - {tiers: [2], buffer: 1 GB, queue: {type: ns3::RedEcn}}
    - {tiers: [1], forwarding: {type: ns3::RandomSpray}}
workload: {type: single, message: 1 kB}
transport: {type: ns3::RoceTransport}
stop: 1 ms
"""


def test_each_class_of_links_and_switches_is_a_call(tmp_path):
    (run,) = spec.plan(parse_scenario(CLASSES, "classes.yaml"), "laptop", typeids_file=TYPEIDS)
    calls = [
        node for node in ast.walk(ast.parse(render.render_script(run.spec)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]  # fmt: skip
    found = {
        (call.func.attr, ast.literal_eval(call.args[0]), ast.literal_eval(key.value))
        for call in calls for key in call.keywords if key.arg in ("link_class", "node_class")
        if call.args
    }  # fmt: skip
    switches = [
        {key.arg: ast.literal_eval(key.value) for key in call.keywords}
        for call in calls if call.func.attr == "switch"
    ]  # fmt: skip

    links = [ast.literal_eval(c.args[0]) for c in calls if c.func.attr == "link_class"]
    assert links == [1, 2]
    assert [its.get("node_class", 0) for its in switches] == [0, 1, 2]
    assert [its["buffer_bytes"] for its in switches] == [8_000_000, 10**9, 8_000_000]
    assert found == {
        ("loss_model", "ns3::BitErrors", 1), ("flow_control", "ns3::Pfc", 2),
        ("loss_model", "ns3::IndependentLoss", 2),
        ("queue", "ns3::RedEcn", 1), ("forwarding", "ns3::EcmpHash", 1),
        ("queue", "ns3::DropTail", 2), ("forwarding", "ns3::RandomSpray", 2),
    }  # fmt: skip


def test_a_run_of_no_flow_is_refused_before_it_is_simulated(tmp_path, runs):
    rare = {"type": "poisson", "load": 1e-9, "duration_ps": 1000, "sizes": "fb_hdp",
            "sizes_file": None, "points": [[0, 0.0], [1000, 1.0]], "transport": 0}  # fmt: skip
    rare = Workload.model_validate(rare)
    with pytest.raises(SpecError, match="no flow with seed 7. Raise load or duration"):
        render.write_run(changed(runs["rocev2"].spec, seed=7, workload=(rare,)), tmp_path)
