# SPDX-License-Identifier: GPL-2.0-only
"""A smaller step keeps its groups, and says when its messages have become too short."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.runs.remarks import remarks
from pyorch.spec.scenario import parse_scenario
from pyorch.spec.stored import checked
from pyorch.theory import preset

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
PRESETS = Path(preset.__file__).parent / "presets"
PACKET_BYTES = 4096


def planned(**load):
    load = {"preset": "llama3-8b", "members": 8, "peers": 2, **load}
    scenario = {
        "name": "step",
        "topology": {"type": "rails", "devices": 8, "rail": {"type": "star", "hosts": 2},
                     "scale_up": {"rate": "3.6 Tb/s", "delay": "10 ns"}},
        "link": {"rate": "400 Gb/s", "delay": "50 ns"},
        "switch": {"buffer": "none"},
        "workload": {"type": "training", **load},
        "transport": {"type": "ns3::RoceTransport"},
        "stop": "1 s",
    }  # fmt: skip
    return list(spec.plan(parse_scenario(json.dumps(scenario), "step.yaml"), typeids_file=TYPEIDS))


def changed(folder, name, *changes):
    """Return a copy of one of our presets, in which each key has another value."""
    text = (PRESETS / f"{name}.yaml").read_text()
    for key, value in changes:
        text, times = re.subn(rf"\b{key}: [^,}}\n#]+", f"{key}: {value}", text)
        assert times == 1, key
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return str(path)


#: Llama 3 70B by hand: FLOP of a layer and micro-batch, of which the products of attention are done
#: twice (`recompute: selective`); and of the output embedding, which is on the last stage alone.
LAYER_FLOP = 2 * 8192 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672) + 2 * 4 * 8192**2 * 8192
HEAD_FLOP = 2 * 8192 * 8192 * 128_256
#: Of a tensor-parallel group of 8.
FLOP_PER_S = 8 * 0.5676 * 989e12


@pytest.mark.parametrize("of_preset", ["steady", "1f1b", "gpipe"])
@pytest.mark.parametrize(
    "load",
    [
        {"schedule": "steady"},
        {"schedule": "1f1b", "micro_batches": 4},
        {"schedule": "interleaved", "micro_batches": 4, "model_chunks": 5},
        {},
    ],
    ids=str,
)
def test_a_step_has_the_output_embedding_if_its_schedule_has_a_last_stage(
    of_preset, load, tmp_path
):
    # A steady step has a stage in the middle, whatever the preset would have. Else the last of 8
    # stages of 10 layers is the slowest.
    name = changed(tmp_path, "llama3-70b", ("schedule", of_preset), ("memory", "800 GB"))
    shape = {"stages": 2, "peers": 1, "members": 1, "tensor": 8, "layers": 2, "divide": 10}
    (run,) = planned(**load, **shape, preset=name)

    found = run.spec.workload[0].params.amounts
    is_steady = load.get("schedule", of_preset) == "steady"
    flop = LAYER_FLOP + (0 if is_steady else HEAD_FLOP / 10)
    assert found["forward_ps"] == pytest.approx(flop / FLOP_PER_S * 1e12 / 10, rel=1e-6)
    assert found["backward_ps"] == pytest.approx(2 * found["forward_ps"], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "changes", "load", "message"),
    [
        ("llama3-8b", [("zero", "3, shard: 32")], {"peers": 2},
         "workload.peers: 2; 2 racks with the same weights are not several groups of several racks,"
         " of which each shares a whole, as 2 groups of 4 do in the preset. Take twice as many."),
        ("llama3-8b", [("data", "8, context: 8")], {"members": 4, "peers": 2},
         "workload.members: 4; in {} the 8 replicas that share a sequence are in one rack. Write a"
         " multiple of 8."),
        ("llama3-8b", [("data", "4, context: 16")], {"members": 16},
         "workload.members: 16; in {} the 16 replicas that share a sequence are in several racks."
         " Write 8 or fewer."),
        ("llama3-8b", [("data", "8, context: 8")], {"members": 6, "peers": 4},
         "workload.members: 6; groups of 8 (`context`) are neither an equal part of a rack nor"
         " whole racks. Write a divisor or a multiple of it."),
        ("mixtral-8x7b", [], {"members": 8, "peers": 2, "experts": 16},
         "workload.experts: {}: 8 experts over 16 replicas: not whole experts. Take a divisor: 1,"
         " 2, 4, 8."),
        ("mixtral-8x7b", [], {"members": 16, "peers": 1},
         "workload.members: 16 have all experts 2 times; those of {} have them once. Write 8."),
        ("mixtral-8x7b", [("racks", 4), ("data", 8)], {"members": 4, "peers": 4},
         "workload.peers: 4; {} has one rack for each stage, which sends nothing. Write 1."),
        ("mixtral-8x7b", [("tensor", 2), ("data", 8)], {"members": 4, "peers": 4},
         "workload.peers: 4 have all experts 2 times; those of {} have them once. Write 2."),
    ],
)  # fmt: skip
def test_groups_that_need_other_networks_than_the_preset_are_refused(
    name, changes, load, message, tmp_path
):
    own = changed(tmp_path, name, *changes, ("memory", "800 GB"))
    with pytest.raises(SpecError) as error:
        planned(**load, preset=own)
    assert message.format(own) in str(error.value)


@pytest.mark.parametrize(
    ("changes", "own"),
    [([], set()), ([("zero", "3, shard: 8")], {"copies", "copies_bytes"}),
     ([("data", "4, context: 16")], {"context_rail_bytes"})],
)  # fmt: skip
def test_a_spec_on_disk_has_the_amounts_that_its_step_has(changes, own, tmp_path):
    name = changed(tmp_path, "llama3-8b", *changes, ("memory", "800 GB"))
    (run,) = planned(preset=name, divide=50, micro_batches=1)
    plain = json.loads(json.dumps(run.spec.plain()))

    found = plain["workload"][0]["amounts"]
    assert {key for key in found if "copies" in key or key == "context_rail_bytes"} == own
    assert checked(plain, "spec.json") == run.spec
    for name in ("rack_bytes", *(own & {"context_rail_bytes"})):
        less = {key: value for key, value in found.items() if key != name}
        plain["workload"][0]["amounts"] = less
        with pytest.raises(SpecError, match=f"amounts.*are forward_ps.* {name}.*Make the spec"):
            checked(plain, "spec.json")


@pytest.mark.parametrize("divide, is_said", [(1, False), (40, False), (50, True), (1000, True)])
def test_a_step_of_short_messages_says_by_how_much_to_divide(divide, is_said):
    # Oracle: the mean size of the messages that are sent, over the payload of a packet.
    (run,) = planned(divide=divide)
    packets = float(np.mean(input_tables(run.spec)["flows"]["bytes"])) / PACKET_BYTES
    assert (packets < 20) is is_said

    said = remarks([run])
    assert bool(said) is is_said
    if is_said:
        assert f"a message has {packets:.2g} packets of 4096 B in the mean" in said[0]
        enough = int(said[0].partition("Divide by ")[2].partition(" ")[0])
        (better,) = planned(divide=enough)
        mean = np.mean(input_tables(better.spec)["flows"]["bytes"]) / PACKET_BYTES
        assert 20 <= mean < 21 and not remarks([better])


@pytest.mark.parametrize(
    "load, message",
    [
        ({"tensor": 8, "members": 1},
         "workload.tensor: 8; llama3-8b has one device in each tensor-parallel group, which sends"
         " nothing. Write 1."),
        ({"preset": "llama3-405b", "tensor": 2, "members": 4},
         "workload.members: 4; llama3-405b has one tensor-parallel group in a rack, which sends"
         " nothing. Write 1."),
    ],
)  # fmt: skip
def test_groups_that_the_preset_does_not_have_are_refused(load, message):
    with pytest.raises(SpecError) as error:
        planned(**load)
    assert message in str(error.value)


@pytest.mark.parametrize("pairs", [1, 4])
def test_messages_of_a_kind_between_two_devices_take_queue_pairs_in_turns(pairs):
    # Rings of tensor parallelism in a rack, of gradients in the rack and between two racks.
    shape = {"preset": "dense-100t", "members": 4, "tensor": 2, "divide": 1000}
    (free,) = planned(**shape)
    (run,) = planned(**shape, queue_pairs={"per_connection": pairs})
    before, flows = (input_tables(its.spec)["flows"] for its in (free, run))
    assert not before.get("connection", np.zeros(1)).any()
    for name in ("src", "dst", "bytes"):
        assert before[name].tolist() == flows[name].tolist()
    rows = {}
    for src, dst, connection in zip(
        *(flows[name] for name in ("src", "dst", "connection")), strict=True
    ):
        rows.setdefault((src, dst), []).append(int(connection))
    longest = max(rows.values(), key=len)
    assert len(longest) > 8 * pairs
    kinds = {(connection - 1) // pairs for own in rows.values() for connection in own}
    assert len(kinds) >= 2
    for own in rows.values():
        for kind in kinds:
            taken = [(c - 1) % pairs for c in own if (c - 1) // pairs == kind]
            assert taken == [turn % pairs for turn in range(len(taken))]


def test_messages_of_a_step_are_not_split():
    with pytest.raises(SpecError, match="queue_pairs.*split"):
        planned(queue_pairs={"per_connection": 2, "split": True})
