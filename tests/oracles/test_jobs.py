# SPDX-License-Identifier: GPL-2.0-only
"""Where the devices of a job are, what fails under it, who else is there, and whose clock is late.

Racks of 8 devices, every rail one switch in each plane, everything 1000 times smaller.
"""

from dataclasses import replace

import numpy as np
import pytest
from test_training import scenario, shares

import pyorch
from pyorch import spec
from pyorch.errors import PyorchError
from pyorch.theory import exposed, fct, preset
from pyorch.workload import training

pytestmark = pytest.mark.ns3

JOB = {"stages": 1, "peers": 2, "divide": 1000, "chunks": 4}
DEVICES = 16


def job(*loads, racks=4, **top):
    """Return a scenario of training jobs of two racks each."""
    whole = scenario() | top
    whole["topology"]["rail"]["hosts"] = racks
    whole["workload"] = [whole["workload"] | JOB | load for load in loads]
    return whole


def times(run, workload=0):
    """Return starts and ends of the tasks of one of the jobs, all alike, by id [ps]."""
    table = run.table("tasks")
    messages, others = (table[(table["kind"] == 1) == is_message] for is_message in (True, False))
    jobs = len(run.spec.workload)
    parts = (part[["start_ps", "end_ps"]].to_numpy(np.int64) for part in (messages, others))
    return np.concatenate([np.array_split(part, jobs)[workload] for part in parts])


def test_two_jobs_on_racks_of_their_own_do_not_notice_each_other(tmp_path):
    alone = times(pyorch.run(job({}), results=tmp_path))
    both = pyorch.run(job({}, {"first_host": DEVICES, "start": "7 us"}), results=tmp_path)

    assert np.array_equal(times(both, 0), alone)
    assert np.array_equal(times(both, 1), alone + 7_000_000)


def test_two_jobs_on_the_same_racks_do(tmp_path):
    # The same links twice: each step takes longer than alone, and at most as both one by one.
    alone = times(pyorch.run(job({}), results=tmp_path)).max()
    both = pyorch.run(job({}, {}), results=tmp_path)
    for workload in (0, 1):
        assert 1.01 * alone < times(both, workload).max() < 2 * alone


def test_a_rack_that_fails_is_replaced_and_its_links_are_not_missed(tmp_path):
    # At 40 us a device of the second rack fails; 100 us later the step begins anew, with the fourth
    # rack in its place. On rails of one switch that is as far away, so the step takes as long.
    before = times(pyorch.run(job({}), results=tmp_path))
    replaced = [[8 + i, 24 + i] for i in range(8)]
    dead = {"type": "scheduled", "at": "0 s",
            "links": [[8 + i, there] for i in range(8) for there in (32 + 1, 36 + i)]}  # fmt: skip
    after = pyorch.run(
        job({"replaced": replaced, "start": "140 us"}, failures=[dead]), results=tmp_path
    )

    assert np.array_equal(times(after), before + 140_000_000)
    assert set(range(8, 16)).isdisjoint(after.table("tasks")["node"].tolist())


def test_a_spare_is_the_second_attempt_that_replaced_and_start_say():
    # 40 us to the failure and 100 us until the spare rack is there are the start at 140 us above.
    hosts = [[8 + i, 24 + i] for i in range(8)]
    by_spare = job({"spare": {"hosts": hosts, "at": "40 us", "delay": "100 us"}})
    by_hand = job({"replaced": hosts, "start": "140 us"})
    found = [spec.plan(spec.scenario_of(its))[0] for its in (by_spare, by_hand)]

    assert found[0].id == found[1].id
    assert "spare" not in found[0].spec.plain()["workload"][0]


