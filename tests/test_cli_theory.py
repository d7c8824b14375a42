# SPDX-License-Identifier: GPL-2.0-only
"""One question on one line: the answers of ``pyorch theory`` in each format, and its refusals."""

import csv
import json
import re

import pytest
from typer.testing import CliRunner

from pyorch.cli.theory.app import app
from pyorch.errors import PyorchError
from pyorch.theory import preset


def ask(*words):
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(*words):
    return list(csv.DictReader(ask(*words, "--format", "csv").splitlines()))


def test_the_question_of_the_readme():
    # TP 2 * 8.201 ms, PP 2 * 2.171 / 2 at twice the rate; nothing of the all-reduce, which takes
    # 49 ms against a backward pass of 266: 18.573 / (398.403 + 18.573).
    (row,) = rows("exposed", "--preset", "dense-100t", "--scale-out", "1600Gb/s")

    assert float(row["scale_out_gbps"]) == 1600
    assert float(row["exposed_ms"]) == pytest.approx(18.5731, rel=1e-5)
    assert float(row["exposed_percent"]) == pytest.approx(100 * 18.57308 / 416.97576, rel=1e-5)


def test_several_rates_are_a_sweep():
    found = rows("exposed", "--scale-out", "400 Gb/s", "--scale-out", "1.6 Tb/s",
                 "--scale-up", "14.4 Tb/s", "--scale-up", "7.2 Tb/s")  # fmt: skip

    assert [(row["scale_up_gbps"], row["scale_out_gbps"]) for row in found] == [
        ("14400", "400"), ("14400", "1600"), ("7200", "400"), ("7200", "1600"),
    ]  # fmt: skip


def test_a_wan_rate_brings_the_default_model_and_losses_count():
    # twice-one-way at 20 Gb/s: 2 * 57.85 MB * 8 / 20 Gb/s = 46.3 ms, 30 ms of propagation, 60 ms of
    # one lost round trip: 136.3 ms, 45.9 more than the backward pass (90.4).
    (row,) = rows("exposed", "--preset", "moe-100t", "--wan", "20 Gb/s", "--retransmissions", "1")

    assert row["wan_model"] == "twice-one-way"
    assert float(row["data_ms"]) == pytest.approx(45.92185, rel=1e-6)


def test_one_exchange_in_ten_steps_is_exposed_a_tenth():
    # Oracle: the mean of nine steps without and one with the exchange.
    wan = ("--preset", "moe-100t", "--wan", "1 Gb/s", "--wan-model", "once-one-way")
    whole, tenth = (rows("exposed", *wan, "--exchange-every", every)[0] for every in ("1", "10"))
    (local,) = rows("exposed", "--preset", "moe-100t")

    expected = (9 * float(local["exposed_ms"]) + float(whole["exposed_ms"])) / 10
    assert float(tenth["exposed_ms"]) == pytest.approx(expected)
    assert (tenth["exchange_every"], local["exchange_every"]) == ("10", "")


def test_measured_slowdown_goes_in_by_kind():
    # 7 times 0.974 ms is 6.818 ms per pass, 13.635 ms in both.
    (row,) = rows("exposed", "--preset", "moe-100t", "--inflate", "pipeline=7")

    assert float(row["pipeline_ms"]) == pytest.approx(13.6351, rel=1e-5)


def test_json_and_table_say_the_same_as_csv():
    (from_csv,) = rows("memory", "--preset", "moe-100t")
    (from_json,) = json.loads(ask("memory", "--preset", "moe-100t", "--format", "json"))
    table = ask("memory", "--preset", "moe-100t")

    assert from_json["replicas"] == 784 == int(from_csv["replicas"])
    assert re.search(r"replicas\s+784\b", table)


def test_stages_are_those_of_both_models_of_the_paper_or_of_the_presets_that_are_named():
    # Stage 4 is half of stage 2: the paper prints 49.14 (dense) and 66.1 (MoE) ms.
    found = {(row["preset"], row["activity"]): float(row["value"]) for row in rows("stages")}
    assert {preset for preset, _ in found} == {"dense-100t", "moe-100t"}
    assert found["dense-100t", "dp4"] == pytest.approx(49.13, abs=0.01)
    assert found["moe-100t", "dp4"] == pytest.approx(56.11, abs=0.01)
    alone = rows("stages", "--preset", "moe-100t")
    assert {row["preset"] for row in alone} == {"moe-100t"}


