# SPDX-License-Identifier: GPL-2.0-only
"""What the page of a run shows is what the run did, on networks whose bottlenecks are known."""

import base64
import gzip
import json
import re

import numpy as np
import pytest

from pyorch.errors import FigureError, TraceError
from pyorch.look import html, write_trace_events
from pyorch.look.causes import busiest
from pyorch.look.grid import Grid, nice_us
from pyorch.look.shown import shown
from tests.look.small_runs import INCAST, SLOW, SPRAYED

pytestmark = pytest.mark.ns3


@pytest.fixture(scope="module")
def incast(made):
    return made(INCAST)


def page_of(*runs):
    """Return what is in a page, as its script reads it."""
    packed = re.search(r'id="data" type="text/plain">([^<]*)<', html(runs))[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def name_of(data, link):
    return tuple(data["nodes"][node]["name"] for node in data["links"][link][:2])


def test_the_bottleneck_of_an_incast_is_the_link_of_its_receiver(incast):
    (data,) = page_of(incast)
    receiver = str(int(incast.flows["dst"].iloc[0]))
    last = {name_of(data, message["why"]["link"])[1] for message in data["messages"]}

    assert last == {receiver}
    assert all(message["why"]["full"] for message in data["messages"])
    # As many messages as there are share the link.
    assert {message["why"]["messages"] for message in data["messages"]} == {12}


def test_who_held_a_path_back_is_followed_to_the_link_that_was_full(incast):
    (data,) = page_of(incast)
    bottleneck = data["messages"][0]["why"]["link"]

    def ends(tree):
        return {tree["link"]} if not tree["toward"] else set().union(*map(ends, tree["toward"]))

    held = [tree for message in data["messages"] for tree in message["why"]["held"]]
    assert held
    assert set().union(*map(ends, held)) == {bottleneck}
    assert all(0 < tree["share"] <= 1 for tree in held)


def test_a_slow_link_in_the_middle_is_named(made):
    run = made(SLOW)
    (data,) = page_of(run)
    ports = run.ports[run.ports["rate_bps"] == 10 * 10**9]
    slow = {(str(a), str(b)) for a, b in ports[["node", "peer"]].astype(int).to_numpy().tolist()}

    assert {name_of(data, message["why"]["link"]) for message in data["messages"]} <= slow
    # Packets are numbered from 0, in the order of their arrival.
    packets = data["packets"][str(data["messages"][0]["id"])]
    assert [number for _, number in packets] == sorted(number for _, number in packets)
    assert len(packets) == -(-100_000 // 4096)


def test_a_sprayed_message_has_even_shares_of_all_its_links(made):
    (data,) = page_of(made(SPRAYED))
    for message in data["messages"]:
        shares = {name_of(data, link): share for link, share in message["path"]}
        assert "why" not in message
        assert sorted(shares.values()) == [0.25] * 8 + [1, 1]


def test_loads_of_all_steps_are_the_bytes_that_were_sent(incast):
    data = shown(incast)
    load = np.frombuffer(base64.b64decode(data["load"]), np.uint8).reshape(-1, data["n_steps"])
    sent = load.astype(float).sum(axis=1) / 255 * data["step_us"] * 1e-6
    expected = {}
    for row in incast.ports.itertuples():
        expected[str(row.node), str(row.peer)] = int(row.sent_bytes) * 8 / int(row.rate_bps)
    for link in range(len(data["links"])):
        # A byte holds a step's load to half of 1/255; the last step may be shorter than others.
        error = (data["n_steps"] / 510 + 1) * data["step_us"] * 1e-6
        assert abs(sent[link] - expected[name_of(data, link)]) <= error


def test_links_are_in_the_order_of_a_packets_way(incast):
    kinds = [link[3] for link in shown(incast)["links"]]
    assert list(dict.fromkeys(kinds)) == [
        "host to tier 1", "tier 1 to tier 2", "tier 2 to tier 1", "tier 1 to host"
    ]  # fmt: skip


def test_hosts_of_a_large_network_are_shown_by_switch(incast, monkeypatch):
    exact = shown(incast)
    monkeypatch.setattr("pyorch.look.shown.MOST_HOSTS", 15)
    data = shown(incast)

    assert [node["hosts"] for node in data["nodes"]] == [4, 4, 4, 4, 0, 0, 0, 0, 0, 0]
    rates = {link[3]: link[2] for link in data["links"]}
    assert rates["tier 1 to host"] == 400e9 and rates["tier 1 to tier 2"] == 100e9
    assert len(data["messages"]) == len(exact["messages"])
    assert {message["why"]["share"] for message in data["messages"]} == {
        message["why"]["share"] for message in exact["messages"]
    }


def test_the_same_run_gives_the_same_page(incast):
    assert html([incast]) == html([incast])
    assert "http" not in re.sub(r">[A-Za-z0-9+/=]{200,}<", "", html([incast]))


def test_a_page_has_one_run_or_two(incast):
    assert len(page_of(incast, incast)) == 2
    with pytest.raises(FigureError, match="one run, or two side by side, and not 3"):
        html([incast] * 3)


def test_a_run_without_samples_says_which_line_records_them(made):
    run = made(INCAST, **{"trace.sample": None, "trace.pauses": False})
    with pytest.raises(TraceError, match=r"trace: \{sample: [\d.]+ us\}"):
        html([run])


@pytest.mark.parametrize(
    ("table", "line"),
    [("arrivals", "trace: {arrivals: true}"), ("skips", "engine: {skip: 1%}")],
)
def test_a_table_that_was_not_recorded_says_which_line_records_it(incast, table, line):
    with pytest.raises(TraceError, match=re.escape(f"it is recorded by {line}.")):
        incast.table(table)


def test_a_run_at_flow_level_says_that_it_has_no_samples(made):
    run = made(SPRAYED, **{"trace.sample": None, "engine": "fluid"})
    with pytest.raises(TraceError, match="engine fluid, which has no packets"):
        html([run])


def test_of_links_that_are_alike_the_last_one_is_the_bottleneck():
    grid = Grid(None, 10, np.array([[1.0, 1.0], [0.99, 1.0], [0.5, 0.5]]), None, None)
    assert busiest(grid, [0, 1, 2], 0, 20) == (1, pytest.approx(0.995))
    assert busiest(grid, [2], 0, 20) == (2, 0.5)


@pytest.mark.parametrize(("ps", "said"), [(130_000, "0.2"), (1e6, "1"), (4.2e7, "50")])
def test_a_round_interval_is_proposed(ps, said):
    assert nice_us(ps) == said


def test_trace_events_have_every_message_pause_and_queue_once(incast, tmp_path):
    events = json.loads(write_trace_events([incast], tmp_path / "t.json").read_text())
    events = events["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    of = {}
    for event in events:
        if event["ph"] != "M":
            of.setdefault(names[event["pid"]].partition(": ")[2].split()[0], []).append(event)
    took_us = (incast.fct_ps.astype(float) / 1e6).sort_values().to_list()

    assert sorted(event["dur"] for event in of["host"]) == pytest.approx(took_us)
    assert len(of["held"]) == len(incast.pauses)
    assert all(event["args"]["frames_to"] for event in of["held"])
    counters = {}
    for event in of["queues"]:
        counters.setdefault(event["name"], []).append((event["ts"], event["args"]["bytes"]))
    longest = incast.port_samples.groupby(["node", "peer"])["queue_bytes"].max().astype(int)
    for (node, peer), most in longest[longest > 0].items():
        values = counters[f"{node} to {peer}"]
        assert max(value for _, value in values) == most and values[-1][1] == 0
        assert values == sorted(values, key=lambda each: each[0])


def test_messages_that_overlap_are_on_threads_of_their_own(made, tmp_path):
    run = made(SPRAYED, workload={"type": "all_to_all", "message": "40 kB"})
    events = json.loads(write_trace_events([run], tmp_path / "t.json").read_text())["traceEvents"]
    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    assert len(threads) > len(run.flows["src"].unique())
    for own in threads.values():
        own.sort(key=lambda event: event["ts"])
        assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-9 for a, b in zip(own, own[1:], strict=False))
