# SPDX-License-Identifier: GPL-2.0-only
"""A smaller step keeps its groups, and says when its messages have become too short."""

import json
from pathlib import Path

import numpy as np
import pytest

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.runs.remarks import remarks
from pyorch.spec.scenario import parse_scenario

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
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
