# SPDX-License-Identifier: GPL-2.0-only
"""NCCL's graph files: channels, orders and speeds are followed, what does not fit is refused."""

import numpy as np
import pytest

from pyorch.collective import double_tree
from pyorch.collective._graph import Call
from pyorch.spec.fields import FieldError
from pyorch.workload import nccl

MI = 1 << 20
RINGS = ([0, 1, 2, 3], [0, 3, 1, 2])
CHAINS = ([2, 3, 0, 1], [1, 0, 3, 2])


def channel(gpus, nics=()):
    inside = "".join(f'<gpu dev="{gpu}"/>' for gpu in gpus)
    ends = [f'<net dev="{nic}"/>' for nic in nics] or ["", ""]
    return f"<channel>{ends[0]}{inside}{ends[-1]}</channel>"


def graph(number, pattern, channels, nics=(), inside=12, between=10, late=0):
    return (
        f'<graph id="{number}" pattern="{pattern}" crossnic="0" nchannels="{len(channels)}"'
        f' speedintra="{inside}" speedinter="{between}" latencyinter="{late}" typeintra="NVL"'
        f' typeinter="PIX" samechannels="0">{"".join(channel(row, nics) for row in channels)}'
        "</graph>"
    )


def text(nics=(), pattern=1, **more):
    return (
        f'<graphs version="1">{graph(0, 4, RINGS, nics, **more)}'
        f"{graph(1, pattern, CHAINS, nics, **more)}{graph(2, 3, CHAINS, nics)}"
        f"{graph(3, 5, [], nics, inside=0, between=0)}</graphs>"
    )


def params(folder, its, **more):
    (folder / "graph.xml").write_text(its)
    given = {"operation": "all_reduce", "bytes": "64 MiB", "ranks": 4, "local": 4,
             "protocol": "simple", "algorithm": "ring", "graph": "graph.xml"} | more  # fmt: skip
    return nccl.Params.model_validate(given, context={"folder": folder})


def hops(its):
    """Return the pairs of GPUs of each channel."""
    messages, pair = nccl.planned(its)
    return [
        set(zip(messages.src[pair == lane].tolist(), messages.dst[pair == lane].tolist(),
                strict=True)) for lane in np.unique(pair)
    ]  # fmt: skip


def around(*ring):
    return set(zip(ring, ring[1:] + ring[:1], strict=True))


def test_rings_have_the_order_of_the_file_and_twice_its_channels(tmp_path):
    # NCCL makes two of each channel (ncclTopoPostset). 24 GB/s of bus, times 4/6.
    its = params(tmp_path, text())
    assert its.choice.channels == 4
    assert hops(its) == [around(0, 1, 2, 3), around(0, 3, 1, 2)] * 2
    assert its.choice.expected_ps == round((8.4 + 6 * 3.4 + 64 * MI / (24e3 * 4 / 6)) * 1e6)


def test_rings_of_nodes_enter_at_the_first_gpu_and_leave_by_the_last(tmp_path):
    # Three nodes, so 10 GB/s of a channel; 22 steps, 4 of them between nodes, and such a step
    # takes 3 us more, for Simple twice.
    its = params(tmp_path, text((0, 1), late=3), ranks=12, nic_rate="100 Gb/s")
    assert hops(its)[1] == around(0, 3, 1, 2, 4, 7, 5, 6, 8, 11, 9, 10)
    late_us = 8.4 + 18 * 3.4 + 4 * (14 + 2 * 3)
    # 12 or more GPUs and at least 64 B for each channel of each: a plateau of 1.4.
    expected_us = 1.4 * late_us + 64 * MI / (20e3 * 12 / 22)
    assert its.choice.expected_ps == pytest.approx(expected_us * 1e6, abs=1)
    assert (
        its.choice.far_step_ps
        - params(tmp_path, text((0, 1)), ranks=12, nic_rate="100 Gb/s").choice.far_step_ps
        == 6_000_000
    )


@pytest.mark.parametrize("pattern, places", [(1, (1, 0)), (2, (1, 1)), (3, (0, 0))])
def test_trees_have_the_chains_of_the_file_and_its_pattern(tmp_path, pattern, places):
    # src/graph/connect.cc: a node goes up by its first GPU; its children come to the second or the
    # first one. Three nodes: 0 above 2, which is above 1. 1 is a lower child, 2 a higher one.
    its = params(tmp_path, text((0, 0), pattern), ranks=12, nic_rate="100 Gb/s",
                 algorithm="tree")  # fmt: skip
    chain = CHAINS[0]
    lower, higher = (chain[place] for place in places)
    first = double_tree.graph(Call("all_reduce", 12, 12), double_tree.Params(
        local=4, children=places))  # fmt: skip
    assert {(8, 0 + places[1]), (4, 8 + places[0])} <= set(
        zip(first.src.tolist(), first.dst.tolist(), strict=True)
    )
    up = hops(its)[0]
    assert {(8 + chain[0], higher), (4 + chain[0], 8 + lower)} <= up
    assert {(node + a, node + b) for node in (0, 4, 8)
            for a, b in zip(chain[1:], chain, strict=False)} <= up  # fmt: skip
    # Bandwidth: half of 92 % of 2 x 10 GB/s, and 85 % of it where all goes through one GPU.
    share = 0.85 if pattern == 3 else 1
    # treeCorrectionFactor of NCCL has 0.8 for Simple at 64 MiB.
    us = 8.4 + 2 * (3 * 4.0 + 1 * 14.0)
    expected_us = us + 64 * MI / (0.92 * 20e3 * share / 2 * 0.8)
    assert its.choice.expected_ps == pytest.approx(expected_us * 1e6, abs=1)


