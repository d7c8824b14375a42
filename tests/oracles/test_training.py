# SPDX-License-Identifier: GPL-2.0-only
"""On an ideal network a step waits as long as the model says, for what the model says.

64 devices, 8 racks of 8, every rail one switch; everything 100 times smaller, links of 1 ns,
packets of 9000 B with a header of 1 B.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pyorch
from pyorch.errors import PyorchError
from pyorch.look import write_trace_events
from pyorch.metrics import RunTables, step_timeline, training_step
from pyorch.metrics._steps import steps
from pyorch.theory import exposed, parallelism, preset
from pyorch.training.step import DATA

pytestmark = pytest.mark.ns3

DIVIDE = 100


def scenario(**workload):
    load = {"type": "training", "preset": "dense-100t", "stages": 2, "peers": 4, "members": 2,
            "tensor": 4, "divide": DIVIDE}  # fmt: skip
    return {
        "name": "ideal_step",
        "template": "fabric",
        "topology": {"type": "rails", "devices": 8, "rail": {"type": "star", "hosts": 8},
                     "scale_up": {"rate": "14.4 Tb/s", "delay": "1 ns"}},
        "link": {"rate": "800 Gb/s", "delay": "1 ns"},
        "switch": {"buffer": "none"},
        "workload": load | workload,
        "transport": {"type": "ns3::RoceTransport",
                      "attributes": {"MtuBytes": 9000, "HeaderBytes": 1, "RethBytes": 0,
                                     "AckInterval": 16}},
        "wire": {"framing": "0 B"},
        "stop": "100 ms",
    }  # fmt: skip


STEPS = [(name, engine) for name in ("dense-100t", "moe-100t") for engine in ("packets", "fluid")]


@pytest.fixture(scope="module", params=STEPS)
def step(request, tmp_path_factory):
    """Return the name of the preset, and the run of its step."""
    name, engine = request.param
    whole = scenario(preset=name, chunks=32) | {"engine": engine}
    return name, pyorch.run(whole, results=tmp_path_factory.mktemp("step"))


def shares(run):
    (row,) = training_step.measure(RunTables(run.spec, run.folder)).to_dict("records")
    return row


def test_a_step_is_exposed_as_modelled(step):
    # Oracle: theory.exposed, the closed form of [hotnets24] section 6: 4.95 % dense, 18.70 % MoE.
    # Chunk by chunk the rings in the rack before the first and after the last chunk are not hidden
    # either: (8.3 or 9.4 ms) / 16 of the whole step. At flow level two rings that share a port end
    # their steps together, so nobody sends while both last packets are forwarded: 0.2 % of MoE's
    # step here, 0.02 % with packets of 1000 B.
    name, run = step
    row, model = shares(run), exposed.expose_setup(preset.training(name).setup)
    off = 0.01 if run.spec.engine.type == "fluid" else 0.006

    assert row["exposed_share"] == pytest.approx(model.share, abs=0.01)
    for kind in ("tensor", "pipeline", "data"):
        share = getattr(model, f"{kind}_ps") / model.step_ps
        assert row[f"{kind}_share"] == pytest.approx(share, abs=off), kind
    kinds = [row[f"{kind}_share"] for kind in ("tensor", "expert", "pipeline", "data", "bubble")]
    assert sum(kinds) == pytest.approx(row["exposed_share"], abs=1e-9)
    assert row["compute_ps"] == pytest.approx(model.compute_ps / DIVIDE, rel=1e-6)


@pytest.mark.parametrize("name", ["dense-100t", "moe-100t"])
def test_sharded_weights_are_exposed_as_far_as_a_pass_is_too_short_for_them(name, tmp_path):
    # Closed form: the forward pass takes as long as its arithmetic or as an all-gather among peers,
    # (n-1)/n of g / 72 at 800 Gb/s, whichever is longer: 132.8 and 49.1 ms dense, 45.2 and 56.1 ms
    # MoE. The backward pass has a scatter and a gather as before.
    setup = preset.training(name).setup
    model, times = exposed.expose_setup(setup), parallelism.stage_times(setup)
    peers = setup.placement.racks_per_stage_and_datacenter
    gather_ps = (
        (peers - 1) / peers * parallelism.rack_chunk_bytes(setup) / setup.tensor
        * 8e12 / setup.network.scale_out_bps
    )  # fmt: skip
    more_ps = max(0.0, gather_ps - times.forward_ps)
    expected = (model.share * model.step_ps + more_ps) / (model.step_ps + more_ps)
    whole = scenario(preset=name, chunks=32, zero=3) | {"engine": "fluid"}

    row = shares(pyorch.run(whole, results=tmp_path))

    assert row["exposed_share"] == pytest.approx(expected, abs=0.01)
    assert expected == pytest.approx({"dense-100t": 0.0495, "moe-100t": 0.2370}[name], abs=2e-4)


def test_weights_that_two_racks_share_come_while_a_forward_pass_is_computed(tmp_path):
    # Closed form: of 98 racks two have a whole, so the forward pass of 45.2 ms waits for an
    # all-gather of 1/2 of g / 72, 28.3 ms, and not for one of 97/98, 56.1 ms. Backward gathers and
    # scatters this half and all-reduces it among 49 pairs: 1/2 + 1/2 + 2 48/49 / 2 = 2 97/98, as
    # without sharding. So 18.70 % are exposed, and 23.70 % if all racks have a whole.
    text = (Path(preset.__file__).parent / "presets" / "moe-100t.yaml").read_text()
    (tmp_path / "shared.yaml").write_text(
        text.replace("{tensor: 18, layers_per_stage: 1}",
                     "{tensor: 18, layers_per_stage: 1, zero: 3, shard: 8}")
    )  # fmt: skip
    whole = scenario(preset=str(tmp_path / "shared.yaml"), chunks=32) | {"engine": "fluid"}

    row = shares(pyorch.run(whole, results=tmp_path))

    assert row["exposed_share"] == pytest.approx(0.1870, abs=0.01)


@pytest.mark.parametrize("order", ["Fifo", "Srpt"])
def test_late_clocks_cost_no_more_than_they_are_late(order, tmp_path):
    # Messages of a host one after the other: a device that is 10 us late makes the step 10 us
    # longer at most. In turns, chunks share ports and pile up: 13 % of the 4.2 ms of this step.
    def step_ps(order, **load):
        whole = scenario(chunks=4, **load)
        whole["transport"]["attributes"]["Order"] = order
        return shares(pyorch.run(whole, results=tmp_path))["step_ps"]

    on_time, late = step_ps("RoundRobin"), step_ps(order, skew="10 us")
    assert on_time < late <= on_time + 10_000_000
    if order == "Fifo":
        assert step_ps("RoundRobin", skew="10 us") > 1.1 * on_time


def test_the_first_device_computes_or_waits_and_no_lane_is_busy_twice(step):
    # Oracle: identities. Computations and exposed times fill the step; in a steady step all devices
    # do the same, so device 0 waits as long as the mean.
    _, run = step
    row, spans = shares(run), step_timeline.measure(RunTables(run.spec, run.folder))
    lengths = (spans["end_ps"] - spans["start_ps"]).groupby(spans["lane"]).sum()

    assert lengths["compute"] + lengths["exposed"] == row["step_ps"]
    assert lengths["exposed"] / row["step_ps"] == pytest.approx(row["exposed_share"], abs=1e-3)
    for _, own in spans.groupby("lane"):
        own = own.sort_values("start_ps")
        assert (own["start_ps"].to_numpy()[1:] >= own["end_ps"].to_numpy()[:-1]).all()


def test_stages_take_their_times(tmp_path):
    # Oracle: golden numbers of [hotnets24] section 4.1 [ms]; stages 1 and 2 here scatter, which is
    # half of an all-reduce. In one chunk each stage has the network to itself.
    for name in ("dense-100t", "moe-100t"):
        run = pyorch.run(scenario(preset=name, chunks=1), results=tmp_path)
        times = parallelism.stage_times(preset.training(name).setup)
        (found,) = steps(RunTables(run.spec, run.folder))
        sent = found.tasks[found.tasks["kind"] == 1]
        took = {lane: own["end_ps"].max() - own["start_ps"].min()
                for lane, own in sent.groupby("lane")}  # fmt: skip
        stages = [times.dp1_ps / 2, times.dp2_ps / 2, times.dp4_ps, times.dp5_ps]
        in_a_site = [lane for lane in DATA if lane in took]
        for lane, ideal_ps in zip(in_a_site, stages, strict=True):
            assert took[lane] * DIVIDE == pytest.approx(ideal_ps, rel=0.02), lane
        row = shares(run)
        for kind in ("tensor", "pipeline"):
            pass_ps = row[f"{kind}_share"] * row["step_ps"] / 2 * DIVIDE
            assert pass_ps == pytest.approx(getattr(times, f"{kind}_ps"), rel=0.02), kind


def test_gradients_of_experts_take_their_time_in_the_rack_and_on_the_rail(tmp_path):
    # Closed form: of 4 replicas of a rack 2 have the same experts. In one chunk each stage has the
    # network to itself. In one ring of all replicas one of these 2 would send all that leaves.
    load = {"preset": "moe-100t", "members": 4, "tensor": 2, "experts": 2, "chunks": 1}
    run = pyorch.run(scenario(**load), results=tmp_path)
    setup = preset.training("moe-100t", [("parallelism.experts", 2)]).setup
    times = parallelism.stage_times(setup)
    (found,) = steps(RunTables(run.spec, run.folder))
    sent = found.tasks[found.tasks["kind"] == 1]
    took = sent.groupby("lane")["end_ps"].max() - sent.groupby("lane")["start_ps"].min()

    stages = [times.dp1_ps / 2, times.dp2_ps / 2, times.dp4_ps, times.dp5_ps]
    in_a_site = [lane for lane in DATA if lane in took]
    assert len(in_a_site) == 4
    for lane, ideal_ps in zip(in_a_site, stages, strict=True):
        assert took[lane] * DIVIDE == pytest.approx(ideal_ps, rel=0.02), lane


@pytest.mark.parametrize(("context", "peers"), [(4, 3), (12, 3), (12, 6)])
def test_keys_and_values_take_their_time_by_rail_and_by_rack(context, peers, tmp_path):
    # Closed form: of 3 racks 2/3 of the part of a device at 800 Gb/s, in two messages, then 3/4 of
    # all keys and values at 14.4 Tb/s, in three. Each has two links of 1 ns, and is a packet later
    # behind the switch. Forward once and backward twice, and nothing is computed meanwhile.
    load = {"members": 4, "tensor": 2, "stages": 1, "peers": peers, "context": context}
    row = shares(pyorch.run(scenario(**load), results=tmp_path))

    kept = 2 * 32_000 * 244_224 * 0.5 / 18 / DIVIDE

    def sent_ps(n, size_bytes, rate_bps):
        return n * ((size_bytes + 9001) * 8e12 / rate_bps + 2000)

    each_ps = sent_ps(3, kept / 4, 14.4e12)
    if context == 12:
        each_ps += sent_ps(2, kept / 4 / 3, 800e9)
    assert row["context_share"] * row["step_ps"] == pytest.approx(3 * each_ps, rel=0.005)


def test_tokens_take_their_time_to_the_experts_and_back(tmp_path):
    # Oracle: a device keeps a fourth of its tokens and sends the rest through one port, all four
    # members at once, and receives as much: 3/4 S / 1.8 TB/s, and two links of 1 ns with a packet
    # at the switch. S is 2 active experts times s b h / 2 / 18 = 97.4 MB. Before and after the
    # feed-forward, in both passes, nothing is computed meanwhile: four times in a step.
    load = {"preset": "moe-100t", "peers": 2, "stages": 4, "members": 4, "tensor": 2}
    row = shares(pyorch.run(scenario(**load, experts=4), results=tmp_path))
    tokens = 2 * 32_000 * 109_568 * 0.5 / 18 / DIVIDE
    each_ps = (3 / 4 * tokens + 9001) / 1.8e12 * 1e12 + 2000
    assert row["expert_share"] * row["step_ps"] == pytest.approx(4 * each_ps, rel=0.01)


def test_bytes_of_ports_are_those_of_the_plan(step):
    # Oracle: data and headers of the messages that leave a host, and nothing else; ACKs are apart.
    name, run = step
    flows = run.flows
    packets = np.ceil(flows["bytes"] / 9000)
    assert (flows["sent_data_packets"] == packets).all()
    (found,) = steps(RunTables(run.spec, run.folder))
    assert found.tasks["end_ps"].max() == run.table("tasks")["end_ps"].max()


def test_gradients_are_reduced_as_they_come(tmp_path):
    # Oracle for MoE, whose reduction D outlasts the backward pass. Beside the arithmetic alone a
    # step takes F + TP + PP + D + TP + PP; as the pass goes on D begins when the first of 16 chunks
    # has been computed, B / 16, and the all-reduces of that pass, TP, are hidden.
    arithmetic, whole = (
        shares(pyorch.run(scenario(preset="moe-100t", overlap=o), results=tmp_path))
        for o in ("compute", "pass")
    )
    tensor_ps = arithmetic["tensor_share"] * arithmetic["step_ps"] / 2
    backward_ps = arithmetic["compute_ps"] * 2 / 3
    expected_ps = arithmetic["step_ps"] - tensor_ps + backward_ps / 16
    assert whole["step_ps"] == pytest.approx(expected_ps, rel=1e-3)


def test_a_pipeline_waits_for_its_bubble(tmp_path):
    # Oracle: the bubble is p-1 of m + p-1 passes forward and backward; all-reduces make each of
    # these longer, which is no bubble but the wait for others' all-reduces: TP / (F + B) = 4.3 %.
    load = {"schedule": "1f1b", "stages": 4, "peers": 2, "micro_batches": 6, "overlap": "pass"}
    row = shares(pyorch.run(scenario(**load), results=tmp_path))
    busy = row["compute_ps"] / row["step_ps"]
    assert row["bubble_share"] / (row["bubble_share"] + busy) == pytest.approx(3 / 9, abs=0.01)


def test_trace_events_of_a_step(step, tmp_path):
    # Oracle: every message and computation once, on its device, with its times in us.
    _, run = step
    write_trace_events([run], tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    complete = pd.DataFrame([event for event in events if event["ph"] == "X"])
    complete = complete[complete["pid"].map(names).str.contains("device")]
    table = run.table("tasks")
    assert len(complete) == (table["kind"] != 2).sum()
    ends = complete["ts"] + complete["dur"]
    assert ends.max() == pytest.approx(table["end_ps"][table["kind"] != 2].max() / 1e6)
    computes = complete[complete["name"].isin(["forward", "backward"])]
    for _, own in computes.sort_values("ts").groupby("pid"):
        begins, over = own["ts"].to_numpy()[1:], (own["ts"] + own["dur"]).to_numpy()[:-1]
        assert (begins >= over - 1e-9).all()


@pytest.mark.parametrize(
    "workload, message",
    [
        ({"stages": 4}, "4 stages x 4 peers x 2 members x 4 of a tensor-parallel group make 128"),
        ({"members": 1}, "workload.members: 1 x 4 devices of a rack; the racks of the topology"),
        ({"preset": "dense"}, "workload.preset: no preset 'dense'."),
        ({"experts": 3}, "workload.experts: 4 peers x 2 members are not groups of 3."),
        ({"experts": 2},
         "workload.experts: dense-100t: experts 2: the model has no experts. Take 1."),
        ({"micro_batches": 2}, "a steady step has one micro-batch and one model chunk."),
        ({"schedule": "interleaved", "model_chunks": 2, "micro_batches": 3},
         "workload.schedule: 3 micro-batches are no multiple of 2 stages, as interleaving wants."),
        ({"schedule": "1f2b"}, "workload.schedule: '1f2b' is none of steady, gpipe, 1f1b,"),
        ({"schedule": "1f1b", "overlap": "compute"},
         "workload.overlap: compute with schedule: 1f1b. Write pass or none."),
        ({"amounts": {}}, "workload.amounts: follow from the preset."),
        ({"tensor": 0}, "workload.tensor: "),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_is_refused(workload, message, tmp_path):
    with pytest.raises(PyorchError) as error:
        pyorch.run(scenario(**workload), results=tmp_path)
    assert message in str(error.value)


@pytest.mark.parametrize("load", [
    {"placement": "random"}, {"placement": "random", "schedule": "1f1b", "micro_batches": 4},
    {"skew": "1 us"}, {"schedule": "zero_bubble", "micro_batches": 4},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("engine", ["packets", "fluid"])
def test_what_is_waited_for_adds_up_to_what_is_exposed(load, engine, tmp_path):
    # Identity: every moment in which a device computes nothing is in one part, relayed or not.
    given = scenario(divide=1000, chunks=4, **load) | {"engine": engine}
    run = pyorch.run(given, results=tmp_path)
    row = shares(run)
    parts = [value for key, value in row.items()
             if key.endswith("_share") and key != "exposed_share"]  # fmt: skip
    assert min(parts) >= 0 and sum(parts) == pytest.approx(row["exposed_share"], abs=1e-9)


def test_two_streams_of_a_device_compute_at_one_time(tmp_path):
    # By hand: two computations of 100 ns side by side, then a message of 1 MB over two links of
    # 100 Gb/s: a device that computed is busy for 100 ns, and not for 200.
    (tmp_path / "two.goal").write_text(
        "num_ranks 2\nrank 0 {\na: calc 100 cpu 0\nb: calc 100 cpu 1\nc: send 1000000b to 1 tag 1\n"
        "c requires a\nc requires b\n}\nrank 1 {\nd: recv 1000000b from 0 tag 1\n}\n"
    )
    given = scenario() | {
        "topology": {"type": "star", "hosts": 2},
        "workload": {"type": "trace", "format": "goal", "file": str(tmp_path / "two.goal")},
    }
    row = shares(pyorch.run(given, results=tmp_path))
    assert row["compute_ps"] == 50_000  # the mean of 100 ns and nothing
    assert row["exposed_share"] == pytest.approx(1 - 50_000 / row["step_ps"])
    assert 0 <= row["exposed_share"] <= 1
