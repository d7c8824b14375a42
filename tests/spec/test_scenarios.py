# SPDX-License-Identifier: GPL-2.0-only
"""A scenario becomes runs that are named by what decides their result, and by nothing else."""

import json
from pathlib import Path

import pytest
import yaml

from pyorch.errors import SpecError
from pyorch.spec import resolve, typeids

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"


def test_runs_are_the_product_of_variants_and_sweep_in_the_order_of_the_file(small):
    runs = small.plan()

    assert [(run.variant, run.label, run.seed) for run in runs] == [
        ("lossless", "With PFC", 1), ("lossless", "With PFC", 2),
        ("windowed", "windowed", 1), ("windowed", "windowed", 2),
    ]  # fmt: skip
    assert all(run.id.startswith(f"s{run.seed}-") and len(run.id) == 13 for run in runs)


def test_a_comment_or_another_label_changes_no_name(small):
    changed = small.text.replace("# Question", "# Another question").replace("With PFC", "Lossless")

    assert small.ids(changed) == small.ids()


def test_one_more_seed_adds_only_its_own_runs(small):
    more = small.ids(small.text.replace("[1, 2]", "[1, 2, 3]"))

    assert set(small.ids()) < set(more)
    assert sorted(set(more) - set(small.ids()))[0].startswith("s3-")
    assert len(more) == len(small.ids()) + 2


@pytest.mark.parametrize(
    ("old", "new"),
    [("800 Gb/s", "400 Gb/s"), ("500 ns", "501 ns"), ("leaves: 4", "leaves: 5"),
     ("8 MB", "9 MB"), ("20 ms", "21 ms"), ("message: 1 MB", "message: 2 MB")],
)  # fmt: skip
def test_whatever_decides_the_result_changes_every_name(small, old, new):
    assert not set(small.ids(small.text.replace(old, new))) & set(small.ids())


def test_the_same_quantity_in_another_unit_is_the_same_run(small):
    assert (
        small.ids(small.text.replace("1 MB", "1000 kB").replace("500 ns", "0.5 us")) == small.ids()
    )


def test_the_template_is_part_of_the_name(small, tmp_path):
    for name in ("base", "fabric"):
        (tmp_path / f"{name}.py.jinja").write_text("x")
    assert not set(small.ids(templates=tmp_path)) & set(small.ids())


def test_a_resolved_spec_is_json_of_integers_with_units_and_no_gaps(small):
    run = small.plan()[2]

    assert json.loads(json.dumps(run.spec.plain())) == run.spec.plain()
    link = {
        "rate_bps": 800 * 10**9, "delay_ps": 500_000, "jitter_ps": 0, "loss_ratio": 0.0,
        "bit_error_ratio": 0.0, "flow_control": None, "loss_model": None, "classes": [],
    }  # fmt: skip
    assert run.spec.plain()["link"] == link
    assert run.spec.plain()["wire"] == {"framing_bytes": 20}
    assert run.spec.topology.params.uplink_rate_bps == 800 * 10**9
    attributes = run.spec.transport[0].attributes
    assert (attributes["WindowBytes"], attributes["Rto"]) == (430_000, "320us")
    assert attributes["MtuBytes"] == 4096  # the default of ns-3's registry is settled too


def test_overrides_win_in_the_order_scale_variant_sweep_set(small):
    smoke = small.plan(scale="smoke")
    assert [run.seed for run in smoke] == [1, 1]
    assert smoke[0].spec.workload[0].params.message_bytes == 10_000
    assert small.plan(scale="paper")[0].spec.topology.params.leaves == 16
    fixed = small.plan(sets=[("seed", 9), ("workload.message", "3 kB")])
    assert [run.seed for run in fixed] == [9, 9]
    assert fixed[0].spec.workload[0].params.message_bytes == 3_000


def test_a_scale_may_leave_only_some_variants(small):
    text = small.text.replace("smoke: {", "smoke: {variants: [windowed], ")

    assert [run.variant for run in small.plan(text, "smoke")] == ["windowed"]
    assert small.ids(text, "smoke") == small.ids(scale="smoke")[1:]
    assert small.ids(text) == small.ids()


def test_flow_control_none_is_none(small):
    assert small.plan(sets=[("link.flow_control", "none")])[0].spec.link.flow_control is None
    text = small.text.replace("delay: 500 ns}", "delay: 500 ns, flow_control: none}")
    assert small.plan(text)[2].spec.link.flow_control is None