def test_random_devices_send_the_bytes_over_each_network_that_their_places_say(tmp_path):
    """A message in a rack is once on scale-up, on a rail once on that, any other on both."""
    whole = job({"placement": "random"}, engine="fluid")
    run = pyorch.run(whole, results=tmp_path)
    graph = training.graph_of(run.spec.workload[0].params)
    tasks = run.table("tasks")
    computes = graph.kind == 0
    host = np.full(DEVICES, -1)
    host[graph.device[computes]] = tasks.loc[tasks["kind"] == 0, "node"]
    assert len(set(host.tolist())) == DEVICES and host.min() >= 0

    sent = graph.kind == 1
    src, dst, size = host[graph.device[sent]], host[graph.peer[sent]], graph.size_bytes[sent]
    wire = size + -(-size // 9000)  # a header of 1 B for each packet of 9000
    on_scale_up = (src // 8 == dst // 8) | (src % 8 != dst % 8)
    on_a_rail = src // 8 != dst // 8
    assert (on_scale_up & on_a_rail).any()
    ports = run.table("ports")
    of_hosts = ports[ports["node"] < 32]
    is_up = of_hosts["peer"] < 32 + 4
    for here, expected in ((is_up, wire[on_scale_up]), (~is_up, wire[on_a_rail])):
        got = of_hosts.loc[here, "sent_bytes"].sum()
        assert got == pytest.approx(expected.sum(), rel=1e-9)


@pytest.mark.parametrize("first_host, slower", [(0, True), (16, False)])
def test_a_checkpoint_slows_down_the_step_whose_links_it_takes(tmp_path, first_host, slower):
    # 8 or all 16 devices write to the fourth rack, device i on rail i: those of the job, whose PP
    # and DP messages leave by the same port, or those of the third rack, whose ports nobody uses.
    save = {"type": "companion", "what": "checkpoint", "preset": "llama3-70b", "divide": 10_000,
            "devices": 16 if slower else 8, "first_host": first_host, "peers": 8,
            "first_peer": 24}  # fmt: skip
    alone = shares(pyorch.run(job({"preset": "moe-100t"}, engine="fluid"), results=tmp_path))
    whole = job({"preset": "moe-100t"}, engine="fluid")
    whole["workload"].append(save)
    run = pyorch.run(whole, results=tmp_path)

    assert run.flows["receiver_end_ps"].notna().all()
    assert (shares(run)["step_ps"] > 1.01 * alone["step_ps"]) == slower
    assert slower or shares(run)["step_ps"] == alone["step_ps"]


def in_planes(whole, planes, lost=()):
    """Return a scenario whose rails have planes of 200 Gb/s, some of which fail at once."""
    whole["topology"]["rail"]["planes"] = planes
    whole["link"]["rate"] = "200 Gb/s"
    spray = {"MtuBytes": 9000, "HeaderBytes": 1, "AckBytes": 64, "WindowBdp": 2}
    whole["transport"] = {"type": "ns3::SprayTransport", "attributes": spray}
    dead = [planes * rail + plane for rail in range(8) for plane in lost]
    if dead:
        whole["failures"] = [{"type": "scheduled", "planes": dead, "at": "0 s"}]
    return whole


@pytest.mark.parametrize("name", ["dense-100t", "moe-100t"])
def test_a_lost_plane_of_four_costs_a_quarter_of_the_rate_and_not_the_job(tmp_path, name):
    # Oracle: theory.exposed with three quarters of the rate. Its dense step hides the loss; MoE's
    # waits for gradients, and a little more for the first and last of 16 chunks (test_training).
    whole = in_planes(scenario(preset=name, chunks=16), 4, lost=[1]) | {"engine": "fluid"}
    row = shares(pyorch.run(whole, results=tmp_path))

    setup = preset.training(name).setup
    fewer = replace(setup.network, scale_out_bps=0.75 * setup.network.scale_out_bps)
    model = exposed.expose_setup(replace(setup, network=fewer))
    for kind, off in {"tensor": 0.001, "pipeline": 0.001, "data": 0.014}.items():
        share = getattr(model, f"{kind}_ps") / model.step_ps
        assert row[f"{kind}_share"] == pytest.approx(share, abs=off), kind


@pytest.mark.parametrize("engine, off", [("fluid", 1e-6), ("packets", 0.01)])
def test_four_planes_without_one_are_three(tmp_path, engine, off):
    # MoE's step, which waits for its gradients.
    three, four, whole = (
        pyorch.run(in_planes(job({"preset": "moe-100t"}, engine=engine), *how), results=tmp_path)
        for how in ((3,), (4, [2]), (4,))
    )
    assert times(four).max() == pytest.approx(times(three).max(), rel=off)
    assert times(four).max() > 1.1 * times(whole).max()


def test_each_rank_begins_by_its_own_clock(tmp_path):
    # A ring: each of 4 ranks computes 1 us and sends 5 kB to the next. By hand: rank r begins at
    # its clock c_r; its message ends c_r + 1 us + its time alone, and is taken in by the next rank
    # not before that has begun.
    blocks = [
        f"rank {r} {{\na: calc 1000\nb: send 5000b to {(r + 1) % 4}\nb requires a\n"
        f"c: recv 5000b from {(r - 1) % 4}\n}}\n" for r in range(4)
    ]  # fmt: skip
    (tmp_path / "ring.goal").write_text("num_ranks 4\n" + "".join(blocks))
    load = {"type": "trace", "format": "goal", "file": str(tmp_path / "ring.goal"),
            "start": "2 us", "skew": "50 us"}  # fmt: skip
    whole = scenario() | {"topology": {"type": "star", "hosts": 4}, "workload": load}
    run = pyorch.run(whole, results=tmp_path)
    tasks = run.table("tasks")
    clock = tasks[tasks["kind"] == 0].set_index("node")["start_ps"].astype("int64")
    assert clock.nunique() == 4 and clock.between(2_000_000, 52_000_000).all()
    alone = fct.unloaded_fct_ps(5000, [800 * 10**9] * 2, [1000] * 2, fct.Framing(9000, 1, 0, 0))
    for row in tasks[tasks["kind"] == 1].itertuples():
        assert row.end_ps == clock[row.node] + 1_000_000 + alone
    for row in tasks[tasks["kind"] == 2].itertuples():
        came = clock[(row.node - 1) % 4] + 1_000_000 + alone
        assert row.end_ps == max(came, clock[row.node])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"first_host": 17}, "make 16 devices from host 17 on; the topology has 32."),
        ({"replaced": [[16, 3]]}, "replaced: there is no device 16; they are 0 to 15."),
        ({"replaced": [[3, 32]]}, "replaced: there is no host 32. The 32 hosts are 0 to 31."),
        ({"replaced": [[3, 4]]}, "replaced: host 4 would be two devices."),
        ({"spare": {"hosts": [[16, 3]], "at": "1 us"}}, "there is no device 16; they are 0 to 15."),
        ({"spare": {"hosts": [[3, 32]], "at": "1 us"}}, "there is no host 32. The 32 hosts are"),
        ({"spare": {"hosts": [[3, 30]]}}, "spare.at: this key is missing"),
        ({"spare": {"hosts": [], "at": "1 us"}}, "spare.hosts: "),
        (
            {"spare": {"hosts": [[3, 30]], "at": "1 us"}, "start": "2 us"},
            "spare: says what replaced and start say. Leave it out, or both.",
        ),
        ({"replaced": [[3, 30]], "placement": "random"}, "placement random draws all hosts."),
        ({"first_host": 3, "placement": "random"}, "first_host: placement random draws from all"),
    ],
)
def test_places_that_cannot_be_are_refused(changes, message, tmp_path):
    with pytest.raises(PyorchError) as caught:
        pyorch.run(job(changes), results=tmp_path)
    assert message in str(caught.value)
