# SPDX-License-Identifier: GPL-2.0-only
"""What shares a network with training: bytes as the documents say, between whom they say."""

from pathlib import Path

import numpy as np
import pytest

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.spec.scenario import parse_scenario
from pyorch.spec.stored import checked

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
SCENARIO = """\
name: beside
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 8, spines: 4}
link: {rate: 400 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: incast, senders: 2, message: 1 MB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
JOB = {"preset": "llama3-70b", "devices": 16, "divide": 1000}
SERVICE = {"preset": "inference-120b", "devices": 16, "divide": 1000}
PEERS = {"peers": 4, "first_peer": 28}


def planned(**load):
    scenario = parse_scenario(SCENARIO, "beside.yaml")
    sets = [("workload", {"type": "companion"} | load)]
    (run,) = spec.plan(scenario, sets=sets, typeids_file=TYPEIDS)
    return run.spec


def flows(**load):
    return input_tables(planned(**load))["flows"]


@pytest.mark.parametrize(
    "load, whole_bytes",
    [
        # [asterfusion24]: 38.5 TB are read by each of 8 tensor-parallel members in 178 000
        # mini-batches; a checkpoint is 8 B x 70e9 parameters = 560 GB; a cache 4 B x 256 tokens x
        # 140 layers x 8192, 1.17 GB, for each of 100 users; a token 4 B x 140 x 8192 x 4 x 3, for
        # 256 tokens of each prompt and 4096 of each answer.
        (JOB | PEERS | {"what": "dataset"}, 38.5e12 * 8 / 178_000),
        (JOB | PEERS | {"what": "checkpoint"}, 560e9),
        (SERVICE | PEERS | {"what": "kv_transfer"}, 100 * 4 * 256 * 140 * 8192),
        (SERVICE | {"what": "prefill"}, 100 * 256 * 4 * 140 * 8192 * 12),
        (SERVICE | {"what": "decode"}, 100 * 4096 * 4 * 140 * 8192 * 12),
    ],
)
def test_all_bytes_of_the_documents_are_sent(load, whole_bytes):
    found = flows(**load)
    # Each message is rounded to a byte.
    assert abs(int(found["bytes"].sum()) - whole_bytes / 1000) <= len(found["bytes"]) / 2


def test_who_sends_to_whom():
    dataset, checkpoint = (flows(**JOB, **PEERS, what=what) for what in ("dataset", "checkpoint"))
    assert dataset["src"].tolist() == checkpoint["dst"].tolist() == [28, 29, 30, 31] * 4
    assert dataset["dst"].tolist() == checkpoint["src"].tolist() == list(range(16))
    few = flows(**SERVICE | {"devices": 2, "first_host": 4}, what="kv_transfer", **PEERS)
    assert few["src"].tolist() == [4, 5, 4, 5] and few["dst"].tolist() == [28, 29, 30, 31]
    groups = flows(**SERVICE, what="decode")
    pairs = set(zip(groups["src"].tolist(), groups["dst"].tolist(), strict=True))
    assert pairs == {(a, b) for a in range(16) for b in range(16) if a != b and a // 4 == b // 4}


def test_the_same_again_and_again():
    found = flows(**JOB, **PEERS, what="checkpoint", times=3, every="1 ms", start="2 us")
    starts = np.unique(found["start_ps"], return_counts=True)
    assert starts[0].tolist() == [2 * 10**6, 1002 * 10**6, 2002 * 10**6]
    assert starts[1].tolist() == [16, 16, 16]


def test_a_resolved_spec_is_read_back_as_it_stands():
    found = planned(**SERVICE, what="prefill").plain()
    assert checked(found, "spec.json").plain() == found


@pytest.mark.parametrize(
    "load, message",
    [
        (JOB | {"what": "dataset"}, "workload.peers: 0 with dataset."),
        (SERVICE | PEERS | {"what": "decode"}, "workload.peers: 4 with decode."),
        (JOB | {"what": "backup"}, "workload.what: "),
        (JOB | PEERS | {"what": "decode"}, "workload.preset: "),
        ({**JOB, **PEERS, "what": "checkpoint", "preset": "dense-100t"},
         "workload.preset: dense-100t has no section traffic"),
        (SERVICE | {"what": "decode", "devices": 6}, "workload.devices: 6 are not groups of 4"),
        (JOB | {"what": "checkpoint", "peers": 4, "first_peer": 15},
         "so host 15 would be a device and a peer. Choose peers beside them."),
        (JOB | {"what": "checkpoint", "peers": 4, "first_peer": 29},
         "workload.peers: 4 from host 29 on; the topology has 32 hosts."),
        (JOB | PEERS | {"what": "checkpoint", "times": 2}, "workload.every: what happens several"),
        (JOB | PEERS | {"what": "checkpoint", "group": 2}, "workload.group: follows from the"),
        (JOB | PEERS | {"what": "checkpoint", "devices": "many"}, "workload.devices: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(load, message):
    with pytest.raises(SpecError) as caught:
        planned(**load)
    assert message in str(caught.value) and "\n" not in str(caught.value)
