# SPDX-License-Identifier: GPL-2.0-only
"""A step of two sites: each stage of its all-reduce in packets, with a transport for each network.

Rails are one switch each, so nothing but headers, latency and acknowledgements is added to the
closed form.
"""

import numpy as np
import pytest

import pyorch
from pyorch.metrics import RunTables
from pyorch.metrics._steps import steps
from pyorch.theory import preset
from pyorch.theory._quantities import transfer_ps
from pyorch.theory.exposed import Exposed, local_steps
from pyorch.theory.parallelism import stage_times
from pyorch.training.step import DATA

pytestmark = pytest.mark.ns3

#: Written before the first run: headers of 9000 B are 0.9 % of it.
TOLERANCE = 0.03
DIVIDE, WAN_DELAY_PS, WAN_BPS = 50, 30 * 10**9, 20 * 10**9
TRANSPORTS = [
    {"name": "nvlink", "type": "ns3::RoceTransport", "attributes": {"MtuBytes": 9000}},
    {"name": "sprayed", "type": "ns3::SprayTransport",
     "attributes": {"MtuBytes": 9000, "Rto": "1 ms"}},
    {"name": "wan", "type": "ns3::WanTransport", "attributes": {"MtuBytes": 9000, "Rto": "80 ms"}},
]  # fmt: skip
BY_REACH = {"scale_up": "nvlink", "scale_out": "sprayed", "wide_area": "wan"}


def scenario(**load):
    site = {
        "type": "rails", "devices": 4, "rail": {"type": "star", "hosts": 4},
        "scale_up": {"rate": "14.4 Tb/s", "delay": "100 ns"},
    }  # fmt: skip
    return {
        "name": "sites",
        "topology": {
            "type": "multi_site",
            "sites": [{"name": name, "topology": site, "border_rate": "6.4 Tb/s"}
                      for name in ("east", "west")],
            "long_haul": [{"between": ["east", "west"], "rate": f"{16 * WAN_BPS} bit/s",
                           "delay": f"{WAN_DELAY_PS // DIVIDE} ps"}],
        },
        "link": {"rate": "800 Gb/s", "delay": "500 ns"},
        "switch": {"buffer": "none"},
        "workload": {
            "type": "training", "preset": "moe-100t", "peers": 4, "members": 2, "tensor": 2,
            "sites": 2, "divide": DIVIDE, "schedule": "1f1b", "overlap": "none", "chunks": 1,
            "transport": BY_REACH,
        } | load,
        "transport": TRANSPORTS,
        "stop": "1 s",
    }  # fmt: skip


def test_each_of_the_five_stages_takes_what_its_closed_form_says(tmp_path):
    # Oracle: [hotnets24] section 4.1. A half of a ring's bytes over a rate; between the sites the
    # bytes of a pair once, and one way of propagation.
    run = pyorch.run(scenario(), results=tmp_path)
    (step,) = steps(RunTables(run.spec, run.folder))
    ends = step.tasks.groupby("lane")["end_ps"].max()
    before = step.tasks.loc[~step.tasks["lane"].isin(DATA), "end_ps"].max()
    took_ps = np.diff([before, *(ends[lane] for lane in DATA)])

    times = stage_times(preset.training("moe-100t").setup)
    cross_ps = transfer_ps(times.wan_pair_bytes, WAN_BPS) + WAN_DELAY_PS
    ideal = [times.dp1_ps / 2, times.dp2_ps / 2, cross_ps, times.dp4_ps, times.dp5_ps]
    over = took_ps / (np.array(ideal, dtype=float) / DIVIDE)
    assert (over >= 1).all() and (over <= 1 + TOLERANCE).all(), dict(zip(DATA, over, strict=True))


def test_each_message_has_the_transport_of_its_network(tmp_path):
    # Devices are racks of 4 and sites of 16. With the placement of another rack's device by hand,
    # tensor-parallel messages leave the rack: the first part of one that is relayed stays in it.
    load = {"divide": 5000, "replaced": [[0, 4], [4, 0]]}
    run = pyorch.run(scenario(**load), results=tmp_path)
    flows = run.flows
    same_rack = flows["src"] // 4 == flows["dst"] // 4
    same_site = flows["src"] // 16 == flows["dst"] // 16

    expected = np.where(same_rack, 0, np.where(same_site, 1, 2))
    assert flows["transport"].tolist() == expected.tolist()
    assert set(expected) == {0, 1, 2}
    # Device 0 at host 4 sends to device 1 at host 1 by host 5, which is on the same rail.
    assert ((flows["src"] == 4) & (flows["dst"] == 5) & (flows["transport"] == 0)).any()
    assert ((flows["src"] == 5) & (flows["dst"] == 1) & (flows["transport"] == 1)).any()


def test_a_step_without_exchange_is_that_of_one_site(tmp_path):
    # Oracle: a network of one site, to the ps; and no byte of data between the sites.
    apart = scenario(exchange=False, divide=5000)
    alone = apart | {"topology": apart["topology"]["sites"][0]["topology"]}
    alone["workload"] = apart["workload"] | {"sites": 1, "exchange": True}
    runs = [pyorch.run(given, results=tmp_path) for given in (apart, alone)]

    first, second = (run.table("tasks")["end_ps"] for run in runs)
    assert sorted(first) == sorted([*second, *second])
    flows = runs[0].flows
    assert (flows["src"] // 16 == flows["dst"] // 16).all()


def test_the_mean_of_many_steps_is_between_that_with_exchange_and_that_without():
    # By hand: 9 steps of 10 ms, 1 ms of them exposed, and one of 30 ms with 21 ms: 30 of 120 ms.
    local = Exposed(compute_ps=9.0, tensor_ps=1.0, pipeline_ps=0.0, data_ps=0.0)
    exchanging = Exposed(compute_ps=9.0, tensor_ps=1.0, pipeline_ps=0.0, data_ps=20.0)

    assert local_steps(local, exchanging, 1).share == exchanging.share
    assert local_steps(local, exchanging, 10).share == pytest.approx(30 / 120)
    assert local_steps(local, exchanging, 10**9).share == pytest.approx(local.share)