def test_nvls_has_the_heads_of_the_file_or_none(tmp_path):
    more = {"in_network": "sharp", "algorithm": "any", "bytes": "1 GiB"}
    assert params(tmp_path, text(), **more).choice.algorithm == "ring"
    heads = graph(3, 5, [[0], [1], [2], [3]], inside=60, between=60)
    its = text().replace(graph(3, 5, [], inside=0, between=0), heads)
    choice = params(tmp_path, its, **more).choice
    assert choice.algorithm == "nvls"
    # 2 x 60 GB/s x 0.85 x 3 of 4 heads, of 6 steps for 4 ranks.
    us = 25 + (1 << 30) / (2e3 * 60 * 0.85 * 3 * 4 / 6)
    assert choice.expected_ps == pytest.approx(us * 1e6, abs=1)


def test_ranks_tell_gpus_apart_where_there_are_any(tmp_path):
    its = text().replace('dev="1"', 'dev="0" rank="9"').replace('dev="0"/', 'dev="0" rank="1"/')
    its = its.replace('dev="2"', 'dev="1" rank="10"').replace('dev="3"', 'dev="1" rank="12"')
    assert hops(params(tmp_path, its)) == [around(0, 1, 2, 3), around(0, 3, 1, 2)] * 2


def test_a_file_enters_the_spec_only_if_there_is_one(tmp_path):
    assert "graph" not in params(tmp_path, text(), graph=None).model_dump()
    assert "graph" in params(tmp_path, text()).model_dump()


def test_what_is_not_used_is_said_once(tmp_path):
    its = text((0, 0)).replace("<channel>", '<channel colour="red"><rail/>')
    said = nccl.remarks(params(tmp_path, its, ranks=8, nic_rate="100 Gb/s"))
    assert [line.partition("graph.xml: ")[2] for line in said] == [
        "not used: channel colour, graph crossnic, graph samechannels, graph typeinter, graph"
        " typeintra, net dev, rail.",
        "NICs of its channels are not followed; a GPU sends by its own.",
    ]
    assert nccl.remarks(params(tmp_path, text(), graph=None)) == ()


@pytest.mark.parametrize(
    "its, more, message",
    [
        (text(), {"local": 2, "ranks": 2}, "its channels have 4 GPUs, and local is 2."),
        (text(), {"ranks": 8, "nic_rate": "1 Gb/s"}, "is of one node, without NICs; there are 2."),
        (text((0, 1)), {}, "is of several nodes, as it names NICs; there are 1."),
        (text().replace('nchannels="2"', 'nchannels="3"', 1), {}, "graph 1: nchannels is 3, but"
         " there are 2. Is the file cut off?"),
        (text().replace('nchannels="2"', 'nchannels="-2"', 1), {}, "nchannels is '-2'; write 0 to"),
        (text().replace('speedintra="12"', 'speedintra="nan"', 1), {}, "speedintra is 'nan'"),
        (text().replace('speedintra="12"', 'speedintra="0"', 1), {}, "are more than 0."),
        (text().replace('dev="3"', 'dev="2"', 1), {}, "channel 1: its GPUs are '[0, 1, 2, 2]'"),
        (text().replace('dev="3"', 'dev="x"', 1), {}, "graph 1: channel 1: dev is 'x'; write 0"),
        (text()[:300], {}, "is no XML"),
        (text().replace('id="2"', 'id="1"'), {}, "graph 3: a second graph of trees. Keep one."),
        ("<system/>", {}, "begins with 'system', not with graphs."),
        ("<graphs/>", {}, "has no channels of rings or trees. Is the file cut off?"),
        ("<!DOCTYPE x [<!ENTITY a 'aaaa'>]><graphs/>", {}, "declares a document type or entities."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, its, more, message):
    with pytest.raises((FieldError, ValueError)) as caught:
        params(tmp_path, its, **more)
    said = str(caught.value)
    assert message in said and "graph.xml" in said
    if isinstance(caught.value, FieldError):
        assert "\n" not in said


def test_children_of_a_tree_are_places_of_a_node():
    with pytest.raises(FieldError, match="4 is no place in a node of 4. Write 0 to 3."):
        double_tree.check(Call("all_reduce", 8, 8), double_tree.Params(local=4, children=(4, 0)))