def test_none_in_a_class_is_none_and_nothing_is_as_elsewhere(small):
    kinds = {
        "flow_control": "{type: ns3::Pfc, attributes: {XoffBytes: 50 kB}}",
        "loss_model": "{type: ns3::GilbertElliott}",
    }
    sets = [(f"link.{role}", yaml.safe_load(typed)) for role, typed in kinds.items()]
    sets.append(("link.classes", [{"tiers": [1, 2]}]))
    for role in kinds:
        for value, is_there in (("none", False), (None, True)):
            more = [*sets, (f"link.classes.0.{role}", value)]
            (its,) = small.plan(sets=more, variant="windowed")[0].spec.link.classes
            assert (getattr(its, role) is not None) == is_there


def test_a_section_that_is_none_is_left_out(small):
    keys = ["link.loss_model", "link.classes", "switch.programs", "switch.classes", "failures",
            "trace", "jobs"]  # fmt: skip
    written = small.text.replace("delay: 500 ns}", "delay: 500 ns, loss_model: none}").replace(
        "buffer: 8 MB}", "buffer: 8 MB, programs: none}\nfailures: none\ntrace: none"
    )
    assert small.ids(sets=[(key, "none") for key in keys]) == small.ids(written) == small.ids()
    failing = small.text.replace(
        "stop:", "failures: [{type: scheduled, planes: [0], at: 1 us}]\nstop:"
    )
    assert small.ids(failing) != small.ids()
    without = failing.replace("  lossless:\n", "  lossless:\n    failures: none\n")
    assert small.ids(without)[:2] == small.ids()[:2]


def test_several_workloads_and_transports_refer_to_each_other_by_name(small):
    text = small.text.partition("variants:")[0].replace(
        "workload: {type: permutation, message: 1 MB}",
        "workload:\n  - {type: permutation, message: 1 MB, transport: bulk}\n"
        "  - {type: single, message: 1 kB, transport: small}",
    ).replace(
        "transport: {type: ns3::RoceTransport}",
        "transport:\n  - {name: small, type: ns3::RoceTransport}\n"
        "  - {name: bulk, type: ns3::SprayTransport}",
    )  # fmt: skip
    run = small.plan(text)[0]

    assert [load.transport for load in run.spec.workload] == [1, 0]


def test_a_thousand_runs_have_a_thousand_names(small):
    runs = small.plan(sets=[("sweep.seed", list(range(1, 501)))])

    assert len({run.id for run in runs}) == 1000


def test_the_template_that_all_extend_is_part_of_every_name(small, tmp_path):
    (tmp_path / "base.py.jinja").write_text("# 1")
    (tmp_path / "fabric.py.jinja").write_text("# 1")
    before = small.ids(templates=tmp_path)
    (tmp_path / "base.py.jinja").write_text("# 2")

    assert not set(before) & set(small.ids(templates=tmp_path))


def test_a_network_may_have_as_many_links_as_the_limit_says_and_not_one_more(small, monkeypatch):
    # 4 leaves with 2 hosts and 2 spines each: 8 + 8 links.
    monkeypatch.setattr(resolve, "MOST_LINKS", 16)
    assert len(small.plan()) == 4
    monkeypatch.setattr(resolve, "MOST_LINKS", 15)
    with pytest.raises(SpecError, match="topology.type: 16 links in all; there may be 15"):
        small.plan()


@pytest.mark.parametrize(("index", "fits"), [(0, True), (1, False), (2, False)])
def test_an_element_of_a_list_is_named_from_0_to_one_less_than_its_length(small, index, fits):
    sets = [(f"workload.{index}.message", "2 kB")]
    if fits:
        assert small.plan(sets=sets)[0].spec.workload[0].params.message_bytes == 2000
    else:
        with pytest.raises(SpecError, match=f"workload.{index}: workload is a list of 1; name an"):
            small.plan(sets=sets)


def test_the_ends_of_a_range_are_in_it():
    attribute = {"name": "Priority", "type": "ns3::UintegerValue", "range": "uint8_t 1:7"}

    assert [typeids.check_value(attribute, end) for end in (1, 7)] == [1, 7]
    for beyond in (0, 8):
        with pytest.raises(ValueError, match="is out of range; it must be"):
            typeids.check_value(attribute, beyond)


def test_an_attribute_in_bytes_or_bits_per_second_may_have_a_unit(small):
    # RedEcn has both from DropTail, from which it is derived.
    queue = "queue: {type: ns3::RedEcn, attributes: {LimitBytes: 1 MB, ReferenceRateBps: 100 Gb/s}}"
    text = small.text.replace("buffer: 8 MB", "buffer: 8 MB, " + queue)
    attributes = small.plan(text)[0].spec.switch.queue.attributes

    assert (attributes["LimitBytes"], attributes["ReferenceRateBps"]) == (10**6, 10**11)
