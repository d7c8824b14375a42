# SPDX-License-Identifier: GPL-2.0-only
"""Random arrivals: their load, their sizes and their pairs, within a stated chance."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.spec.fields import FieldError
from pyorch.spec.network import Network
from pyorch.spec.resolved import Link
from pyorch.spec.scenario import parse_scenario
from pyorch.topology import leaf_spine
from pyorch.workload import _size_cdf, poisson

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
LINK = Link(rate_bps=10**11, delay_ps=10**6)


def fabric(planes=1):
    params = leaf_spine.Params.model_validate(
        {"leaves": 4, "hosts_per_leaf": 4, "spines": 4, "planes": planes}, context={"link": LINK}
    )
    return leaf_spine.tables(params, LINK)


def flows(seed=1, planes=1, folder=".", **given_):
    params = poisson.Params.model_validate(given_, context={"folder": folder})
    tables = fabric(planes)
    return poisson.flows(params, tables["nodes"], tables["links"], seed)


def test_means_of_the_distributions_that_come_with_it():
    # By hand, sum of probability times midpoint. AliStorage2019: 0.2293*2000 + 0.4628*6000 +
    # 0.114*12000 + 0.0986*24000 + 0.0306*48000 + 0.0324*96000 + 0.0076*192000 + 0.0247*1128000
    # = 458.6 + 2776.8 + 1368 + 2366.4 + 1468.8 + 3110.4 + 1459.2 + 27861.6 = 40869.8 bytes.
    cdf = _size_cdf.points(_size_cdf.shipped("ali_storage_2019"), "", "sizes")
    assert _size_cdf.mean_bytes(cdf) == pytest.approx(40869.8, rel=1e-9)
    # WebSearch is known for 1.6 to 1.7 MB: 0.15*5000 + 0.05*15000 + 0.1*25000 + 0.1*40000 +
    # 0.13*65000 + 0.07*140000 + 0.1*600000 + 0.1*1500000 + 0.1*3500000 + 0.07*7500000 +
    # 0.03*20000000 = 1711250 bytes.
    cdf = _size_cdf.points(_size_cdf.shipped("websearch"), "", "sizes")
    assert _size_cdf.mean_bytes(cdf) == pytest.approx(1_711_250, rel=1e-9)


@pytest.mark.parametrize("planes", [1, 2])
def test_the_offered_load_is_the_load_asked_for(tmp_path, planes):
    # Uniform sizes on [0, 2000]: mean 1000 bytes. 16 hosts of planes x 100 Gb/s at 0.4 for 100 us:
    # 8000 x planes messages expected. Poisson: standard deviation sqrt(8000 planes), and of the
    # bytes sqrt(n E[s^2]) with E[s^2] = 4/3 10^6. Beyond 5 deviations: once in 1.7 million.
    (tmp_path / "u.txt").write_text("0 0\n2000 100\n")
    got = flows(planes=planes, folder=tmp_path, load=0.4, duration="100 us", sizes_file="u.txt")

    expected = 0.4 * 16 * planes * 1e11 * 100e-6 / (8 * 1000)
    assert abs(len(got["src"]) - expected) < 5 * expected**0.5
    assert abs(got["bytes"].sum() - expected * 1000) < 5 * (expected * 4e6 / 3) ** 0.5
    assert (np.diff(got["start_ps"]) >= 0).all() and got["start_ps"].max() < 10**8


def test_all_pairs_are_equally_likely():
    # 16 hosts have 240 ordered pairs; chi-square with 239 degrees, false alarm once in 10^4.
    got = flows(load=1.0, duration="2 ms", sizes="fb_hdp")
    pairs = np.bincount(got["src"] * 16 + got["dst"], minlength=256).reshape(16, 16)
    assert (np.diag(pairs) == 0).all()
    seen = pairs[~np.eye(16, dtype=bool)]
    expected = seen.sum() / 240

    assert expected > 5
    assert ((seen - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-4, 239)


def test_sizes_follow_their_distribution(tmp_path):
    # Kolmogorov-Smirnov by hand: at each point of the file the empirical share is within
    # 5 / (2 sqrt(n)) of the given one, as a share's standard deviation is at most 1/2 over sqrt(n).
    got = flows(load=1.0, duration="400 us", sizes="fb_hdp")["bytes"]
    for size, share in _size_cdf.points(_size_cdf.shipped("fb_hdp"), "", "sizes"):
        assert abs((got <= size).mean() - share) < 2.5 / len(got) ** 0.5 + 0.01


@pytest.mark.parametrize(
    ("given_", "key", "message"),
    [
        ({"sizes": "web"}, "sizes", "no distribution 'web'. There are .*websearch; or name a file"),
        ({}, "sizes", "write either sizes .* or sizes_file"),
        ({"sizes_file": "bad.txt"}, "sizes_file", "bad.txt: sizes must ascend, .* are 2 points"),
        ({"sizes_file": "words.txt"}, "sizes_file", "words.txt: each line has a size in bytes"),
        ({"sizes_file": "huge.txt"}, "sizes_file", "huge.txt: 9007199254740993 bytes: .* exact"),
        ({"sizes_file": "nan.txt"}, "sizes_file", "nan.txt: each line has a size in bytes"),
    ],
)
def test_a_distribution_that_is_none_is_refused(tmp_path, given_, key, message):
    (tmp_path / "bad.txt").write_text("0 0\n100 90\n")
    (tmp_path / "words.txt").write_text("0 0\nten 100\n")
    (tmp_path / "huge.txt").write_text("0 0\n9007199254740993 100\n")
    (tmp_path / "nan.txt").write_text("0 0\n9 nan\n10 100\n")
    with pytest.raises(FieldError, match=message) as caught:
        flows(folder=tmp_path, load=0.5, duration="1 us", **given_)
    assert caught.value.field == key


def test_messages_must_begin_before_the_end_and_fit_the_machine():
    tables = fabric()
    network = Network({"hosts": 2}, tables["nodes"], tables["links"])

    def check(stop_ps, **given_):
        poisson.check(poisson.Params.model_validate({"load": 1, **given_}), network, stop_ps)

    with pytest.raises(FieldError, match="until 1 ms, but the run stops at 1 ns"):
        check(1000, duration="1 ms", sizes="fb_hdp")
    with pytest.raises(FieldError, match="at most 5000000. Shorten it"):
        check(10**16, duration="1000 s", sizes="fb_hdp")


def test_starts_are_uniform_over_the_duration():
    # Kolmogorov and Smirnov against the uniform distribution: false alarm once in 10^6 draws.
    table = flows(load=1, duration="10 ms", sizes="fb_hdp", start="3 ms")
    share = (table["start_ps"] - 3 * 10**9) / 10**10

    assert len(share) > 1000
    assert kstest(share, "uniform").pvalue > 1e-6


def test_hosts_send_in_proportion_to_their_rate():
    # Two hosts at 100 Gb/s and two at 300 Gb/s: shares 1/8 and 3/8, so the fast ones send 3 of 4.
    # Chi square of four counts: false alarm once in 10^6 draws.
    nodes = {"node": np.arange(5), "is_switch": np.array([0, 0, 0, 0, 1])}
    links = {
        "node_a": np.arange(4), "node_b": np.full(4, 4),
        "rate_bps": np.array([1, 1, 3, 3]) * 10**11,
    }  # fmt: skip
    params = poisson.Params.model_validate({"load": 1, "duration": "20 ms", "sizes": "fb_hdp"})
    sent = np.bincount(poisson.flows(params, nodes, links, 1)["src"], minlength=4)

    expected = sent.sum() * np.array([1, 1, 3, 3]) / 8
    assert ((sent - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 3)


ON_WIRE = """# Question: does the load count what is on the wire?
name: counted
topology: {{type: star, hosts: 16}}
link: {{rate: 100 Gb/s, delay: 500 ns}}
switch: {{buffer: 64 MB}}
workload: {{type: poisson, load: 0.6, duration: 10 ms, sizes: fb_hdp, counts: {counts}}}
transport: {{type: "{kind}"}}
stop: 20 ms
"""


def on_wire(size, first_header, acks_each_packet):
    """Frame by frame: 62 B of headers, 20 B of framing, acknowledgements of 66 B."""
    total, packets = 0, 0
    while size > 0:
        payload = min(size, 4096)
        header = 62 + (first_header if packets == 0 else 0)
        total += max(payload + header, 64) + 20
        size, packets = size - payload, packets + 1
    return total + (packets if acks_each_packet else 1) * (66 + 20)


@pytest.mark.parametrize(
    ("kind", "first_header", "acks_each_packet"),
    [("ns3::RoceTransport", 16, True), ("ns3::HomaTransport", 0, False)],
)
def test_a_load_that_counts_the_wire_is_the_share_of_all_bytes_there(
    kind, first_header, acks_each_packet
):
    # The mean number of messages times what the mean one takes, over what the links of hosts carry.
    # Twenty thousand sizes, evenly spread, have its mean within 0.2 % of the whole distribution.
    text = ON_WIRE.format(counts="wire", kind=kind)
    (run,) = spec.plan(parse_scenario(text, "counted.yaml"), typeids_file=TYPEIDS)
    params, tables = run.spec.workload[0].params, input_tables(run.spec)
    sizes = _size_cdf.draw(params.points, (np.arange(20_000) + 0.5) / 20_000).tolist()
    mean = np.mean([on_wire(size, first_header, acks_each_packet) for size in sizes])

    messages = poisson._expected(params, tables["nodes"], tables["links"])
    assert messages * mean * 8 / (16 * 100e9 * 10e-3) == pytest.approx(0.6, rel=2e-3)
    # The number that is drawn is Poisson: five times its root, a false alarm in a million seeds.
    assert abs(len(tables["flows"]["bytes"]) - messages) < 5 * messages**0.5


def test_a_transport_that_does_not_say_its_frames_cannot_count_the_wire():
    text = ON_WIRE.format(counts="wire", kind="ns3::TcpTransport")
    with pytest.raises(SpecError, match=r"workload.counts: ns3::TcpTransport does not say how"):
        spec.plan(parse_scenario(text, "counted.yaml"), typeids_file=TYPEIDS)
