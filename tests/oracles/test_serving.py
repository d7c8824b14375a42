# SPDX-License-Identifier: GPL-2.0-only
"""Requests on ideal networks: closed forms, a second scheduler, and both engines.

Tolerances were written before the first run: where nothing but computations and single messages
decides, to the ps; rings of all-reduces, whose acknowledgements share their links, 3 %; fluid
beside packets 5 %.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import pyorch
from pyorch.simulate import run as running
from pyorch.theory.fct import Framing, unloaded_fct_ps

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
import twin

pytestmark = pytest.mark.ns3
ENGINES = pytest.mark.parametrize("engine", ["packets", "fluid"])
MEMORY_BPS, FLOP_PER_S = 26.8e12, 989.4e12 * 0.5676
RATE_BPS, DELAY_PS = 400 * 10**9, 1_000_000
FRAMING = Framing(mtu_bytes=9000, header_bytes=1, first_header_bytes=0, framing_bytes=0)


def scenario(load, hosts=16, engine="packets", **top):
    """Return a service on hosts around one switch, with headers of one byte."""
    return {
        "name": "service",
        "topology": {"type": "star", "hosts": hosts},
        "link": {"rate": "400 Gb/s", "delay": "1 us"},
        "switch": {"buffer": "none"},
        "workload": {"type": "serving", "memory_rate": "26.8 Tb/s"} | load,
        "transport": {"type": "ns3::RoceTransport",
                      "attributes": {"MtuBytes": 9000, "HeaderBytes": 1, "RethBytes": 0,
                                     "AckInterval": 16}},
        "wire": {"framing": "0 B"},
        "engine": {"type": engine},
        "stop": "10 s",
    } | top  # fmt: skip


def halves_ps(new, contexts):
    """Return attention and feed-forward of one layer of Llama 3 8B on one device [ps].

    4096 wide, 32 heads of 128 and 8 of keys and values, feed-forward 3 x 4096 x 14336, 2 bytes
    each: arithmetic, or what is read, whichever takes longer.
    """
    attention, feed_forward = 2 * 4096 * 128 * (32 + 8), 3 * 4096 * 14336
    tokens = sum(new)
    scores = sum(n * c for n, c in zip(new, contexts, strict=True))
    flop = 2 * attention * tokens + 2 * 32 * 2 * 128 * scores
    read = 2 * attention + 2 * 2 * 8 * 128 * sum(contexts)
    first = max(flop / FLOP_PER_S, read * 8 / MEMORY_BPS)
    second = max(2 * feed_forward * tokens / FLOP_PER_S, 2 * feed_forward * 8 / MEMORY_BPS)
    return [round(1e12 * first), round(1e12 * second)]


def lasts(layers):
    """Return how long a batch lasts on devices that share no layer [ps]."""

    def of(phase, members):
        contexts = [tokens for _, tokens, _ in members]
        if phase == "transfer":
            size = layers * contexts[0] * 2 * 2 * 8 * 128
            return unloaded_fct_ps(size, [RATE_BPS] * 2, [DELAY_PS] * 2, FRAMING)
        new = contexts if phase == "prefill" else [1] * len(contexts)
        return layers * sum(halves_ps(new, contexts))

    return of


def file(tmp_path, requests):
    rows = [f"{a},{p},{n}" for a, p, n in requests]
    path = tmp_path / "requests.csv"
    path.write_text("\n".join(["arrival_s,prompt_tokens,answer_tokens", *rows]) + "\n")
    return {"file": str(path)}


@ENGINES
@pytest.mark.parametrize("apart", [False, True])
def test_times_are_those_of_a_second_scheduler(apart, engine, tmp_path):
    # Transfers never meet: one device of prefill computes one prompt at a time, for longer than
    # they take. 32 layers of 32, so times are those of the file.
    batch_tokens = 1 if apart else 4000
    draw = np.random.default_rng(4)
    requests = [
        (float(a), int(p), int(n))
        for a, p, n in zip(
            np.sort(draw.integers(0, 4000, 30)) / 1e3, draw.integers(500, 3000, 30),
            draw.integers(1, 30, 30), strict=True,
        )
    ]  # fmt: skip
    instances = {"prefill": {}, "decode": {"instances": 2}} if apart else {
        "together": {"instances": 2}}  # fmt: skip
    load = {"preset": "llama3-8b", "requests": file(tmp_path, requests), "layers": 32,
            "sequences": 4, "batch_tokens": batch_tokens} | instances  # fmt: skip

    table = pyorch.run(scenario(load, engine=engine), results=tmp_path).table("requests")

    given = [(round(a * 1e12), p, n) for a, p, n in requests]
    shape = ((1, 1), (2, 1)) if apart else ((2, 1), None)
    first, last = twin.answer(given, *shape, 4, batch_tokens, lasts(32))
    assert table["first_token_ps"].tolist() == first
    assert table["last_token_ps"].tolist() == last


@ENGINES
@pytest.mark.parametrize("gap", [3.0, 0.5])
def test_throughput_is_that_of_arrivals_or_of_the_device(gap, engine, tmp_path):
    # Oracle: D/D/1. A request needs its prefill and 9 iterations: those that come more slowly
    # leave at the rate of their arrival, those that come faster one after the other.
    whole = lasts(1)
    alone_ps = whole("prefill", [(0, 1000, 0)])
    alone_ps += sum(whole("decode", [(0, 1001 + i, 0)]) for i in range(9))
    every_ps = int(gap * alone_ps)
    requests = [(32 * i * every_ps / 1e12, 1000, 10) for i in range(20)]  # one of 32 layers
    load = {"preset": "llama3-8b", "requests": file(tmp_path, requests), "together": {},
            "sequences": 1}  # fmt: skip

    table = pyorch.run(scenario(load, engine=engine), results=tmp_path).table("requests")

    left = table["last_token_ps"].to_numpy(dtype=np.int64)
    assert np.diff(left).tolist() == pytest.approx([max(every_ps, alone_ps)] * 19, abs=1)


@ENGINES
def test_one_request_through_eight_devices_there_and_eight_here(engine, tmp_path):
    # Two layers of Llama 3 70B; each half is followed by an all-reduce in a ring of 8: 14 messages
    # of an eighth, one after the other. Then each device sends its keys and values to its like.
    load = {"preset": "llama3-70b", "requests": file(tmp_path, [(0, 4096, 5)]), "layers": 2,
            "prefill": {"tensor": 8}, "decode": {"tensor": 8}}  # fmt: skip

    run = pyorch.run(scenario(load, engine=engine), results=tmp_path)

    def alone_ps(size):
        return unloaded_fct_ps(size, [RATE_BPS] * 2, [DELAY_PS] * 2, FRAMING)

    attention, feed_forward = 2 * 8192 * 128 * 72, 3 * 8192 * 28672
    flop = 2 * (attention + feed_forward) * 4096 + 2 * 64 * 2 * 128 * 4096**2
    reduce_ps = 14 * alone_ps(4096 * 8192 * 2 // 8)
    first_ps = 2 * (flop / 8 / (989e12 * 0.5676) * 1e12 + 2 * reduce_ps)
    kv_ps = alone_ps(2 * 4096 * 2 * 8 * 128 * 2 // 8)
    read = 2 * (attention + feed_forward) + 4098.5 * 2 * 2 * 8 * 128  # the mean of 4097 to 4100
    token_ps = 2 * (read / 8 * 8 / MEMORY_BPS * 1e12 + 2 * 14 * alone_ps(8192 * 2 // 8))
    row = run.table("requests").iloc[0]
    assert row["first_token_ps"] == pytest.approx(first_ps, rel=0.03)
    # An acknowledgement of the last ring, 66 bytes, may be on the port when a transfer begins.
    ack_ps = 66 * 8 * 10**12 // RATE_BPS * (engine == "packets")
    moved_ps = row["transfer_end_ps"] - row["transfer_start_ps"]
    assert kv_ps <= moved_ps <= kv_ps + ack_ps
    each_ps = (row["last_token_ps"] - row["transfer_end_ps"]) / 4
    assert each_ps == pytest.approx(token_ps, rel=0.03)
    # What is exposed is the share of the messages.
    exposed = 1 - 2 * flop / 8 / (989e12 * 0.5676) * 1e12 / first_ps
    (found,) = run.metric("serving").to_dict("records")
    assert found["prefill_exposed_share"] == pytest.approx(exposed, abs=0.03)
    assert found["ttft_mean_ps"] == row["first_token_ps"]


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """Return a folder of results: what several tests ask for is run once."""
    return tmp_path_factory.mktemp("results")


EXPERTS = {
    "preset": "deepseek-v3", "layers": 1, "divide": 10,
    "requests": {"number": 60, "rate_per_s": 40, "prompt_tokens": {"mean": 1000, "spread": 0.5},
                 "answer_tokens": {"mean": 12, "spread": 0.5}},
    "prefill": {"experts": 16}, "decode": {"experts": 16},
}  # fmt: skip


@pytest.mark.parametrize("routing", [{"zipf": 0.0}, {"zipf": 1.0}])
def test_all_that_a_batch_sends_is_in_the_table_of_flows(routing, together):
    run = pyorch.run(scenario(EXPERTS | {"routing": routing}, hosts=32), results=together)

    batches, flows, tasks = (run.table(name) for name in ("batches", "flows", "tasks"))
    for batch in batches.itertuples():
        own = flows[flows["flow"].between(batch.first_task, batch.last_task)]
        assert own["bytes"].sum() == batch.sent_bytes
        rows = tasks[tasks["task"].between(batch.first_task, batch.last_task)]
        assert rows["start_ps"].min() >= batch.start_ps
        assert rows["end_ps"].max() == batch.end_ps
    # Each token of a prompt goes to 8 experts, 7168 bytes there and twice that back, of which one
    # in 16 stays: balanced within 2 %, for a batch is dealt out in whole copies.
    prefills = batches[batches["phase"] == 0]
    expected = prefills["tokens"].sum() * 8 * 7168 * 3 / 10 * 15 / 16
    if routing == {"zipf": 0.0}:
        assert prefills["sent_bytes"].sum() == pytest.approx(expected, rel=0.02)
    assert run.table("requests")["last_token_ps"].notna().all()


def test_balanced_is_skewed_with_an_exponent_of_zero(tmp_path, together):
    path = tmp_path / "shares.csv"
    path.write_text("expert,share\n" + "".join(f"{e},{1 / 256}\n" for e in range(256)))
    runs = [
        pyorch.run(scenario(EXPERTS | {"routing": routing}, hosts=32), results=together)
        for routing in ({"zipf": 0.0}, {"file": str(path)})
    ]
    assert runs[0].table("requests").equals(runs[1].table("requests"))


def test_skew_costs_time(together):
    metrics = [
        pyorch.run(scenario(EXPERTS | {"routing": {"zipf": z}}, hosts=32), results=together)
        .metric("serving").iloc[0]
        for z in (0.0, 1.0)
    ]  # fmt: skip
    assert metrics[1]["ttft_mean_ps"] > 1.05 * metrics[0]["ttft_mean_ps"]


def test_both_engines_agree(together):
    found = [
        pyorch.run(scenario(EXPERTS | {"routing": {"zipf": 0.0}}, hosts=32, engine=engine),
                   results=together)
        .metric("serving").iloc[0]
        for engine in ("packets", "fluid")
    ]  # fmt: skip
    for name in ("ttft_mean_ps", "tpot_mean_ps", "transfer_mean_ps", "requests_per_s"):
        assert found[1][name] == pytest.approx(found[0][name], rel=0.05), name


@ENGINES
def test_slices_of_wall_time_and_a_second_run_change_nothing(engine, tmp_path, monkeypatch):
    whole = []
    for index, slice_s in enumerate((0.2, 0.2, 0.0)):
        monkeypatch.setattr(running, "SLICE_S", slice_s)
        run = pyorch.run(scenario(EXPERTS, hosts=32, engine=engine), results=tmp_path / str(index))
        whole.append({name: run.table(name) for name in ("flows", "tasks", "requests", "batches")})
    for other in whole[1:]:
        assert all(other[name].equals(table) for name, table in whole[0].items())


def beside(only):
    """Return a training job on two racks and a service on two, on eight rails of one switch."""
    training = {"type": "training", "preset": "dense-100t", "peers": 2, "tensor": 8, "chunks": 4,
                "divide": 1000}  # fmt: skip
    service = {
        "type": "serving", "preset": "llama3-70b", "memory_rate": "26.8 Tb/s", "divide": 100,
        "requests": {"number": 6, "rate_per_s": 5, "prompt_tokens": 2000, "answer_tokens": 5},
        "prefill": {"tensor": 8}, "decode": {"tensor": 8},
    }  # fmt: skip
    return {
        "name": "beside",
        "topology": {"type": "rails", "devices": 8, "rail": {"type": "star", "hosts": 4},
                     "scale_up": {"rate": "3.6 Tb/s", "delay": "10 ns"}},
        "link": {"rate": "400 Gb/s", "delay": "50 ns"},
        "switch": {"buffer": "none"},
        "workload": [training, service],
        "jobs": {"type": "aligned", "hosts": [16, 16], "only": only},
        "transport": {"type": "ns3::RoceTransport"},
        "stop": "100 ms",
    }  # fmt: skip


@ENGINES
def test_jobs_that_share_no_link_take_the_same_time_alone_and_together(engine, tmp_path):
    runs = {
        only: pyorch.run(beside(only) | {"engine": {"type": engine}}, results=tmp_path)
        for only in ("all", 0, 1)
    }
    both = {
        row["job"]: row["completion_ps"] for row in runs["all"].metric("jobs").to_dict("records")
    }
    alone = [runs[job].metric("jobs").iloc[0]["completion_ps"] for job in (0, 1)]

    assert [both[0], both[1]] == alone
    # A message has another id beside other jobs, and is the same in all else.
    times = [runs[only].table("requests").drop(columns="workload") for only in ("all", 1)]
    assert times[0].equals(times[1])
    names = ["phase", "instance", "start_ps", "end_ps", "requests", "tokens", "compute_ps"]
    assert runs["all"].table("batches")[names].equals(runs[1].table("batches")[names])


def test_messages_between_rails_are_relayed(tmp_path):
    # Prefill on devices 0 to 3 of a rack, decoding on 4 to 7 of the next one: device i sends its
    # keys and values to 4 + i, by way of a device of its own rack that is on the rail of that.
    whole = beside("all")
    del whole["jobs"]
    whole["workload"] = whole["workload"][1] | {
        "placement": "packed", "first_host": 4, "prefill": {"tensor": 4}, "decode": {"tensor": 8},
    }  # fmt: skip

    run = pyorch.run(whole, results=tmp_path)

    batches, flows = run.table("batches"), run.table("flows")
    transfer = batches[batches["phase"] == 1].iloc[0]
    own = flows[flows["flow"].between(transfer["first_task"], transfer["last_task"])]
    # Hosts 4 to 7 hold the keys and values of two of 8 heads each; hosts 8 to 15 get one each. Of
    # the pairs 4-8, 4-9, 5-10, 5-11, ... 7-15 the last one is on one rail; the other 7 are relayed.
    assert transfer["sent_bytes"] == own["bytes"].sum() * 8 // 15
    assert len(own) == 15
    last = own[own["dst"].between(8, 15)]
    assert (last["src"] % 8 == last["dst"] % 8).all() and (last["src"] < 8).all()
    assert sorted(last["dst"]) == list(range(8, 16))
    tasks = run.table("tasks").set_index("task")["end_ps"]
    assert tasks[own["flow"]].max() == transfer["end_ps"]
