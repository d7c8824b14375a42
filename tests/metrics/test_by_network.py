# SPDX-License-Identifier: GPL-2.0-only
"""Loads and queues of networks, against samples that are written down by hand, and a run."""

import re

import pandas as pd
import pytest
from hand_run import TYPEIDS

import pyorch
from pyorch import metrics, spec, traces
from pyorch.errors import TraceError
from pyorch.metrics.by_network import measure
from pyorch.spec.scenario import parse_scenario

#: Devices 0 and 1 are a rack, 2 and 3 another; scale-up switches 4 and 5, rails 6 and 7.
TEXT = """\
name: hand
topology: {type: rails, devices: 2, rail: {type: star, hosts: 2},
           scale_up: {rate: 8 Tb/s, delay: 100 ns}}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 40 kB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
SAMPLED = "trace: {sample: 1 us}\n"
#: What 800 Gb/s send in 1 us.
FULL = 100_000


def hand(rows, now_ps, more=SAMPLED):
    """Return a run with rows of time [us], port, queue [byte], sent [byte]."""
    resolved = spec.plan(parse_scenario(TEXT + more, "hand.yaml"), typeids_file=TYPEIDS)[0].spec
    tables = {
        "port_samples": pd.DataFrame(
            [(time * 10**6, *port, 0, queue, sent, 0) for time, port, queue, sent in rows],
            columns=list(traces.CONTRACTS["port_samples"]),
        ),
        "summary": pd.DataFrame({"now_ps": [now_ps]}),
    }
    return metrics.RunTables(resolved, "results/hand/s1", tables)


def test_each_network_has_the_mean_and_the_tail_of_its_links_and_samples():
    # Rail 0 in 50 whole samples: 4 directions x 50 = 200 loads, of which 99 % are the first 198.
    # Host 0 sends at full rate in samples 1 to 3, its switch at half of it in 4: the 198th of 200
    # is a full one. A switch has 2 x 50 = 100 queues: of 9 kB and 3 kB it is the lower one that 99
    # do not exceed. The sample that is not whole has bytes, and neither load nor queue.
    rows = [(time, (0, 6), 7_000, FULL) for time in (1, 2, 3)]
    rows += [(4, (6, 2), 9_000, FULL // 2), (5, (6, 2), 3_000, 0), (51, (6, 0), 50_000, 300)]
    # Scale-up is ten times as fast: 8 directions, a tenth in one sample.
    rows += [(1, (4, 1), 0, FULL)]
    table = measure(hand(rows, 50_500_000)).set_index("network")

    assert table.index.tolist() == ["rail 0 plane 0", "rail 1 plane 0", "scale_up"]
    assert table["links"].tolist() == [4, 4, 8]
    assert table["sent_bytes"].tolist() == [3 * FULL + FULL // 2 + 300, 0, FULL]
    assert table["load_mean"].tolist() == pytest.approx([3.5 / 200, 0, 0.1 / 400])
    assert table["load_p99"].tolist() == pytest.approx([1, 0, 0])
    assert table["queue_mean_bytes"].tolist() == pytest.approx([120, 0, 0])
    assert table["queue_p99_bytes"].tolist() == [3_000, 0, 0]
    assert table["queue_p100_bytes"].tolist() == [9_000, 0, 0]


def test_links_that_are_not_sampled_do_not_count():
    # Of node 6 there are two directions: 10 samples, of which one is full and has a queue.
    more = "trace: {sample: 1 us, nodes: [0, 6]}\n"
    table = measure(hand([(1, (6, 2), 5_000, FULL)], 5_000_000, more)).set_index("network")

    rail, scale_up = table.loc["rail 0 plane 0"], table.loc["scale_up"]
    assert (rail["links"], rail["load_mean"], rail["queue_mean_bytes"]) == (3, 1 / 15, 500)
    assert (scale_up["links"], scale_up["load_mean"]) == (1, 0)
    assert scale_up.isna()["queue_mean_bytes"] and scale_up.isna()["queue_p99_bytes"]


def test_a_run_without_a_whole_sample_has_no_loads():
    table = measure(hand([(1, (0, 6), 5_000, 90)], 900_000))
    assert table["sent_bytes"].tolist() == [90, 0, 0]
    assert table[["load_mean", "load_p99", "queue_p100_bytes"]].isna().all(axis=None)


def test_a_run_that_was_not_sampled_is_refused():
    with pytest.raises(TraceError, match=re.escape("Write trace: {sample: 10 us}")):
        metrics.ask("by_network", hand([], 1, ""))


@pytest.mark.ns3
def test_samples_of_all_networks_are_the_totals_of_the_run(tmp_path):
    # Oracle: conservation. Two racks at each of two sites: what each link has sent is in one row.
    scenario = parse_scenario(TEXT + SAMPLED, "hand.yaml").values | {"name": "sites"}
    site = scenario["topology"]
    scenario["topology"] = {
        "type": "multi_site",
        "sites": [{"name": name, "topology": site} for name in ("east", "west")],
        "long_haul": [{"between": ["east", "west"], "rate": "400 Gb/s", "delay": "10 us"}],
    }
    scenario["workload"] = {"type": "permutation", "message": "400 kB"}
    run = pyorch.run(scenario, results=tmp_path)
    table = measure(metrics.RunTables(run.spec, run.folder)).set_index("network")
    sent = run.ports.groupby(["node", "peer"])["sent_bytes"].sum()

    assert table["sent_bytes"].sum() == sent.sum()
    assert table["links"].sum() == len(run.ports)
    border = run.ports["node"].max() - 1  # the last two nodes
    wide_area = sent[border, border + 1] + sent[border + 1, border]
    assert table.loc["wide_area", "sent_bytes"] == wide_area > 0
    # At most what a sample that is not whole holds is missing from the mean.
    whole = int(run.outcome["now_ps"]) // 10**6
    mean = wide_area / (2 * whole * FULL // 2)
    assert table.loc["wide_area", "load_mean"] == pytest.approx(mean, abs=1 / whole)
