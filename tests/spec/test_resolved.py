# SPDX-License-Identifier: GPL-2.0-only
"""A resolved spec is typed and frozen: what is misspelt or missing is said where it is read."""

import copy
import json
import re

import pytest
from pydantic import ValidationError

from pyorch import spec as specs
from pyorch.errors import SpecError
from pyorch.spec.resolved import Engine, Spec
from pyorch.topology import leaf_spine

SECTIONS = ["link", "wire", "switch", "switch.queue", "trace", "engine", "topology",
            "topology.params", "workload.0", "workload.0.params", "transport.0", ""]  # fmt: skip


def at(spec, path):
    for part in filter(None, path.split(".")):
        spec = spec[int(part)] if part.isdecimal() else getattr(spec, part)
    return spec


@pytest.mark.parametrize("path", SECTIONS)
def test_a_misspelt_name_is_an_attribute_error(small, path):
    section = at(small.plan()[0].spec, path)

    with pytest.raises(AttributeError, match="no attribute 'rate_bqs'"):
        _ = section.rate_bqs
    assert not hasattr(section, "__getitem__")


@pytest.mark.parametrize("path", SECTIONS)
def test_no_section_can_be_changed(small, path):
    section = at(small.plan()[0].spec, path)
    name = next(iter(dict(section)))

    with pytest.raises(ValidationError, match="frozen"):
        setattr(section, name, 1)
    assert isinstance(section.__pydantic_extra__ or {}, dict)


def test_parameters_are_those_of_the_plug_in_also_when_they_were_read(small, tmp_path):
    run = small.plan()[0]
    specs.write_spec(run, tmp_path / "spec.json")
    handed_on = Spec.model_validate_json(json.dumps(run.spec.plain()))

    for spec in (run.spec, specs.read_spec(tmp_path / "spec.json"), handed_on):
        assert type(spec.topology.params) is leaf_spine.Params
        assert spec.topology.module is leaf_spine
        assert spec.topology.counts() == leaf_spine.counts(run.spec.topology.params)
        assert spec == run.spec


def test_parts_of_a_plug_in_are_objects_again(small, tmp_path):
    rail = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1}
    nested = {"type": "rails", "devices": 2, "rail": rail,
              "scale_up": {"rate": "1 Tb/s", "delay": "1 ns"}}  # fmt: skip
    ring = {"type": "collective", "algorithm": "ring", "operation": "all_reduce", "ranks": 8,
            "bytes": "8 kB"}  # fmt: skip
    (run, *_) = small.plan(sets=[("topology", nested), ("workload", ring)], variant="windowed")
    handed_on = Spec.model_validate(run.spec.plain())

    assert handed_on == run.spec and handed_on.plain() == run.spec.plain()
    assert handed_on.topology.params.rail.params.hosts_per_leaf == 2
    assert handed_on.topology.params.scale_up.rate_bps == 10**12
    assert handed_on.workload[0].params.algorithm.module.__name__ == "pyorch.collective.ring"


def test_a_part_with_several_values_comes_back_as_it_was(small, tmp_path):
    # Caches of collectives have it as a key.
    algorithm = {"type": "double_tree", "local": 3, "children": [1, 2]}
    load = {"type": "collective", "operation": "all_reduce", "ranks": 6, "bytes": "1200 B"}
    (run, *_) = small.plan(sets=[("workload", load | {"algorithm": algorithm})], variant="windowed")
    again = Spec.model_validate(json.loads(json.dumps(run.spec.plain())))
    params = again.workload[0].params.algorithm.params
    assert params == run.spec.workload[0].params.algorithm.params
    assert hash(params) and params.children == (1, 2)


def test_what_is_the_default_of_the_engine_is_not_written(small):
    spec = small.plan()[0].spec

    assert "engine" not in spec.plain() and "jobs" not in spec.plain()
    skipped = spec.model_copy(update={"engine": Engine(skip_ppm=100)})
    assert skipped.plain()["engine"] == {"skip_ppm": 100}


@pytest.mark.parametrize(
    ("path", "key", "message"),
    [("link", "rate_bqs", "link.rate_bqs: there is no such key"),
     ("switch", "bufer_bytes", "switch.bufer_bytes: there is no such key"),
     ("workload.0", "mesage_bytes", "workload.0.mesage_bytes: there is no such key"),
     ("topology", "leafs", "topology.leafs: there is no such key"),
     ("", "links", "links: there is no such key")],
)  # fmt: skip
def test_a_key_that_is_unknown_in_a_stored_spec_is_refused(small, tmp_path, path, key, message):
    plain = small.plan()[0].spec.plain()
    inner = plain
    for part in filter(None, path.split(".")):
        inner = inner[int(part) if part.isdecimal() else part]
    inner[key] = 1
    refused(tmp_path, plain, message)


@pytest.mark.parametrize(
    ("path", "message"),
    [("link.rate_bps", "link.rate: this key is missing"),
     ("stop_ps", "stop: this key is missing"),
     ("topology.leaves", "topology.leaves: this key is missing"),
     ("workload.0.message_bytes", "workload.0.message: this key is missing"),
     ("transport.0.type", "transport.0.type: this key is missing")],
)  # fmt: skip
def test_a_key_that_is_missing_in_a_stored_spec_is_refused(small, tmp_path, path, message):
    plain = copy.deepcopy(small.plan()[0].spec.plain())
    inner, (*parts, last) = plain, path.split(".")
    for part in parts:
        inner = inner[int(part) if part.isdecimal() else part]
    del inner[last]
    refused(tmp_path, plain, message)


def refused(folder, plain, message):
    (folder / "spec.json").write_text(json.dumps(plain))
    with pytest.raises(SpecError, match=re.escape(message)) as caught:
        specs.read_spec(folder / "spec.json")
    assert "\n" not in str(caught.value)
