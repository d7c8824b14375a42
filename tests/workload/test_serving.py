# SPDX-License-Identifier: GPL-2.0-only
"""A service as a scenario says it: who asks, whose hosts answer, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from pyorch import plugins, spec
from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.spec.scenario import parse_scenario
from pyorch.spec.stored import checked

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
SCENARIO = """\
name: answers
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 8, spines: 4}
link: {rate: 400 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: incast, senders: 2, message: 1 MB}
transport: {type: ns3::RoceTransport}
stop: 1 s
"""
DRAWN = {"number": 1000, "rate_per_s": 50, "prompt_tokens": 2048, "answer_tokens": 100}
DENSE = {
    "preset": "llama3-70b", "requests": DRAWN, "prefill": {"tensor": 8},
    "decode": {"instances": 2, "tensor": 8}, "memory_rate": "26.8 Tb/s", "divide": 100,
}  # fmt: skip
EXPERTS = DENSE | {
    "preset": "deepseek-v3", "prefill": {"experts": 16}, "decode": {"experts": 16},
}  # fmt: skip


def planned(load, seed=1, sets=()):
    scenario = parse_scenario(f"{SCENARIO}seed: {seed}\n", "answers.yaml")
    sets = [("workload", {"type": "serving"} | load), *sets]
    (run,) = spec.plan(scenario, sets=sets, typeids_file=TYPEIDS)
    return run.spec


def file(tmp_path, text, name="given.csv"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_requests_arrive_at_their_rate_in_a_time_that_is_as_much_shorter():
    # 100 times smaller and one layer of 80: 8000 times shorter, so 1000 requests of 50 in a second
    # come within 2.5 ms. Of 1000 exponential gaps the mean is within 4 / sqrt(1000) of its own but
    # for one draw in 16,000.
    tables = input_tables(planned(DENSE))

    arrival_ps = tables["requests"]["arrival_ps"]
    assert arrival_ps[-1] == pytest.approx(2.5e9, rel=4 / 1000**0.5)
    assert np.array_equal(tables["tasks"]["start_ps"], arrival_ps)
    assert set(tables["tasks"]["decides"]) == {1} and set(tables["tasks"]["kind"]) == {2}
    assert set(tables["requests"]["prompt_tokens"]) == {2048}
    assert len(tables["flows"]["flow"]) == 0
    assert tables["servers"]["host"].tolist() == list(range(24))  # 8 + 2 x 8


def test_sizes_have_their_mean_and_spread_and_follow_from_the_seed():
    # Log-normal: of 10,000 draws with a spread of 1/2 the mean is within 4 x 0.5 / 100 = 2 %.
    requests = DRAWN | {"number": 10_000, "answer_tokens": {"mean": 1000, "spread": 0.5}}
    runs = [input_tables(planned(DENSE | {"requests": requests}, s)) for s in (1, 1, 2)]

    tokens = [tables["requests"]["answer_tokens"] for tables in runs]
    assert tokens[0].mean() == pytest.approx(1000, rel=0.02)
    assert tokens[0].std() == pytest.approx(500, rel=0.05)
    assert np.array_equal(tokens[0], tokens[1]) and not np.array_equal(tokens[0], tokens[2])


def test_requests_of_a_file_in_the_order_of_their_arrival(tmp_path):
    name = file(tmp_path, "arrival_s,prompt_tokens,answer_tokens\n0.8,30,3\n0.008,10,1\n0,20,2\n")

    requests = input_tables(planned(DENSE | {"requests": {"file": name}}))["requests"]

    assert requests["arrival_ps"].tolist() == [0, 10**6, 10**8]  # over 8000
    assert requests["prompt_tokens"].tolist() == [20, 10, 30]


def test_a_resolved_spec_is_read_back_as_it_stands(tmp_path):
    name = file(tmp_path, "arrival_s,prompt_tokens,answer_tokens\n0.8,30,3\n")
    for load in (DENSE, EXPERTS, DENSE | {"requests": {"file": name}, "routing": {"zipf": 0}},
                 DENSE | {"requests": DRAWN | {"answer_tokens": {"mean": 5}}}):  # fmt: skip
        found = planned(load).plain()
        assert checked(found, "spec.json").plain() == found


def shares(layers, experts=256):
    rows = [f"{layer},{e},{1 / experts}" for layer in range(layers) for e in range(experts)]
    return "\n".join(["layer,expert,share", *rows])


def test_shares_of_a_file_are_those_of_the_layers(tmp_path):
    load = EXPERTS | {"routing": {"file": file(tmp_path, shares(3))}}
    made = planned(load).workload[0]

    assert made.module.service(made.params).routing.shares.shape == (3, 256)


HEAD = "arrival_s,prompt_tokens,answer_tokens\n"


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"decode": None}, "prefill: write prefill and decode, or together alone"),
        ({"together": {"tensor": 8}}, "prefill: write prefill and decode, or together alone"),
        ({"prefill": {"tensor": 8, "experts": 2}}, "prefill.experts: llama3-70b has none"),
        ({"preset": "deepseek-v3", "prefill": {"experts": 24}},
         "prefill.experts: 256 experts are not 24 equal parts. Write a divisor"),
        ({"prefill": {"tensor": 3}}, "prefill.tensor: 8 heads of keys and values are not 3 equal"),
        ({"preset": "deepseek-v3", "prefill": {"tensor": 3, "experts": 2},
          "decode": {"tensor": 2, "experts": 8}},
         "decode.tensor: 2: the parts of keys and values of 3 devices"),
        ({"decode": {"instances": 4, "tensor": 8}},
         "prefill: instances of 40 devices; the topology has 32 hosts"),
        ({"first_host": 9}, "instances of 24 devices from host 9 on; the topology has 32 hosts"),
        ({"prefill": {"tensor": 1}},
         "prefill.tensor: a device would hold 139.6 GB, 136.9 of weights and the rest keys and"
         " values of 8,192 tokens; it has 80.0. Raise tensor or experts, or lower sequences"),
        ({"sequences": 4096}, "decode.tensor: a device would hold"),
        ({"layers": 81}, "layers: 81; the model has 80"),
        ({"costs": {}}, "costs: follow from the preset"),
        ({"preset": "lama"}, "preset: no preset 'lama'"),
        ({"requests": {"number": 3}}, "requests: write a file, or number, rate_per_s,"),
        ({"requests": DRAWN | {"file": "x.csv"}}, "requests"),
        ({"requests": DRAWN | {"rate_per_s": 0}}, "requests.rate_per_s"),
        ({"routing": {}}, "routing: write zipf or file"),
        ({"memory_rate": 3.35}, "memory_rate: '3.35' has no unit"),
        ({"start": "2 s"}, "requests: the first one comes when the run has stopped, at 1 s"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(load, words):
    with pytest.raises(SpecError) as refused:
        planned({k: v for k, v in (DENSE | load).items() if v is not None})

    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("", "there is no request in it"),
        ("-1,1,1\n", "row 1: arrival_s is not 0 to 10^6"),
        ("1e300,1,1\n", "row 1: arrival_s is not 0 to 10^6"),
        ("0,1,1\n0,0,1\n", "row 2: prompt_tokens is not 1 to"),
        ("0,1,0\n", "row 1: answer_tokens is not 1 to"),
        ("0,1,x\n", "answer_tokens: row 1: 'x' is not a whole number"),
        ("nan,1,1\n", "arrival_s: row 1: 'nan' is not a number"),
    ],
)
def test_rows_that_are_no_requests_are_refused(rows, words, tmp_path):
    with pytest.raises(SpecError) as refused:
        planned(DENSE | {"requests": {"file": file(tmp_path, HEAD + rows)}})

    assert words in str(refused.value) and "given.csv" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (shares(1, 255), "each layer, from 0, has each of the 256 experts of deepseek-v3 once"),
        (shares(1).replace("0,255,", "0,254,"), "each of the 256 experts"),
        (shares(2).replace("\n1,", "\n2,"), "each layer, from 0"),
        (shares(1).replace("0,0,0.00", "0,0,0.9"), "shares of a layer sum up to 1"),
        (shares(1).replace(str(1 / 256), "0").replace("0,0,0", "0,0,1"),
         "a layer uses 1 experts; a token visits 8 different ones"),
    ],
)  # fmt: skip
def test_tables_that_are_no_routing_are_refused(text, words, tmp_path):
    with pytest.raises(SpecError) as refused:
        planned(EXPERTS | {"routing": {"file": file(tmp_path, text)}})

    assert words in str(refused.value) and "given.csv" in str(refused.value)


def test_a_service_is_not_skipped():
    with pytest.raises(SpecError, match="workload.0, serving, makes its messages as the run goes"):
        planned(DENSE, sets=[("engine.skip", "1%")])


@pytest.mark.parametrize("name", ["goal", "chakra", "htsim", "hpcc"])
def test_a_service_is_in_no_file_of_another_simulator(name):
    made = planned(DENSE)
    with pytest.raises(SpecError, match="serving makes its messages as a run goes on"):
        plugins.load("pyorch.export", name).files(made, input_tables(made))