def test_several_presets_are_asked_together():
    both = rows("exposed", "--preset", "moe-100t", "--preset", "dense-100t")
    assert both == [*rows("exposed", "--preset", "moe-100t"), *rows("exposed")]


def test_other_questions_have_answers():
    assert [row["activity"] for row in rows("stages")][:3] == ["forward", "backward", "tensor"]
    assert float(rows("topology", "--planes", "4", "--rails", "72")[0]["chips"]) == 37500
    assert float(rows("site")[0]["gpus"]) == 1_680_000
    assert len(rows("scaling", "--days", "30", "--days", "60")) == 10
    assert {row["parallelism"] for row in rows("traffic")} == {"DP", "FSDP", "TP", "PP", "3D"}
    assert float(rows("inference")[0]["total_tb"]) == pytest.approx(24.0753, rel=1e-6)
    listed = ask("presets").split()
    assert {"dense-100t", "inference-120b", "site-100b-usd"} < set(listed) == set(preset.names())
    assert "kind: training" in ask("presets", "dense-100t")


def test_power_and_the_all_reduce_may_be_asked_for():
    # 37,500 chips of 500 W and 1.6 million transceivers of 10 W; a ring sends a quarter of 1395.52
    # PB among eight devices.
    (power,) = rows("topology", "--planes", "4", "--rails", "72", "--chip-w", "500",
                    "--transceiver-w", "10")  # fmt: skip
    traffic = {row["parallelism"]: row for row in rows("traffic", "--all-reduce", "ring")}

    assert float(power["power_w"]) == 37500 * 500 + 1.6e6 * 10
    assert float(traffic["DP"]["total_pb"]) == pytest.approx(348.88)


def test_the_fluid_permutation_is_one_row_per_draw():
    found = rows("permutation", "--hosts", "128", "--seeds", "2")

    assert [row["seed"] for row in found] == ["1", "2"]
    assert float(found[0]["slowdown_p100"]) >= float(found[0]["slowdown_p50"]) >= 1


def test_what_a_code_of_two_and_one_cannot_give_back():
    # Of three packets two are lost, 3 p^2 q, or all, p^3; then one or two are sent again for two.
    found = rows("fec", "--data", "2", "--parity", "1", "--loss", "0.1", "--loss", "0.5")

    assert [row["loss_share"] for row in found] == ["0.1", "0.5"]
    assert float(found[0]["parity_share"]) == 0.5
    assert float(found[0]["failed_block_share"]) == pytest.approx(0.027 + 0.001)
    assert float(found[1]["resent_share"]) == pytest.approx((3 / 8 + 2 / 8) / 2)
    with pytest.raises(PyorchError, match="--loss 1: a loss ratio is at least 0 and below 1."):
        ask("fec", "--loss", "1")


def test_collisions_on_one_spine_are_all_flows_of_a_leaf():
    found = rows("collisions", "--leaves", "4", "--hosts-per-leaf", "3", "--spines", "1")

    assert [(row["most_flows_on_link"], float(row["chance"])) for row in found] == [("3", 1)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["exposed", "--scale-out=-1 Gb/s"], "'-1 Gb/s' is negative"),
        (["exposed", "--scale-out", "0 Gb/s"], "scale_out_bps 0.0: a rate must be more than 0"),
        (["exposed", "--scale-out", "800"], "'800' has no unit I can read as a rate"),
        (["exposed", "--preset", "moe"], "no preset 'moe'"),
        (["exposed", "--inflate", "pipeline=0.5"], "a ratio of 1 (ideal) or more"),
        (["exposed", "--inflate", "pipe=2"], "Kinds: tensor, pipeline, scale_up, scale_out, wan"),
        (["exposed", "--retransmissions", "-1"], "--retransmissions -1: 0 to 1e+06"),
        (["exposed", "--retransmissions", "nan"], "--retransmissions nan: 0 to 1e+06"),
        (["exposed", "--exchange-every", "10"], "--exchange-every: nothing is exchanged without"),
        (
            ["exposed", "--retransmissions", "1e308", "--wan-model", "once-one-way"],
            "1e+308: 0 to 1e+06",
        ),
        (["permutation", "--hosts", "0"], "0 hosts: a permutation is drawn of 2 to 524,288 hosts"),
        (["permutation", "--hosts", "-8"], "-8 hosts: a permutation is drawn of 2 to"),
        (["permutation", "--hosts", "200000000"], "200000000 hosts: a permutation is drawn of 2"),
        (["scaling", "--days", "0"], "a training takes more than 0"),
        (["topology", "--planes", "0"], "there is at least 1 of each"),
        (["topology", "--chip-w", "500"], "power needs both --chip-w and --transceiver-w"),
        (["traffic", "--all-reduce", "rng"], "no all-reduce 'rng'. Known: ring, tree, direct"),
        (["topology", "--radix", "2"], "a switch of 2 ports builds no Clos"),
        (["traffic", "--preset", "dense-100t"], "has no section traffic"),
        (["permutation", "--seeds", "0"], "--seeds 0: draw 1 to 10000"),
        (["inference", "--port", "0 Gb/s"], "--port 0 Gb/s: a rate must be more than 0"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(words, message):
    with pytest.raises(PyorchError, match=re.escape(message)):
        CliRunner().invoke(app, words, catch_exceptions=False)


def test_a_demand_that_its_tunnels_cannot_carry_gets_a_part_if_asked(tmp_path):
    file = tmp_path / "sites.yaml"
    file.write_text(
        "sites: [a, b]\nlinks: [{between: [a, b], rate: 10 Gb/s, delay: 1 ms}]\n"
        "demands: [{name: bulk, from: a, to: b, demand: 30 Gb/s}]\n"
    )
    with pytest.raises(PyorchError, match="30 Gbit/s can never be granted"):
        ask("wan-te", str(file))
    (row,) = rows("wan-te", str(file), "--partly")
    assert (float(row["asked_gbps"]), float(row["granted_gbps"])) == (30, pytest.approx(10))


@pytest.mark.parametrize(("quanta", "granted"), [(4, "533.333"), (16, None)])
def test_traffic_that_is_lost_by_rounding_is_named(tmp_path, quanta, granted):
    # 400 and 180 Gb/s side by side: fourths carry 400 / 0.75, sixteenths 180 / (5 / 16) = 576.
    file = tmp_path / "sites.yaml"
    links = [("a", "b", 400), ("b", "c", 400), ("a", "c", 180)]
    between = [f"{{between: [{a}, {b}], rate: {r} Gb/s, delay: 1 ms}}" for a, b, r in links]
    file.write_text(
        f"sites: [a, b, c]\nlinks: [{', '.join(between)}]\nquanta: {quanta}\n"
        "demands: [{name: bulk, from: a, to: c, demand: 580 Gb/s}]\n"
    )
    said = CliRunner().invoke(app, ["wan-te", str(file)], catch_exceptions=False).stderr
    if granted:
        assert f"parts of 1/4 grant {granted} Gb/s, finer ones 579." in said
    else:
        assert not said


def test_goodput_has_a_row_for_each_interval_and_number_of_spares():
    found = rows("goodput", "--devices", "100", "--mtbf-days", "100", "--interval", "600 s",
                 "--interval", "60 s", "--spares", "0", "--spares", "3",
                 "--simulate-days", "20")  # fmt: skip

    assert [(row["by"], float(row["interval_s"]), row["spares"]) for row in found] == [
        (by, interval_s, spares) for interval_s in (600, 60) for spares in ("0", "3")
        for by in ("closed form", "simulated")
    ]  # fmt: skip
    for row in found:
        shares = [float(value) for name, value in row.items() if name.endswith("_percent")]
        assert len(shares) == 5 and sum(shares) == pytest.approx(100)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--mtbf-days", "0"), "--mtbf-days 0: write 1e-06 to"),
        (("--repair-days", "nan"), "--repair-days nan: write 0 to"),
        (("--restart", "5"), "--restart: '5' has no unit"),
        (("--checkpoint", "0 s"), "checkpoints may be endless"),
        (("--mtbf-days", "0.1"), "leaves no time for"),
        (("--simulate-days", "1e9"), "with at most 1,000,000 failures in all"),
    ],
)
def test_goodput_refuses_what_is_no_operation(words, says):
    with pytest.raises(PyorchError, match=re.escape(says)):
        ask("goodput", *words)
